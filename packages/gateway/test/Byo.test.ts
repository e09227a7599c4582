import { describe, it } from "@effect/vitest"
import * as Upstream from "@switchgear/testing/Upstream"
import * as Effect from "effect/Effect"
import { expect } from "vitest"
import { canary, chat, errorOf, fixture, send } from "./support.js"

const own = "sk-callers-own-0123456789abcdef"
const key = { "x-switchgear-provider-key": own }

const failed = (url: string) =>
  Effect.map(send(url, { path: "/admin/breakers" }), ({ text }) =>
    (JSON.parse(text) as { breakers: ReadonlyArray<{ counters: { admitted: number } }> }).breakers.map(
      ({ counters }) => counters.admitted
    )
  )

describe("a caller's own key (ROUTING W7, F8)", () => {
  it.scopedLive("goes up in place of ours, without fallback and outside of every breaker", () =>
    Effect.gen(function* () {
      const gateway = yield* fixture({ primary: [Upstream.ok(), Upstream.status(401, { echoKey: true })] })
      const good = yield* send(gateway.url, chat("main", { headers: key }))
      expect(good.status).toBe(200)
      const { headers } = yield* gateway.primary.call(0)
      expect(headers["authorization"]).toBe(`Bearer ${own}`)
      expect(JSON.stringify(headers)).not.toContain(canary)
      expect(Object.keys(headers).filter((name) => name.startsWith("x-switchgear"))).toEqual([])
      const bad = yield* send(gateway.url, chat("main", { headers: key }))
      expect([bad.status, errorOf(bad).type]).toEqual([401, "authentication_error"])
      expect(yield* gateway.backup.count).toBe(0)
      expect(yield* failed(gateway.url)).toEqual([0, 0])
      const shown = `${good.text}${bad.text}${JSON.stringify(bad.headers)}${gateway.logs.join("\n")}`
      expect(shown).not.toContain(own)
      expect(gateway.logs.filter((line) => line.includes("level=ERROR"))).toEqual([])
    })
  )
})

describe("a caller's own upstream (ROUTING W7)", () => {
  it.scopedLive("is called when it is allowed, in the caller's dialect, with the caller's key or none", () =>
    Effect.gen(function* () {
      const theirs = yield* Upstream.make([Upstream.ok()])
      const gateway = yield* fixture({ byo: `{ allowedBaseUrls: ["${theirs.url}"] }` })
      const headers = { ...key, "x-switchgear-provider-base-url": theirs.baseUrl }
      expect((yield* send(gateway.url, chat("main", { headers }))).status).toBe(200)
      const messages = yield* send(gateway.url, { ...chat("main", { headers }), path: "/v1/messages" })
      expect(JSON.parse(messages.text).type).toBe("message")
      const keyless = { "x-switchgear-provider-base-url": theirs.baseUrl }
      expect((yield* send(gateway.url, chat("main", { headers: keyless, stream: true }))).status).toBe(200)
      const calls = yield* theirs.calls
      expect(calls.map(({ endpoint }) => endpoint)).toEqual(["chat.completions", "messages", "chat.completions"])
      expect(calls.map(({ headers }) => headers["authorization"] ?? headers["x-api-key"])).toEqual([
        `Bearer ${own}`,
        own,
        undefined
      ])
      expect([yield* gateway.primary.count, yield* failed(gateway.url)]).toEqual([0, [0, 0]])
    })
  )

  it.scopedLive("that is not allowed, or not public where no list is given, is refused and never called", () =>
    Effect.gen(function* () {
      const listed = yield* fixture({ byo: `{ allowedBaseUrls: ["https://api.openai.com"] }` })
      const none = yield* fixture({ byo: "{ allowedBaseUrls: [] }" })
      const open = yield* fixture()
      const target = yield* Upstream.make([Upstream.ok()])
      for (const { url } of [listed, none, open]) {
        for (const address of [
          target.baseUrl,
          `http://localhost:${target.port}/v1`,
          `https://2130706433:${target.port}/`,
          "https://[::ffff:127.0.0.1]/v1",
          "https://user:pw@api.openai.com/v1",
          "no address"
        ]) {
          const reply = yield* send(url, chat("main", { headers: { "x-switchgear-provider-base-url": address } }))
          expect([address, reply.status, errorOf(reply).code]).toEqual([address, 400, "base_url_refused"])
          expect(errorOf(reply).param).toBe("x-switchgear-provider-base-url")
        }
      }
      expect([yield* target.count, yield* open.primary.count]).toEqual([0, 0])
    })
  )
})
