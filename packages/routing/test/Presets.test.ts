import { assert, describe, it } from "@effect/vitest"
import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
import * as VirtualClock from "@switchgear/clock/VirtualClock"
import * as Breaker from "@switchgear/core/Breaker"
import * as Policy from "@switchgear/core/Policy"
import type { Kind } from "@switchgear/failures/Failure"
import * as Access from "@switchgear/routing/Access"
import type { Request } from "@switchgear/routing/Call"
import * as CallError from "@switchgear/routing/CallError"
import * as Health from "@switchgear/routing/Health"
import * as IdempotencyStore from "@switchgear/routing/IdempotencyStore"
import * as ModelPolicies from "@switchgear/routing/ModelPolicies"
import * as Pipeline from "@switchgear/routing/Pipeline"
import * as Presets from "@switchgear/routing/Presets"
import type { RouteError } from "@switchgear/routing/RouteError"
import * as TelemetryStore from "@switchgear/routing/TelemetryStore"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { asked, type Behaviour, type FakeProvider, fail, json, provider, trip } from "./helpers.js"
import { ask, down, read } from "./pipelineHelpers.js"

interface World {
  readonly run: (over?: Partial<Request>) => ReturnType<Pipeline.Service["runUnscoped"]>
  readonly fakes: ReadonlyArray<FakeProvider>
  readonly state: (index: number) => Effect.Effect<string>
  readonly breakers: ReadonlyArray<CircuitBreaker.CircuitBreaker>
  readonly rows: Effect.Effect<ReadonlyArray<TelemetryStore.Row>>
}

const open: ReadonlyArray<ModelPolicies.Rule> = [{ org: "*", model: "*", fallbackChain: ["m1", "m2"] }]

/** A pipeline of a preset and nothing else: models m0, m1, ... on providers p0, p1, ... */
const world = (
  preset: Presets.Settings,
  scripts: ReadonlyArray<ReadonlyArray<Behaviour>>,
  options: { readonly rules?: ReadonlyArray<ModelPolicies.Rule>; readonly policies?: ModelPolicies.Service } = {}
): Effect.Effect<World, never, Scope.Scope> =>
  Effect.gen(function* () {
    const fakes = scripts.map((script, index) => provider(`p${index}`, ...script))
    const breakers = yield* Effect.forEach(fakes, ({ name }) => CircuitBreaker.make({ name, policy: preset.breaker }))
    const telemetry = yield* TelemetryStore.makeMemory()
    const idempotency = yield* IdempotencyStore.makeMemory()
    const policies = options.policies ?? (yield* ModelPolicies.makeMemory({ rules: options.rules ?? open }))
    const pipeline = yield* Pipeline.make({
      providers: fakes.map((provider, index) => ({ provider, breaker: breakers[index] })),
      models: fakes.map(({ name }, index) => ({ name: `m${index}`, provider: name })),
      stages: yield* Presets.stages(preset, { telemetry, idempotency }),
      access: Access.policies(policies)
    })
    return {
      run: (over?: Partial<Request>) => pipeline.runUnscoped(ask(over)),
      fakes,
      breakers,
      state: (index: number) =>
        Effect.suspend(() => {
          const breaker = breakers[index]
          return breaker === undefined
            ? Effect.die("no such breaker")
            : Effect.map(CircuitBreaker.view(breaker), (view) => view.state)
        }),
      rows: Effect.zipRight(Effect.sleep("2 seconds"), Effect.orDie(telemetry.recent(1_000)))
    }
  }).pipe(Effect.orDie)

const virtual = <A, E>(effect: Effect.Effect<A, E, Scope.Scope>) =>
  Effect.provide(Effect.scoped(effect), VirtualClock.layer)

const refusal = (error: unknown): RouteError => {
  assert(typeof error === "object" && error !== null && "_tag" in error && error._tag === "RouteError")
  return error as RouteError
}

const times = (world: World, count: number, over?: Partial<Request>) =>
  Effect.replicateEffect(Effect.either(world.run(over)), count, { discard: true })

const serverError = fail("server_error", { status: 503 })

describe("Presets.ibex: ADR-0076 and ADR-0077", () => {
  const { ibex } = Presets
  const alone = { rules: [{ org: "*", model: "*" }] }

  it.live("isolation per provider: one that is down leaves the others alone", () =>
    virtual(
      Effect.gen(function* () {
        const it = yield* world(ibex, [[serverError], [json]], alone)
        yield* times(it, 5)
        assert.deepStrictEqual([yield* it.state(0), yield* it.state(1)], ["Open", "Closed"])
        assert.strictEqual((yield* it.run({ model: "m1" })).model, "m1")
        yield* times(it, 5)
        assert.strictEqual(asked(it.fakes[0] ?? provider("")), 5)
      })
    )
  )

  it.live("a 4xx neither counts nor falls back; a 429 counts, and does not fall back by itself", () =>
    virtual(
      Effect.gen(function* () {
        for (const [kind, status, state] of [
          ["client_fault", 400, "Closed"],
          ["auth", 401, "Closed"],
          ["timeout", 408, "Closed"],
          ["rate_limit", 429, "Open"],
          ["quota_exhausted", 429, "Open"]
        ] as const) {
          const it = yield* world(ibex, [[fail(kind, { status })], [json]])
          yield* times(it, 5)
          assert.strictEqual(yield* it.state(0), state, kind)
          assert.strictEqual(asked(it.fakes[1] ?? provider("")), 0, kind)
        }
      })
    )
  )

  it.live("an open circuit tells the full cooldown, and 503 without the provider's name", () =>
    virtual(
      Effect.gen(function* () {
        const it = yield* world(ibex, [[serverError]], alone)
        yield* times(it, 5)
        yield* Effect.sleep("20 seconds")
        const error = refusal(yield* Effect.flip(it.run()))
        assert.strictEqual(CallError.statusOf(error), 503)
        assert.strictEqual(CallError.retryAfterOf(error, ibex.retryAfter), 30_000)
        assert.strictEqual(CallError.retryAfterOf(error), 10_000)
        assert.notInclude(error.message, "p0")
      })
    )
  )

  it.live("a caller's own key passes an open circuit, and its failures count nowhere", () =>
    virtual(
      Effect.gen(function* () {
        const own = { apiKey: Redacted.make("sk-own") }
        const it = yield* world(ibex, [[serverError], [json]], alone)
        yield* times(it, 20, own)
        assert.strictEqual(yield* it.state(0), "Closed")
        yield* times(it, 5)
        const before = asked(it.fakes[0] ?? provider(""))
        yield* times(it, 1, own)
        assert.strictEqual(asked(it.fakes[0] ?? provider("")), before + 1)
      })
    )
  )

  it("bad knobs stop the start, each with its place", () => {
    const decoded = Policy.decode({ trip: { _tag: "Consecutive", failureThreshold: 0 }, cooldown: { base: -1 } })
    assert(decoded._tag === "Failure")
    assert.isAtLeast(decoded.faults.length, 2)
  })

  it.live("chains are opt-in: without one the primary's error is answered", () =>
    virtual(
      Effect.gen(function* () {
        const it = yield* world(ibex, [[serverError], [json]], alone)
        assert.strictEqual(CallError.statusOf(yield* Effect.flip(it.run())), 503)
        assert.strictEqual(asked(it.fakes[1] ?? provider("")), 0)
      })
    )
  )

  it.live("5xx, timeout and an open circuit fall back, over one entry of the chain", () =>
    virtual(
      Effect.gen(function* () {
        for (const [kind, status] of [
          ["server_error", 500],
          ["overloaded", 529],
          ["timeout", undefined]
        ] as const) {
          const it = yield* world(ibex, [[fail(kind, status === undefined ? {} : { status })], [json], [json]])
          assert.strictEqual((yield* it.run()).model, "m1", kind)
        }
        const it = yield* world(ibex, [[serverError], [json], [json]])
        yield* times(it, 6)
        assert.strictEqual(asked(it.fakes[0] ?? provider("")), 5)
        assert.strictEqual((yield* it.run()).model, "m1")
        const exhausted = yield* world(ibex, [[serverError], [fail("server_error", { status: 500 })], [json]])
        const error = refusal(yield* Effect.flip(exhausted.run()))
        assert(error.reason._tag === "Failed")
        assert.deepStrictEqual([error.reason.model, error.reason.error.failure.status], ["m0", 503])
        assert.strictEqual(asked(exhausted.fakes[2] ?? provider("")), 0)
      })
    )
  )

  it.live("a denied hop is passed over, and with one entry that was all; a store that is down fails closed", () =>
    virtual(
      Effect.gen(function* () {
        const rules = [
          { org: "*", model: "m1", allow: false },
          { org: "*", model: "*", fallbackChain: ["m1", "m2"] }
        ]
        const it = yield* world(ibex, [[serverError], [json], [json]], { rules })
        assert(refusal(yield* Effect.flip(it.run())).reason._tag === "Failed")
        assert.deepStrictEqual(it.fakes.map(asked), [1, 0, 0])

        const memory = yield* Effect.orDie(ModelPolicies.makeMemory({ rules: open }))
        let questions = 0
        const policies: ModelPolicies.Service = {
          ...memory,
          decide: (org, model) => (questions++ === 0 ? memory.decide(org, model) : down("policies"))
        }
        const closed = yield* world(ibex, [[serverError], [json]], { policies })
        const error = refusal(yield* Effect.flip(closed.run()))
        assert(error.reason._tag === "Failed" && error.reason.model === "m0")
        assert.deepStrictEqual(closed.fakes.map(asked), [1, 0])
      })
    )
  )

  it.live("after the first byte there is no fallback", () =>
    virtual(
      Effect.gen(function* () {
        const it = yield* world(ibex, [[{ does: "stream", yields: 0, chunks: 2, tail: "breaks" }], [json]])
        const { answer } = yield* it.run({ stream: true })
        assert(answer._tag === "Stream")
        assert.strictEqual((yield* Effect.exit(Effect.tryPromise(() => read(answer.body))))._tag, "Failure")
        assert.strictEqual(asked(it.fakes[1] ?? provider("")), 0)
      })
    )
  )

  it.live("the audit fields, with and without a substitution", () =>
    virtual(
      Effect.gen(function* () {
        const it = yield* world(ibex, [[serverError, json], [json]])
        yield* it.run()
        yield* it.run()
        const [second, first] = yield* it.rows
        assert.deepStrictEqual(
          [first, second].map((row) => [row?.originalModel, row?.fallbackModel, row?.fallbackReason]),
          [
            ["m0", "m1", "server_error"],
            [null, null, ""]
          ]
        )
      })
    )
  )

  it("the headers' prefix", () => assert.strictEqual(ibex.headerPrefix, "X-IBEX-Provider"))
})

describe("Presets.nrLlm: ADR-063", () => {
  const { nrLlm } = Presets

  it.live("the order of the pipeline", () =>
    virtual(
      Effect.gen(function* () {
        const telemetry = yield* TelemetryStore.makeMemory()
        const idempotency = yield* IdempotencyStore.makeMemory()
        const stages = yield* Presets.stages(nrLlm, { telemetry, idempotency })
        assert.deepStrictEqual(
          stages.map(({ name, priority }) => `${name} ${priority}`),
          ["telemetry 110", "idempotency 105", "fallback 50", "usage 25", "breaker 20"]
        )
      })
    )
  )

  it.live("an open circuit advances the chain, over all of it; an exhausted one lists every error", () =>
    virtual(
      Effect.gen(function* () {
        const it = yield* world(nrLlm, [[serverError], [fail("timeout")], [json]])
        yield* times(it, 6)
        assert.deepStrictEqual(it.fakes.map(asked), [5, 5, 6])
        assert.deepStrictEqual([yield* it.state(0), yield* it.state(1)], ["Open", "Open"])
        const lost = yield* world(nrLlm, [[serverError], [fail("timeout")], [fail("rate_limit", { status: 429 })]])
        const error = refusal(yield* Effect.flip(lost.run()))
        assert(error.reason._tag === "Exhausted")
        assert.deepStrictEqual(
          error.reason.errors.map((one) => (one._tag === "Failed" ? one.error.failure.kind : one.kind)),
          ["server_error", "timeout", "rate_limit"]
        )
      })
    )
  )

  it.live("a probe that fails with what does not trip leaves the circuit half-open", () =>
    virtual(
      Effect.gen(function* () {
        const rules = [{ org: "*", model: "*" }]
        const bad = fail("client_fault", { status: 400, scope: "none" })
        const it = yield* world(nrLlm, [[...Array.from({ length: 5 }, () => serverError), bad, json]], { rules })
        yield* times(it, 5)
        yield* Effect.sleep("30 seconds")
        yield* times(it, 1)
        assert.strictEqual(yield* it.state(0), "HalfOpen")
        yield* it.run()
        assert.strictEqual(yield* it.state(0), "Closed")
      })
    )
  )

  it.live("reorder by health: off unless asked for; on, the healthier of the chain is first", () =>
    virtual(
      Effect.gen(function* () {
        for (const reorderByHealth of [false, true]) {
          const telemetry = yield* TelemetryStore.makeMemory()
          const fallback = { ...nrLlm.fallback, reorderByHealth }
          const it = yield* world({ ...nrLlm, fallback }, [[serverError], [fail("timeout")], [json]])
          // m1 was asked for itself and failed, m2 served
          yield* times(it, 3, { model: "m1" })
          yield* it.run({ model: "m2" })
          yield* it.rows
          const before = asked(it.fakes[1] ?? provider(""))
          yield* it.run()
          assert.strictEqual(asked(it.fakes[1] ?? provider("")) - before, reorderByHealth ? 0 : 1)
          assert.strictEqual(Health.make({ store: telemetry }).window, 900_000)
        }
      })
    )
  )

  it.live("replay by key: successes; failures and streams are never kept", () =>
    virtual(
      Effect.gen(function* () {
        const key = { idempotencyKey: "k" }
        const rules = [{ org: "*", model: "*" }]
        const it = yield* world(nrLlm, [[fail("client_fault", { status: 400 }), json]], { rules })
        yield* times(it, 1, key)
        assert.isFalse((yield* it.run(key)).replayed)
        assert.isTrue((yield* it.run(key)).replayed)
        const streams = yield* world(nrLlm, [[{ does: "stream", yields: 0, chunks: 1, tail: "ends" }]], { rules })
        for (let call = 0; call < 2; call++) {
          const { answer, replayed } = yield* streams.run({ ...key, stream: true })
          assert(answer._tag === "Stream" && !replayed)
          yield* Effect.promise(() => read(answer.body))
        }
      })
    )
  )
})

describe("Presets.omniRoute: the article", () => {
  const { omniRoute } = Presets
  const rules = [{ org: "*", model: "*" }]

  /** Failures far enough apart to be news each. */
  const failing = (it: World, count: number) =>
    Effect.replicateEffect(Effect.zipRight(Effect.sleep("11 seconds"), Effect.either(it.run())), count, {
      discard: true
    })

  it.live("four states: degraded at three, open at five, half-open after the cooldown, closed by a success", () =>
    virtual(
      Effect.gen(function* () {
        const it = yield* world(omniRoute, [[...Array.from({ length: 5 }, () => serverError), json]], { rules })
        const states = [yield* it.state(0)]
        yield* failing(it, 3)
        states.push(yield* it.state(0))
        yield* failing(it, 2)
        states.push(yield* it.state(0))
        yield* Effect.sleep("30 seconds")
        states.push(yield* it.state(0))
        yield* it.run()
        states.push(yield* it.state(0))
        assert.deepStrictEqual(states, ["Closed", "Degraded", "Open", "HalfOpen", "Closed"])
      })
    )
  )

  it.live("the cooldown doubles from 30 s to 8 min and no further", () =>
    virtual(
      Effect.gen(function* () {
        const it = yield* world(omniRoute, [[serverError]], { rules })
        yield* failing(it, 5)
        const cooldowns: Array<number | undefined> = []
        for (let opening = 0; opening < 7; opening++) {
          const error = yield* Effect.flip(it.run())
          const cooldown = CallError.retryAfterOf(error, "cooldown")
          cooldowns.push(cooldown)
          yield* Effect.sleep(cooldown ?? 0)
          yield* Effect.either(it.run())
        }
        assert.deepStrictEqual(
          cooldowns,
          [30, 60, 120, 240, 480, 480, 480].map((s) => s * 1_000)
        )
      })
    )
  )

  it.live(
    "kinds have thresholds of their own: three network errors, a spent quota at once past degraded, for an hour",
    () =>
      virtual(
        Effect.gen(function* () {
          const after = (kind: Kind, count: number) =>
            Effect.gen(function* () {
              const it = yield* world(omniRoute, [[fail(kind)]], { rules })
              yield* failing(it, count)
              const error = yield* Effect.flip(it.run())
              return [yield* it.state(0), CallError.retryAfterOf(error, "cooldown")] as const
            })
          assert.deepStrictEqual(yield* after("network_error", 3), ["Open", 30_000])
          assert.deepStrictEqual(yield* after("quota_exhausted", 1), ["Open", 3_600_000])
          // ten in one minute, and eleven seconds apart they are never so many
          assert.notStrictEqual((yield* after("rate_limit", 4))[0], "Open")
        })
      )
  )

  it.live("one failure is counted for many at one moment, and a probe's always is", () =>
    virtual(
      Effect.gen(function* () {
        const it = yield* world(omniRoute, [[serverError]], { rules })
        yield* times(it, 20)
        assert.strictEqual(yield* it.state(0), "Closed")
        const [breaker] = it.breakers
        assert(breaker !== undefined)
        yield* failing(it, 4)
        assert.strictEqual(yield* it.state(0), "Open")
        yield* Effect.sleep("30 seconds")
        yield* times(it, 2)
        assert.strictEqual(yield* it.state(0), "Open")
      })
    )
  )

  it.live("statuses: state, counts and transitions with their reasons", () =>
    virtual(
      Effect.gen(function* () {
        const it = yield* world(omniRoute, [[serverError]], { rules })
        yield* failing(it, 5)
        const [breaker] = it.breakers
        assert(breaker !== undefined)
        const { counters, transitions, view } = yield* CircuitBreaker.status(breaker)
        assert.strictEqual(view.state, "Open")
        assert.strictEqual(counters.failed, 5)
        assert.deepStrictEqual(
          transitions.map(({ to }) => to),
          ["Degraded", "Open"]
        )
      })
    )
  )

  it("its profiles are policies", () => {
    for (const name of ["omniRoute.generic", "omniRoute.oauth", "omniRoute.apiKey"] as const) {
      assert.strictEqual(Breaker.initial(Policy.presets[name], 0)._tag, "Closed")
    }
  })
})

describe("Presets.recommended", () => {
  const { recommended } = Presets

  it.live("429, auth and the rest of F4 move on; healthy breakers first", () =>
    virtual(
      Effect.gen(function* () {
        for (const kind of ["rate_limit", "quota_exhausted", "model_unavailable", "auth", "network_error"] as const) {
          const it = yield* world(recommended, [[fail(kind)], [json]])
          assert.strictEqual((yield* it.run()).model, "m1", kind)
        }
        const it = yield* world(recommended, [[serverError], [json], [json]])
        const [, second] = it.breakers
        assert(second !== undefined)
        for (let failure = 0; failure < 5; failure++) yield* trip(second)
        assert.strictEqual((yield* it.run()).model, "m2")
      })
    )
  )

  it.live("W2: what is left of the cooldown", () =>
    virtual(
      Effect.gen(function* () {
        const it = yield* world(recommended, [[serverError]], { rules: [{ org: "*", model: "*" }] })
        yield* times(it, 5)
        yield* Effect.sleep("10 seconds")
        const error = yield* Effect.flip(it.run())
        const left = CallError.retryAfterOf(error, recommended.retryAfter)
        const whole = CallError.retryAfterOf(error, "cooldown")
        assert(left !== undefined && whole !== undefined)
        assert.strictEqual(whole - left, 10_000)
      })
    )
  )
})
