import { describe, it } from "@effect/vitest"
import * as Upstream from "@switchgear/testing/Upstream"
import * as Effect from "effect/Effect"
import { expect } from "vitest"
import { chat, clientKey, errorOf, send, serving } from "./support.js"

const acme = clientKey("acme")
const beta = clientKey("beta")

const providers = `providers:
  - { name: one, kind: openai-compatible, baseUrl: "\${ONE}", apiKey: "\${KEY}" }
  - { name: two, kind: openai-compatible, baseUrl: "\${TWO}", apiKey: "\${KEY}" }
models:
  - { name: gpt-big, provider: one, fallbackChain: [llama] }
  - { name: llama, provider: two }
`
const clients = `clients:
  - { org: acme, keyHash: "${acme.keyHash}" }
  - { org: beta, keyHash: "${beta.keyHash}" }
`
const closed = `server: { port: 0 }\n${providers}${clients}`

const as = ({ key }: { readonly key: string }) => ({ authorization: `Bearer ${key}` })
const modelsOf = (text: string) =>
  (JSON.parse(text) as { data: ReadonlyArray<{ id: string }> }).data.map(({ id }) => id)

describe("clients (ROUTING S0)", () => {
  it.scopedLive("a call needs a known key, in the header of either dialect; a wrong one calls nothing", () =>
    Effect.gen(function* () {
      const gateway = yield* serving(closed)
      for (const headers of [
        {},
        { authorization: "Bearer sk-wrong" },
        { authorization: acme.key },
        { "x-api-key": "" }
      ]) {
        const reply = yield* send(gateway.url, chat("llama", { headers }))
        expect([reply.status, errorOf(reply).code, errorOf(reply).type]).toEqual([
          401,
          "invalid_client_key",
          "authentication_error"
        ])
      }
      expect(yield* gateway.backup.count).toBe(0)
      expect((yield* send(gateway.url, chat("llama", { headers: as(acme) }))).status).toBe(200)
      expect((yield* send(gateway.url, chat("llama", { headers: { "x-api-key": beta.key } }))).status).toBe(200)
      const [call] = yield* gateway.backup.calls
      expect(JSON.stringify(call)).not.toContain(acme.key)
      expect(gateway.logs.join("\n")).not.toContain("5d1e0c7b9a42")
    })
  )

  it.scopedLive("without clients a key that a library sends is of no interest", () =>
    Effect.gen(function* () {
      const gateway = yield* serving(`server: { port: 0 }\n${providers}`)
      expect((yield* send(gateway.url, chat("llama", { headers: as({ key: "sk-any" }) }))).status).toBe(200)
    })
  )

  it.scopedLive("models are shown to those who may use them", () =>
    Effect.gen(function* () {
      const policies = `policies: [{ org: acme, model: "*", fallbackChain: [llama] }, { org: beta, model: "llama" }]\n`
      const gateway = yield* serving(`${closed}${policies}`)
      const list = (headers: Record<string, string>) => send(gateway.url, { path: "/v1/models", headers })
      expect((yield* list({})).status).toBe(401)
      expect(modelsOf((yield* list(as(acme))).text)).toEqual(["gpt-big", "llama"])
      expect(modelsOf((yield* list(as(beta))).text)).toEqual(["llama"])
    })
  )
})

describe("policies (ROUTING F2, F5)", () => {
  it.scopedLive(
    "chains come from the first rule that fits; what no rule allows is 403, as a hop it is passed over",
    () =>
      Effect.gen(function* () {
        const policies = `policies:
  - { org: acme, model: "gpt-*", fallbackChain: [llama] }
  - { org: acme, model: llama }
  - { org: beta, model: llama, allow: false }
  - { org: beta, model: "*", fallbackChain: [llama] }
`
        const gateway = yield* serving(`${closed}${policies}`, { one: [Upstream.status(500)] })
        const ask = (who: { readonly key: string }, model: string) =>
          send(gateway.url, chat(model, { headers: as(who) }))
        const helped = yield* ask(acme, "gpt-big")
        expect([helped.status, helped.headers["x-switchgear-provider-used"]]).toEqual([200, "llama"])
        // beta's chain leads to a model that beta is denied
        const alone = yield* ask(beta, "gpt-big")
        expect([alone.status, alone.headers["x-switchgear-attempts"]]).toEqual([500, "1"])
        const denied = yield* ask(beta, "llama")
        expect([denied.status, errorOf(denied).code]).toEqual([403, "model_not_allowed"])
        expect(yield* gateway.backup.count).toBe(1)
      })
  )
})

describe("idempotency over HTTP (ROUTING I)", () => {
  const key = { "idempotency-key": "order-1" }
  const told = [200, 409]

  it.scopedLive("200 at once with one key reach the upstream once", () =>
    Effect.gen(function* () {
      const gateway = yield* serving(closed, { two: [Upstream.drip(30)] })
      const ask = send(gateway.url, chat("llama", { headers: { ...as(acme), ...key } }))
      const replies = yield* Effect.all(
        Array.from({ length: 200 }, () => ask),
        { concurrency: "unbounded" }
      )
      expect(yield* gateway.backup.count).toBe(1)
      expect(replies.filter(({ status }) => !told.includes(status))).toEqual([])
      expect(replies.filter(({ status }) => status === 200).length).toBeGreaterThanOrEqual(1)
      for (const reply of replies.filter(({ status }) => status === 409)) {
        expect(errorOf(reply).code).toBe("idempotency_in_progress")
        expect(reply.headers["retry-after"]).toBeDefined()
      }
      const again = yield* ask
      expect([again.status, again.headers["idempotent-replayed"], again.headers["x-switchgear-attempts"]]).toEqual([
        200,
        "true",
        "0"
      ])
      expect(again.text).toBe(replies.find(({ status }) => status === 200)?.text)
      expect(yield* gateway.backup.count).toBe(1)
    })
  )

  it.scopedLive("with a wait, all of 200 get the one answer", () =>
    Effect.gen(function* () {
      const gateway = yield* serving(`${closed}idempotency: { wait: 10 seconds }\n`, { two: [Upstream.drip(30)] })
      const ask = send(gateway.url, chat("llama", { headers: { ...as(acme), ...key } }))
      const replies = yield* Effect.all(
        Array.from({ length: 200 }, () => ask),
        { concurrency: "unbounded" }
      )
      expect(new Set(replies.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
      expect(replies[0]?.status).toBe(200)
      expect(yield* gateway.backup.count).toBe(1)
    })
  )

  it.scopedLive("another request with the key is 409; another organisation's key is another; BYO has none", () =>
    Effect.gen(function* () {
      const gateway = yield* serving(closed)
      const ask = (model: string, headers: Record<string, string>) =>
        send(gateway.url, chat(model, { headers: { ...key, ...headers } }))
      expect((yield* ask("llama", as(acme))).status).toBe(200)
      const reused = yield* ask("gpt-big", as(acme))
      expect([reused.status, errorOf(reused).code]).toEqual([409, "idempotency_key_reused"])
      const other = yield* ask("llama", as(beta))
      expect([other.status, other.headers["idempotent-replayed"]]).toEqual([200, undefined])
      const own = yield* ask("llama", { ...as(acme), "x-switchgear-provider-key": "sk-own" })
      expect([own.status, own.headers["idempotent-replayed"]]).toEqual([200, undefined])
      expect(yield* gateway.backup.count).toBe(3)
      expect((yield* ask("llama", { ...as(acme), "idempotency-key": "k".repeat(257) })).status).toBe(400)
    })
  )

  it.scopedLive("a stream is replayed byte for byte", () =>
    Effect.gen(function* () {
      const gateway = yield* serving(closed, { two: [Upstream.drip(5, { parts: ["a", "b", "ü", "d"] })] })
      const ask = send(gateway.url, chat("llama", { stream: true, headers: { ...as(acme), ...key } }))
      const first = yield* ask
      const again = yield* ask
      expect(again.headers["idempotent-replayed"]).toBe("true")
      expect(again.headers["content-type"]).toBe(first.headers["content-type"])
      expect(again.text).toBe(first.text)
      expect(yield* gateway.backup.count).toBe(1)
    })
  )

  it.scopedLive("a caller who leaves frees the key; a revoked key gets no replay", () =>
    Effect.gen(function* () {
      const gateway = yield* serving(`server: { port: 0 }\n${providers}`, {
        two: [Upstream.hangBeforeHeaders, Upstream.ok()]
      })
      yield* send(gateway.url, {
        method: "PUT",
        path: `/admin/clients/${acme.keyHash}`,
        body: JSON.stringify({ org: "acme" })
      })
      const ask = send(gateway.url, chat("llama", { headers: { ...as(acme), ...key } }))
      yield* Effect.raceFirst(ask, gateway.backup.call(0))
      yield* gateway.backup.quiet
      const second = yield* Effect.repeat(ask, { until: ({ status }) => status !== 409 })
      expect([second.status, second.headers["idempotent-replayed"]]).toEqual([200, undefined])
      expect((yield* ask).headers["idempotent-replayed"]).toBe("true")
      const revoked = yield* send(gateway.url, { method: "DELETE", path: `/admin/clients/${acme.keyHash}` })
      expect(revoked.status).toBe(204)
      expect((yield* ask).status).toBe(401)
    })
  )
})
