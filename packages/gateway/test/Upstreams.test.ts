import { describe, it } from "@effect/vitest"
import * as Upstream from "@switchgear/testing/Upstream"
import * as Effect from "effect/Effect"
import { expect } from "vitest"
import { chat, type ErrorBody, errorOf, events, type Fixture, fixture, type Reply, secrets, send } from "./support.js"

/** What a client gets without a fallback; with one it is the spare's answer, unless `own`: the error is the client's. */
interface Row {
  readonly name: string
  readonly upstream: Upstream.Behaviour
  readonly status: number
  readonly code: string
  readonly retryAfter?: string
  /** The failure does not move on: the client gets it although a fallback exists. */
  readonly own?: true
  /** Where streams and JSON differ. */
  readonly only?: "json" | "stream"
}

const echo = { echoKey: true } as const
const rows: ReadonlyArray<Row> = [
  { name: "500", upstream: Upstream.status(500, echo), status: 500, code: "provider_error" },
  {
    name: "502 from a proxy, as HTML",
    upstream: Upstream.status(502, { body: "<html>upstream 127.0.0.1 is down</html>" }),
    status: 502,
    code: "provider_error"
  },
  { name: "503", upstream: Upstream.status(503), status: 503, code: "provider_overloaded" },
  { name: "529", upstream: Upstream.status(529), status: 503, code: "provider_overloaded" },
  {
    name: "429 with Retry-After",
    upstream: Upstream.status(429, { headers: { "retry-after": "7" } }),
    status: 429,
    code: "rate_limit_exceeded",
    retryAfter: "7"
  },
  { name: "401 of our key", upstream: Upstream.status(401, echo), status: 503, code: "provider_unavailable" },
  { name: "403 of our key", upstream: Upstream.status(403, echo), status: 503, code: "provider_unavailable" },
  {
    name: "400",
    upstream: Upstream.status(400, { message: "temperature is too high", code: "bad_temperature" }),
    status: 400,
    code: "bad_temperature",
    own: true
  },
  {
    name: "422",
    upstream: Upstream.status(422, { message: "no such tool" }),
    status: 422,
    code: "invalid_request",
    own: true
  },
  {
    name: "too long a prompt",
    upstream: Upstream.contextLength,
    status: 400,
    code: "context_length_exceeded",
    own: true
  },
  { name: "HTML with 200", upstream: Upstream.html, status: 502, code: "provider_error" },
  { name: "an empty 200", upstream: Upstream.empty, status: 502, code: "provider_error", only: "json" },
  { name: "an empty 200", upstream: Upstream.empty, status: 502, code: "provider_unreachable", only: "stream" },
  { name: "an error in a 200", upstream: Upstream.errorIn200(500, echo), status: 502, code: "provider_error" },
  {
    name: "JSON for a stream",
    upstream: Upstream.jsonForStream(),
    status: 502,
    code: "provider_error",
    only: "stream"
  },
  { name: "a hang before the headers", upstream: Upstream.hangBeforeHeaders, status: 504, code: "provider_timeout" },
  { name: "a hang after the headers", upstream: Upstream.hangAfterHeaders, status: 504, code: "provider_timeout" },
  { name: "pings and nothing else", upstream: Upstream.pingsOnly(20), status: 504, code: "provider_timeout" },
  {
    name: "a reset before the headers",
    upstream: Upstream.resetBeforeHeaders,
    status: 502,
    code: "provider_unreachable"
  },
  {
    name: "a reset after the headers",
    upstream: Upstream.resetAfterHeaders,
    status: 502,
    code: "provider_unreachable"
  },
  { name: "a stream cut before its output", upstream: Upstream.cut(0), status: 502, code: "provider_unreachable" },
  {
    name: "a body cut in the middle",
    upstream: Upstream.cut(1, "close"),
    status: 502,
    code: "provider_unreachable",
    only: "json"
  },
  {
    name: "an error frame before output",
    upstream: Upstream.failAfter(0, 529, echo),
    status: 503,
    code: "provider_overloaded"
  }
]

/** Upstreams that break after output: nothing can be mended then (ROUTING F7). */
const late: ReadonlyArray<[string, Upstream.Behaviour, string]> = [
  ["an error frame", Upstream.failAfter(2, 500, echo), "provider_error"],
  ["a cut, orderly", Upstream.cut(2, "end"), "provider_unreachable"],
  ["a cut, closed", Upstream.cut(2, "close"), "provider_unreachable"],
  ["a reset", Upstream.cut(2, "reset"), "provider_unreachable"],
  ["silence", Upstream.hangAfterOutput(1), "provider_timeout"]
]

const expectNoSecret = (fixture: Fixture, replies: ReadonlyArray<Reply>): void => {
  const shown = [...replies.map((reply) => JSON.stringify(reply)), ...fixture.logs].join("\n")
  for (const secret of secrets(fixture)) expect(shown).not.toContain(secret)
}

for (const stream of [false, true]) {
  const form = stream ? "stream" : "json"
  describe(`a bad upstream, ${form} (ROUTING F6, W4)`, () => {
    it.live.each(rows.filter((row) => (row.only ?? form) === form))("$name", (row) =>
      Effect.scoped(
        Effect.gen(function* () {
          const gateway = yield* fixture({ primary: [row.upstream] })
          const alone = yield* send(gateway.url, chat("single", { stream }))
          expect([alone.status, errorOf(alone).code, alone.headers["retry-after"]]).toEqual([
            row.status,
            row.code,
            row.retryAfter
          ])
          expect(errorOf(alone).message).not.toBe("")
          expect(alone.headers["content-type"]).toMatch(/^application\/json/)
          expect(alone.headers["x-switchgear-provider-fallback"]).toBeUndefined()

          const helped = yield* send(gateway.url, chat("main", { stream }))
          if (row.own === true) {
            expect([helped.status, errorOf(helped).code]).toEqual([row.status, row.code])
            expect(helped.headers["x-switchgear-attempts"]).toBe("1")
            expect(yield* gateway.backup.count).toBe(0)
          } else {
            expect([helped.status, helped.headers["x-switchgear-attempts"]]).toEqual([200, "2"])
            expect(helped.headers["x-switchgear-provider-fallback"]).toBe("true")
            expect(helped.headers["x-switchgear-provider-used"]).toBe("spare")
            expect(helped.text).toContain("from")
            if (stream) expect(events(helped.text).at(-1)).toBe("[DONE]")
          }

          const refused = yield* send(
            gateway.url,
            chat("main", { stream, headers: { "x-switchgear-no-fallback": "true" } })
          )
          expect([refused.status, errorOf(refused).code]).toEqual([row.status, row.code])
          expectNoSecret(gateway, [alone, helped, refused])
        })
      )
    )
  })
}

describe("a bad upstream after output (ROUTING F7)", () => {
  it.live.each(late)("%s ends the stream with an error frame and no [DONE]", ([, upstream, code]) =>
    Effect.scoped(
      Effect.gen(function* () {
        const gateway = yield* fixture({ primary: [upstream] })
        const reply = yield* send(gateway.url, chat("main", { stream: true }))
        const frames = events(reply.text)
        const last = JSON.parse(frames.at(-1) ?? "") as ErrorBody
        expect([reply.status, reply.complete, last.error.code]).toEqual([200, true, code])
        expect(frames.length).toBeGreaterThan(1)
        expect(reply.text).not.toContain("[DONE]")
        expect(yield* gateway.backup.count).toBe(0)
        expectNoSecret(gateway, [reply])
      })
    )
  )
})

describe("a refused key of ours", () => {
  it.scopedLive("is said in the log, by the provider's name (ROUTING W4)", () =>
    Effect.gen(function* () {
      const gateway = yield* fixture({ primary: [Upstream.status(401, echo)] })
      yield* send(gateway.url, chat("single"))
      expect(gateway.logs.filter((line) => line.includes("level=ERROR") && line.includes("provider=one"))).toHaveLength(
        1
      )
      expectNoSecret(gateway, [])
    })
  )
})

describe("surface (ROUTING F6)", () => {
  const both = { primary: [Upstream.status(500)], backup: [Upstream.status(429)] } as const
  it.scopedLive("primary, last, exhausted", () =>
    Effect.gen(function* () {
      for (const [surface, status] of [
        ["primary", 500],
        ["last", 429],
        ["exhausted", 500]
      ] as const) {
        const gateway = yield* fixture({ ...both, fallback: `{ budget: 1, surface: ${surface} }` })
        const reply = yield* send(gateway.url, chat("main"))
        expect([surface, reply.status, reply.headers["x-switchgear-attempts"]]).toEqual([surface, status, "2"])
        expect(reply.headers["x-switchgear-provider-fallback"]).toBeUndefined()
        if (surface === "exhausted")
          expect(errorOf(reply).message).toMatch(/main: provider_error.*spare: rate_limit_exceeded/)
      }
    })
  )
})
