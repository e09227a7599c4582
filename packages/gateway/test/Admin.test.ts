import { describe, it } from "@effect/vitest"
import * as Upstream from "@switchgear/testing/Upstream"
import * as Effect from "effect/Effect"
import { expect } from "vitest"
import { canary, chat, clientKey, errorOf, type Reply, send, serving } from "./support.js"

const providers = `providers:
  - { name: one, kind: openai-compatible, baseUrl: "\${ONE}", apiKey: "\${KEY}", breaker: { policy: { trip: { _tag: Consecutive, failureThreshold: 2 }, cooldown: { base: 40 seconds } } } }
  - { name: two, kind: openai-compatible, baseUrl: "\${TWO}", apiKey: "\${KEY}" }
models:
  - { name: main, provider: one, fallbackChain: [spare] }
  - { name: spare, provider: two }
`
const plain = `server: { port: 0 }\n${providers}fallback: { budget: 1 }\n`

const body = ({ text }: Reply): Record<string, unknown> => JSON.parse(text) as Record<string, unknown>
const alone = { headers: { "x-switchgear-no-fallback": "true" } }

describe("/admin (its token)", () => {
  it.scopedLive("with a token it is asked for everywhere, from this machine too; nothing says what it is", () =>
    Effect.gen(function* () {
      const token = "an-admin-token-of-32-characters!"
      const gateway = yield* serving(`server: { port: 0, adminToken: "${token}" }\n${providers}`)
      for (const path of [
        "/admin/breakers",
        "/admin/health",
        "/admin/telemetry",
        "/admin/policies",
        "/admin/clients"
      ]) {
        for (const headers of [{}, { authorization: "Bearer wrong" }, { authorization: token }]) {
          const reply = yield* send(gateway.url, { path, headers })
          expect([reply.status, errorOf(reply).code]).toEqual([401, "invalid_admin_token"])
        }
        const reply = yield* send(gateway.url, { path, headers: { authorization: `Bearer ${token}` } })
        expect(reply.status).toBe(200)
        expect(reply.text).not.toContain(token)
        expect(reply.text).not.toContain(canary)
      }
      expect(gateway.logs.join("\n")).not.toContain(token)
    })
  )

  it.scopedLive("unknown paths, methods and bodies are named", () =>
    Effect.gen(function* () {
      const gateway = yield* serving(plain)
      const ask = (method: string, path: string, body?: string) =>
        send(gateway.url, body === undefined ? { method, path } : { method, path, body })
      expect((yield* ask("GET", "/admin/nothing")).status).toBe(404)
      const wrong = yield* ask("DELETE", "/admin/breakers")
      expect([wrong.status, wrong.headers["allow"]]).toEqual([405, "GET"])
      expect((yield* ask("POST", "/admin/breakers/none/open", "{}")).status).toBe(404)
      for (const [body, words] of [
        ["{", /not valid JSON/],
        ['{"for":-1}', /"for" must be a time above 0/],
        ['{"for":"soon"}', /"for" must be a time above 0/],
        ['{"fro":1}', /fro: .*unexpected/]
      ] as const) {
        const reply = yield* ask("POST", "/admin/breakers/one/open", body)
        expect([reply.status, errorOf(reply).message]).toEqual([400, expect.stringMatching(words)])
      }
      expect((yield* ask("GET", "/admin/telemetry?limit=0")).status).toBe(400)
      expect((yield* ask("GET", "/admin/telemetry?limit=2")).status).toBe(200)
    })
  )
})

describe("/admin/breakers", () => {
  it.scopedLive("opens for a time, closes, gives back control, starts anew", () =>
    Effect.gen(function* () {
      const gateway = yield* serving(plain)
      const post = (what: string, json = "") =>
        Effect.map(send(gateway.url, { method: "POST", path: `/admin/breakers/one/${what}`, body: json }), body)
      expect(yield* post("open", '{"for":"10 minutes"}')).toMatchObject({ name: "one", state: "Open", forced: true })
      const refused = yield* send(gateway.url, chat("main", alone))
      expect([refused.status, refused.headers["retry-after"]]).toEqual([503, "600"])
      expect(yield* post("auto")).toMatchObject({ state: "HalfOpen" })
      expect(yield* post("open")).toMatchObject({ state: "Open", forced: true })
      expect(yield* post("close")).toMatchObject({ state: "Closed", forced: true })
      expect((yield* send(gateway.url, chat("main", alone))).status).toBe(200)
      expect(yield* post("reset")).toMatchObject({ state: "Closed", forced: false })
      expect(body(yield* send(gateway.url, { path: "/admin/breakers/one" }))).toMatchObject({ name: "one" })
    })
  )
})

describe("/admin/health and /admin/telemetry", () => {
  it.scopedLive("what providers did: window, samples, score, and no data where there is none", () =>
    Effect.gen(function* () {
      const gateway = yield* serving(plain, { one: [Upstream.status(500)] })
      expect(body(yield* send(gateway.url, { path: "/admin/health" }))).toEqual({
        window: 900_000,
        providers: [
          { name: "one", samples: 0, score: 0.5, note: "no data" },
          { name: "two", samples: 0, score: 0.5, note: "no data" }
        ]
      })
      yield* send(gateway.url, chat("main"))
      const look = Effect.map(send(gateway.url, { path: "/admin/health" }), body)
      const seen = yield* Effect.repeat(look, {
        until: ({ providers }) => JSON.stringify(providers).includes('"samples":1')
      })
      // a call rescued by fallback is a failure of its primary (ROUTING H1)
      expect(seen["providers"]).toEqual([
        { name: "one", samples: 1, successes: 0, successRate: 0, score: 0.2 },
        { name: "two", samples: 0, score: 0.5, note: "no data" }
      ])
      const { rows } = JSON.parse((yield* send(gateway.url, { path: "/admin/telemetry" })).text) as {
        rows: ReadonlyArray<Record<string, unknown>>
      }
      expect(rows).toHaveLength(1)
      expect(rows[0]).toMatchObject({
        org: "default",
        servedModel: "spare",
        fallbackReason: "server_error",
        byo: false
      })
    })
  )
})

describe("/metrics", () => {
  it.scopedLive("Prometheus reads it: one TYPE a family, every line well formed, what calls did", () =>
    Effect.gen(function* () {
      const gateway = yield* serving(plain, { one: [Upstream.status(500)] })
      yield* send(gateway.url, chat("main"))
      // calls are counted when their rows are written, once a second
      const reply = yield* Effect.repeat(send(gateway.url, { path: "/metrics" }), {
        until: ({ text }) => text.includes("switchgear_calls")
      })
      expect(reply.headers["content-type"]).toMatch(/^text\/plain; version=0\.0\.4/)
      const lines = reply.text.trimEnd().split("\n")
      const types = lines.filter((line) => line.startsWith("# TYPE "))
      expect(new Set(types).size).toBe(types.length)
      for (const line of lines.filter((each) => !each.startsWith("#"))) {
        expect(line).toMatch(/^switchgear_[a-z_]+(\{[a-z_]+="[^"]*"(,[a-z_]+="[^"]*")*\})? (-?[0-9.e+-]+|\+Inf)$/)
      }
      expect(reply.text).toMatch(/^switchgear_breaker_outcomes_total\{.*breaker="one".*outcome="failure".*\} [1-9]/m)
      expect(reply.text).toMatch(/^switchgear_breaker_state\{breaker="two"\} 0$/m)
      expect(reply.text).toMatch(/^switchgear_call_duration\S*_bucket\{.*le="\+Inf".*\} [1-9]/m)
    })
  )
})

describe("/admin/policies and /admin/clients", () => {
  const put = (url: string, path: string, value: unknown) =>
    send(url, { method: "PUT", path, body: JSON.stringify(value) })

  it.scopedLive("what is put there is in force at once", () =>
    Effect.gen(function* () {
      const gateway = yield* serving(plain, { one: [Upstream.status(500)] })
      const acme = clientKey("acme")
      expect((yield* put(gateway.url, `/admin/clients/${acme.keyHash}`, { org: "acme" })).status).toBe(200)
      expect((yield* send(gateway.url, chat("spare"))).status).toBe(401)
      const headers = { authorization: `Bearer ${acme.key}` }
      expect((yield* send(gateway.url, chat("spare", { headers }))).status).toBe(200)
      const policies = [{ org: "acme", model: "main", fallbackChain: [] }]
      expect((yield* put(gateway.url, "/admin/policies", { policies })).status).toBe(200)
      expect((yield* send(gateway.url, chat("spare", { headers }))).status).toBe(403)
      expect((yield* send(gateway.url, chat("main", { headers }))).status).toBe(500)
      expect(body(yield* send(gateway.url, { path: "/admin/policies" }))).toMatchObject({ source: "store" })
      expect((yield* send(gateway.url, { method: "DELETE", path: "/admin/policies" })).status).toBe(204)
      expect((yield* send(gateway.url, chat("main", { headers }))).status).toBe(200)
    })
  )

  it.scopedLive("a bad rule is refused with its place, and nothing changes", () =>
    Effect.gen(function* () {
      const gateway = yield* serving(plain)
      for (const [value, words] of [
        [{ policies: [{ org: "acme" }] }, /policies\.0\.model: is missing/],
        [{ policies: [{ org: "a", model: "*", allowed: true }] }, /policies\.0\.allowed: .*unexpected/],
        [{ policies: [{ org: "a", model: "*", fallbackChain: ["nowhere"] }] }, /there is no model "nowhere"/],
        [
          { policies: [{ org: "a", model: "*", fallbackChain: Array.from("123456789", () => "spare") }] },
          /policies\.0\.fallbackChain: .*8/
        ],
        [[], /Expected/]
      ] as const) {
        const reply = yield* put(gateway.url, "/admin/policies", value)
        expect([reply.status, errorOf(reply).message]).toEqual([400, expect.stringMatching(words)])
      }
      expect(body(yield* send(gateway.url, { path: "/admin/policies" }))["policies"]).toEqual([])
      const leaked = yield* put(gateway.url, "/admin/clients/sk-the-key-itself", { org: "acme" })
      expect([leaked.status, leaked.text.includes("sk-the-key-itself")]).toEqual([400, false])
    })
  )

  it.scopedLive("what stands in the file is changed there", () =>
    Effect.gen(function* () {
      const acme = clientKey("acme")
      const gateway = yield* serving(
        `${plain}clients: [{ org: acme, keyHash: "${acme.keyHash}" }]\npolicies: [{ model: main }]\n`
      )
      const edits = [
        put(gateway.url, "/admin/policies", { policies: [] }),
        put(gateway.url, `/admin/clients/${acme.keyHash}`, { org: "beta" }),
        send(gateway.url, { method: "DELETE", path: `/admin/clients/${acme.keyHash}` })
      ]
      for (const edit of edits) expect(errorOf(yield* edit).code).toBe("set_by_configuration")
      expect(body(yield* send(gateway.url, { path: "/admin/clients" }))).toEqual({
        clients: [{ org: "acme", keyHash: acme.keyHash, source: "configuration" }]
      })
    })
  )
})

describe("settings of the pipeline in the file", () => {
  it.scopedLive("preset ibex: its names of headers, the full cooldown, its triggers", () =>
    Effect.gen(function* () {
      const gateway = yield* serving(`server: { port: 0 }\npreset: ibex\n${providers}`, { one: [Upstream.status(500)] })
      const helped = yield* send(gateway.url, chat("main"))
      expect([helped.headers["x-ibex-provider-fallback"], helped.headers["x-ibex-provider-used"]]).toEqual([
        "true",
        "spare"
      ])
      yield* send(gateway.url, chat("main", alone))
      // most of the cooldown is over or not: a client is told the whole of it
      yield* Effect.sleep("1100 millis")
      const open = yield* send(gateway.url, chat("main", alone))
      expect([open.status, open.headers["retry-after"]]).toEqual([503, "40"])
    })
  )

  it.scopedLive("a cache, and a budget that is spent", () =>
    Effect.gen(function* () {
      const gateway = yield* serving(
        `${plain}cache: { enabled: true }\nbudgets: [{ window: 1 day, tokens: 1 }]\nprices: { main: { input: 1, output: 2 } }\n`
      )
      const first = yield* send(gateway.url, chat("main"))
      expect([first.status, first.headers["x-switchgear-cached"]]).toEqual([200, undefined])
      const again = yield* send(gateway.url, chat("main"))
      expect([again.status, again.headers["x-switchgear-cached"], again.text]).toEqual([200, "true", first.text])
      const over = yield* send(gateway.url, chat("spare"))
      expect([over.status, errorOf(over).code, errorOf(over).type]).toEqual([
        402,
        "budget_exceeded",
        "insufficient_quota"
      ])
      expect([yield* gateway.primary.count, yield* gateway.backup.count]).toEqual([1, 0])
    })
  )
})
