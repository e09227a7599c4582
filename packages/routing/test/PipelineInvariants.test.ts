import { assert, describe, it } from "@effect/vitest"
import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
import * as Policy from "@switchgear/core/Policy"
import type { Answer, ProviderError, ProviderRequest } from "@switchgear/providers/Provider"
import * as Access from "@switchgear/routing/Access"
import * as Budget from "@switchgear/routing/Budget"
import * as Cache from "@switchgear/routing/Cache"
import type { Request } from "@switchgear/routing/Call"
import * as Idempotency from "@switchgear/routing/Idempotency"
import * as IdempotencyStore from "@switchgear/routing/IdempotencyStore"
import * as ModelPolicies from "@switchgear/routing/ModelPolicies"
import * as Pipeline from "@switchgear/routing/Pipeline"
import * as Telemetry from "@switchgear/routing/Telemetry"
import * as TelemetryStore from "@switchgear/routing/TelemetryStore"
import * as Usage from "@switchgear/routing/Usage"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Redacted from "effect/Redacted"
import * as fc from "fast-check"
import { failing } from "./helpers.js"
import { build, fallback, read, text } from "./pipelineHelpers.js"

const orgs = Array.from({ length: 10 }, (_, index) => `org${index}`)
const models = ["m0", "m1", "m2", "m3", "m4"]
const upstreams = new Map(models.map((name, index) => [`up${index}`, name]))

const rule: fc.Arbitrary<ModelPolicies.Rule> = fc.record({
  org: fc.constantFrom("*", "org?", ...orgs),
  model: fc.constantFrom("*", "m?", ...models),
  allow: fc.boolean(),
  fallbackChain: fc.subarray(models)
})

const behaviour = fc.constantFrom("ok", "ok", "ok", "server_error", "timeout", "client_fault", "rate_limit", "die")

const visit = fc.record({
  org: fc.constantFrom(...orgs),
  model: fc.constantFrom(...models),
  /** Few keys and few questions, so that they meet. */
  key: fc.option(fc.constantFrom("k0", "k1", "k2"), { nil: undefined }),
  question: fc.nat(2),
  stream: fc.boolean(),
  byo: fc.boolean(),
  behaviour,
  breaks: fc.boolean(),
  leaves: fc.option(fc.nat(6), { nil: undefined }),
  yields: fc.nat(4)
})
type Visit = typeof visit extends fc.Arbitrary<infer A> ? A : never

const world = fc.record({
  rules: fc.array(rule, { minLength: 1, maxLength: 12 }),
  visits: fc.array(visit, { minLength: 100, maxLength: 100 }),
  maxDepth: fc.integer({ min: 1, max: 3 }),
  policy: fc.constantFrom(
    Policy.consecutive({ failureThreshold: 2, cooldown: { base: 1 } }),
    Policy.consecutive({ failureThreshold: 1_000 }),
    Policy.hosted
  )
})

interface Seen {
  readonly id: string
  readonly model: string
  readonly byo: boolean
}

/** Providers that do what the request's own header says and answer with whose it was. */
const provider = (name: string, seen: Array<Seen>) => ({
  name,
  call: (request: ProviderRequest): Effect.Effect<Answer, ProviderError> =>
    Effect.suspend(() => {
      const { behaviour = "ok", breaks, id = "", org = "", yields } = request.headers
      seen.push({ id, model: upstreams.get(request.model) ?? "", byo: request.apiKey !== undefined })
      const wait = Effect.replicateEffect(Effect.yieldNow(), Number(yields), { discard: true })
      const said = new TextEncoder().encode(JSON.stringify({ org, usage: { prompt_tokens: 1, completion_tokens: 1 } }))
      const body = async function* () {
        yield said
        await Promise.resolve()
        if (breaks === "true") throw failing("network_error", { scope: "host" })
      }
      const answer: Effect.Effect<Answer, ProviderError> =
        behaviour === "die"
          ? Effect.die("a bug")
          : behaviour !== "ok"
            ? Effect.fail(failing(kindOf(behaviour), { scope: "provider" }))
            : Effect.succeed(
                request.stream
                  ? { _tag: "Stream", status: 200, headers: {}, body: body() }
                  : { _tag: "Json", status: 200, headers: {}, body: said }
              )
      return Effect.zipRight(wait, answer)
    })
})

const kindOf = (name: string) => {
  switch (name) {
    case "timeout":
    case "client_fault":
    case "rate_limit":
      return name
    default:
      return "server_error"
  }
}

const requestOf = (
  id: string,
  { behaviour, breaks, byo, key, model, org, question, stream, yields }: Visit
): Request => ({
  id,
  org,
  model,
  operation: "chat.completions",
  body: new TextEncoder().encode(JSON.stringify({ model, question })),
  stream,
  headers: { id, org, behaviour, breaks: String(breaks), yields: String(yields) },
  ...(key === undefined ? undefined : { idempotencyKey: key }),
  ...(byo ? { apiKey: Redacted.make("sk-own") } : undefined)
})

const play = ({ maxDepth, policy, rules, visits }: typeof world extends fc.Arbitrary<infer A> ? A : never) =>
  Effect.gen(function* () {
    const seen: Array<Seen> = []
    const decide = ModelPolicies.compile(rules)
    const rows = yield* TelemetryStore.makeMemory()
    const telemetry = yield* Telemetry.make({ store: rows })
    const { breakers, pipeline } = yield* build(
      models.map((_, index) => provider(`p${index}`, seen)),
      {
        policy,
        chains: "none",
        access: Access.policies(yield* ModelPolicies.makeMemory({ rules })),
        stages: [
          telemetry.stage,
          yield* Idempotency.make({ store: yield* IdempotencyStore.makeMemory() }),
          Cache.stage({ store: yield* Cache.makeMemory() }),
          Budget.stage({ store: yield* Budget.makeMemory, limits: [{ org: "*", window: "1 day", usd: 1_000 }] }),
          fallback({ maxDepth, budget: 1 }),
          Usage.stage(),
          Pipeline.breaker()
        ]
      }
    )
    const counted = Effect.map(
      Effect.forEach(breakers, (breaker) => CircuitBreaker.status(breaker)),
      (all) => all.map(({ counters }) => counters)
    )

    const one = (visit: Visit, index: number) =>
      Effect.gen(function* () {
        const id = `${index}`
        const request = requestOf(id, visit)
        const served = Effect.scoped(
          Effect.flatMap(pipeline.run(request), (served) => {
            const { answer } = served
            if (answer._tag === "Json") return Effect.succeed({ served, body: text(answer.body) })
            return Effect.map(
              Effect.tryPromise({ try: () => read(answer.body), catch: (error) => error }),
              (bytes) => ({ served, body: text(bytes) })
            )
          })
        )
        const leaving =
          visit.leaves === undefined
            ? served
            : Effect.raceFirst(
                served,
                Effect.zipRight(
                  Effect.replicateEffect(Effect.yieldNow(), visit.leaves, { discard: true }),
                  Effect.interrupt
                )
              )
        const exit = yield* Effect.exit(leaving)
        const mine = seen.filter((call) => call.id === id)
        assert.isAtMost(mine.length, 1 + maxDepth, "F12: no more than 1 + maxDepth targets")
        assert.strictEqual(new Set(mine.map(({ model }) => model)).size, mine.length, "F12: no target twice")
        for (const { model } of mine) {
          assert.strictEqual(decide(visit.org, model)._tag, "Allowed", "F5: no denied model is called")
        }
        if (visit.byo) {
          assert.isAtMost(mine.length, 1, "F8: no fallback")
          assert.isTrue(mine.every(({ model }) => model === visit.model))
        }
        if (Exit.isFailure(exit)) return
        const { body, served: it } = exit.value
        assert.strictEqual(decide(visit.org, visit.model)._tag, "Allowed", "S0: a denied model is never served")
        assert.strictEqual(decide(visit.org, it.model)._tag, "Allowed", "F5: nor by another that is denied")
        assert.include(body, `"org":"${visit.org}"`, "I6: no answer crosses organisations")
        if (visit.byo) assert.isFalse(it.replayed || it.cached, "F8: nothing shared is read")
        if (it.replayed || it.cached) assert.strictEqual(mine.length, 0)
      })

    // callers' own keys alone leave no trace in what is shared
    const own = visits.filter(({ byo, leaves }) => byo && leaves === undefined)
    const before = yield* counted
    yield* Effect.forEach(own, (visit, index) => one(visit, index + 1_000), { discard: true })
    assert.deepStrictEqual(yield* counted, before, "F8: no shared breaker")

    yield* Effect.forEach(visits, one, { concurrency: 8, discard: true })
    yield* telemetry.flush
    const all = yield* rows.recent(10_000)
    assert.strictEqual(all.length, own.length + visits.length, "T1: one row a call")
    for (const row of all) {
      assert.strictEqual(row.fallbackModel !== null, row.originalModel !== null)
      assert.strictEqual(row.fallbackReason !== "", row.fallbackModel !== null)
    }
    // whatever happened, no lease is out
    for (const breaker of breakers) assert.strictEqual((yield* CircuitBreaker.view(breaker)).leases ?? 0, 0)
  })

describe("Pipeline: invariants", () => {
  it.live(
    "ten thousand calls of ten organisations, with random policies, keys, own credentials, failures and leaving",
    () =>
      Effect.promise(() =>
        fc.assert(
          fc.asyncProperty(world, (it) => Effect.runPromise(Effect.scoped(play(it)))),
          { numRuns: 100 }
        )
      ),
    120_000
  )
})
