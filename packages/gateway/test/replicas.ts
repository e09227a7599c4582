import * as Effect from "effect/Effect"
import { expect } from "vitest"
import { chat, clientKey, errorOf, type Reply, send, serving } from "./support.js"

export const providers = `providers:
  - { name: one, kind: openai-compatible, baseUrl: "\${ONE}", breaker: { policy: { trip: { _tag: Consecutive, failureThreshold: 2 }, cooldown: { base: 60 seconds } } } }
  - { name: two, kind: openai-compatible, baseUrl: "\${TWO}" }
models:
  - { name: main, provider: one }
  - { name: spare, provider: two }
fallback: { budget: 1 }
`

const body = ({ text }: Reply): Record<string, unknown> => JSON.parse(text) as Record<string, unknown>

export const put = (url: string, path: string, value: unknown) =>
  send(url, { method: "PUT", path, body: JSON.stringify(value) })

const stateOf = (url: string) => Effect.map(send(url, { path: "/admin/breakers/one" }), (reply) => body(reply)["state"])

const until = <A>(effect: Effect.Effect<A>, met: (a: A) => boolean): Effect.Effect<A> =>
  Effect.flatMap(effect, (a) => (met(a) ? Effect.succeed(a) : Effect.zipRight(Effect.sleep(20), until(effect, met))))

/** Clients and rules that one replica is given are in force on the other, and with a gateway that starts later. */
export const policiesTravel = (store: string) =>
  Effect.gen(function* () {
    const text = `server: { port: 0 }\nstore: ${store}\n${providers}`
    const [first, second] = [yield* serving(text), yield* serving(text)]
    const { key, keyHash } = clientKey("acme")
    const headers = { authorization: `Bearer ${key}` }
    expect((yield* send(second.url, chat("spare"))).status).toBe(200)
    expect((yield* put(first.url, `/admin/clients/${keyHash}`, { org: "acme" })).status).toBe(200)
    yield* until(send(second.url, chat("spare")), ({ status }) => status === 401)
    expect((yield* send(second.url, chat("spare", { headers }))).status).toBe(200)
    const policies = [{ org: "acme", model: "main" }]
    const read = body(yield* send(first.url, { path: "/admin/policies" }))["revision"]
    expect((yield* put(first.url, "/admin/policies", { policies, revision: read })).status).toBe(200)
    yield* until(send(second.url, chat("spare", { headers })), ({ status }) => status === 403)
    const late = yield* put(second.url, "/admin/policies", { policies: [], revision: read })
    expect([late.status, errorOf(late).code]).toEqual([409, "policies_changed"])
    const third = yield* serving(text)
    expect((yield* send(third.url, chat("main", { headers }))).status).toBe(200)
    expect((yield* send(third.url, chat("main"))).status).toBe(401)
  })

/** A breaker that one replica opens is open on the other, with the same deadline, and closes there as well. */
export const breakersTravel = (store: string) =>
  Effect.gen(function* () {
    const text = `server: { port: 0 }\nstore: ${store}\n${providers}`
    const [first, second] = [yield* serving(text), yield* serving(text)]
    yield* send(first.url, { method: "POST", path: "/admin/breakers/one/open", body: '{"for":"5 minutes"}' })
    yield* until(stateOf(second.url), (state) => state === "Open")
    const refused = yield* send(second.url, chat("main"))
    expect([refused.status, errorOf(refused).code]).toEqual([503, "provider_circuit_open"])
    expect(yield* second.primary.count).toBe(0)
    yield* send(second.url, { method: "POST", path: "/admin/breakers/one/reset", body: "" })
    yield* until(stateOf(first.url), (state) => state === "Closed")
    expect((yield* send(first.url, chat("main"))).status).toBe(200)
  })

/** What is answered once is not called again by another replica. */
export const answersTravel = (store: string) =>
  Effect.gen(function* () {
    const text = `server: { port: 0 }\nstore: ${store}\n${providers}`
    const [first, second] = [yield* serving(text), yield* serving(text)]
    const once = chat("spare", { headers: { "idempotency-key": "order-1" } })
    const reply = yield* send(first.url, once)
    const again = yield* send(second.url, once)
    expect([again.headers["idempotent-replayed"], again.text]).toEqual(["true", reply.text])
    expect(yield* second.backup.count).toBe(0)
  })
