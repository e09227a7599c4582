import { assert, describe, it } from "@effect/vitest"
import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
import * as VirtualClock from "@switchgear/clock/VirtualClock"
import * as Dedupe from "@switchgear/core/Dedupe"
import * as Fallback from "@switchgear/core/Fallback"
import * as Policy from "@switchgear/core/Policy"
import * as ScriptedProvider from "@switchgear/providers/ScriptedProvider"
import * as Access from "@switchgear/routing/Access"
import * as Budget from "@switchgear/routing/Budget"
import * as Cache from "@switchgear/routing/Cache"
import type { Call } from "@switchgear/routing/Call"
import * as CallError from "@switchgear/routing/CallError"
import * as ModelPolicies from "@switchgear/routing/ModelPolicies"
import * as Pipeline from "@switchgear/routing/Pipeline"
import { Rejected } from "@switchgear/routing/Rejected"
import * as Stage from "@switchgear/routing/Stage"
import * as Usage from "@switchgear/routing/Usage"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { fail, provider as fakeOf, json } from "./helpers.js"
import { ask, build, codeOf, down, fallback, read } from "./pipelineHelpers.js"

const { ok, status } = ScriptedProvider
const scripted = (name: string, ...steps: readonly [ScriptedProvider.Step, ...Array<ScriptedProvider.Step>]) =>
  ScriptedProvider.make(name, steps)

/** A stage that writes down when it is passed, and for which target. */
const trace = (name: string, priority: number, passed: Array<string>) =>
  Stage.make(name, priority, (next) => (call: Call) => {
    passed.push(call.target === undefined ? name : `${name}:${call.target.model}`)
    return next(call)
  })

const faultsOf = (options: Partial<Pipeline.Options>) =>
  Effect.runSync(
    Effect.map(
      Effect.flip(Pipeline.make({ providers: [], models: [], stages: [Pipeline.fallback()], ...options })),
      ({ faults }) => faults
    )
  )

describe("Pipeline: how it is built", () => {
  it.live("S1: stages run by priority, those inside fallback once for every target", () =>
    Effect.gen(function* () {
      const passed: Array<string> = []
      const { pipeline } = yield* build([scripted("p0", status(503)), scripted("p1", ok())], {
        stages: [
          Pipeline.breaker(),
          trace("in", 22, passed),
          fallback(),
          trace("mid", 90, passed),
          trace("out", 200, passed)
        ]
      })
      assert.deepStrictEqual(pipeline.stages, ["out", "mid", "fallback", "in", "breaker"])
      const served = yield* pipeline.run(ask())
      assert.deepStrictEqual(passed, ["out", "mid", "in:m0", "in:m1"])
      assert.deepStrictEqual([served.model, served.substituted], ["m1", true])
    }).pipe(Effect.scoped)
  )

  it.live("S1: a listed pipeline runs as its list stands", () =>
    Effect.gen(function* () {
      const passed: Array<string> = []
      const { pipeline } = yield* build([scripted("p0", ok())], {
        order: "listed",
        stages: [trace("a", 1, passed), trace("b", 1, passed), fallback(), Pipeline.breaker(), trace("c", 900, passed)]
      })
      yield* pipeline.runUnscoped(ask())
      assert.deepStrictEqual(passed, ["a", "b", "c:m0"])
    })
  )

  it("S1: two stages of one priority, or of one name, are refused", () => {
    const [fault] = faultsOf({ stages: [Pipeline.fallback(), trace("mine", 50, [])] })
    assert.strictEqual(fault?.path, "stages.mine.priority")
    assert.match(fault?.message ?? "", /is 50, which is that of "fallback" too: give one of them another/)
    const [twice] = faultsOf({ stages: [Pipeline.fallback(), { ...Pipeline.fallback(), priority: 51 }] })
    assert.match(twice?.message ?? "", /stands twice/)
  })

  it("S2: a breaker outside of fallback is refused with the reason, by priority and in a list", () => {
    for (const options of [
      { stages: [{ ...Pipeline.breaker(), priority: 60 }, Pipeline.fallback()] },
      { order: "listed" as const, stages: [Pipeline.breaker(), Pipeline.fallback()] }
    ]) {
      const [fault] = faultsOf(options)
      assert.strictEqual(fault?.path, "stages.breaker")
      assert.match(fault?.message ?? "", /an open primary would end the call before any fallback: put it inside/)
    }
  })

  it("dedupe with a rule on a rate is refused, naming the breaker", () => {
    const breaker = Effect.runSync(CircuitBreaker.make({ name: "openai", policy: Policy.hosted }))
    const [fault] = faultsOf({
      providers: [{ provider: fakeOf("p0", json), breaker }],
      models: [{ name: "m0", provider: "p0" }],
      stages: [Pipeline.fallback(), Pipeline.breaker({ dedupe: Dedupe.defaults })]
    })
    assert.strictEqual(fault?.path, "stages.breaker.dedupe")
    assert.match(fault?.message ?? "", /"openai".*use a Consecutive rule, or leave dedupe out/)
  })

  it("F11, F2: unknown models and chains of nine are refused, all at once", () => {
    const nine = Array.from({ length: 9 }, (_, index) => `x${index}`)
    const faults = faultsOf({
      providers: [{ provider: fakeOf("p0", json) }],
      models: [
        { name: "m0", provider: "p0", fallbackChain: ["nowhere"] },
        { name: "m1", provider: "p0", fallbackChain: nine }
      ]
    })
    assert.deepStrictEqual(
      faults.map(({ path }) => path),
      ["models.0.fallbackChain.0", "models.1.fallbackChain"]
    )
    assert.match(faults[0]?.message ?? "", /there is no model "nowhere"; there are "m0", "m1"/)
  })

  it("a budget without usage is refused", () => {
    const store = Effect.runSync(Budget.makeMemory)
    const [fault] = faultsOf({
      stages: [Pipeline.fallback(), Budget.stage({ store, limits: [{ org: "*", window: "1 day", usd: 1 }] })]
    })
    assert.match(fault?.message ?? "", /put Usage.stage\(\) into the list/)
  })

  it.live("without Fallback the requested model serves or nothing does", () =>
    Effect.gen(function* () {
      const backup = scripted("p1", ok())
      const { pipeline } = yield* build([scripted("p0", status(503)), backup], { stages: [Pipeline.breaker()] })
      const error = yield* Effect.flip(pipeline.runUnscoped(ask()))
      assert(error._tag === "RouteError" && error.reason._tag === "Failed")
      assert.strictEqual(yield* backup.calls, 0)
    })
  )

  it.live("a stage's own refusal ends the call, wherever it stands, and counts against nobody", () =>
    Effect.gen(function* () {
      for (const priority of [200, 60, 22, 10]) {
        const backup = scripted("p1", ok())
        const no = new Rejected({ stage: "mine", status: 418, code: "teapot", message: "no" })
        const mine = Stage.make("mine", priority, () => () => Effect.fail(no))
        const { breakers, pipeline } = yield* build([scripted("p0", ok()), backup], {
          stages: [fallback(), Pipeline.breaker(), mine],
          policy: Policy.consecutive({ failureThreshold: 1 })
        })
        assert.strictEqual(yield* Effect.flip(pipeline.runUnscoped(ask())), no)
        assert.strictEqual(yield* backup.calls, 0)
        for (const breaker of breakers) {
          assert.strictEqual((yield* CircuitBreaker.view(breaker)).state, "Closed")
        }
      }
    })
  )
})

describe("Pipeline: access (S0, F5)", () => {
  const nowhere: ModelPolicies.Service = {
    decide: () => down("policies"),
    rules: down("policies"),
    revised: down("policies"),
    setRules: () => down("policies"),
    client: () => down("policies"),
    clients: down("policies"),
    putClient: () => down("policies"),
    removeClient: () => down("policies")
  }

  it.live("F5: no matching rule, and a deny, are 403; an unavailable store is 503; nothing is called", () =>
    Effect.gen(function* () {
      const policies = yield* ModelPolicies.makeMemory({ rules: [{ org: "acme", model: "m0", allow: false }] })
      for (const [access, org, reason, code] of [
        [Access.policies(policies), "acme", "NotAllowed", 403],
        [Access.policies(policies), "other", "NotAllowed", 403],
        [Access.policies(nowhere), "acme", "PolicyUnavailable", 503]
      ] as const) {
        const provider = scripted("p0", ok())
        const { pipeline } = yield* build([provider], { access })
        const error = yield* Effect.flip(pipeline.runUnscoped(ask({ org })))
        assert.strictEqual(codeOf(error), reason)
        assert.strictEqual(CallError.statusOf(error), code)
        assert.strictEqual(yield* provider.calls, 0)
      }
    })
  )

  it.live("F2, F5: the chain is the first matching rule's; a denied hop is passed over", () =>
    Effect.gen(function* () {
      const policies = yield* ModelPolicies.makeMemory({
        rules: [
          { org: "acme", model: "m1", allow: false },
          { org: "ac*", model: "m?", fallbackChain: ["m1", "m2"] }
        ]
      })
      const denied = scripted("p1", ok())
      const { pipeline } = yield* build([scripted("p0", status(503)), denied, scripted("p2", ok())], {
        access: Access.policies(policies)
      })
      const served = yield* pipeline.runUnscoped(ask({ org: "acme" }))
      assert.deepStrictEqual([served.model, served.attempts[1]?._tag], ["m2", "Skipped"])
      assert.strictEqual(yield* denied.calls, 0)
      const open = yield* pipeline.runUnscoped(ask({ org: "accent" }))
      assert.strictEqual(open.model, "m1")
    })
  )

  it.live("F5: a store that fails in the middle of the walk ends it with the primary's error", () =>
    Effect.gen(function* () {
      let asked = 0
      const flaky: ModelPolicies.Service = {
        ...nowhere,
        decide: () => (asked++ === 0 ? Effect.succeed({ _tag: "Allowed", chain: ["m1"] }) : down("policies"))
      }
      const backup = scripted("p1", ok())
      const { pipeline } = yield* build([scripted("p0", status(502)), backup], { access: Access.policies(flaky) })
      const error = yield* Effect.flip(pipeline.runUnscoped(ask()))
      assert(error._tag === "RouteError" && error.reason._tag === "Failed")
      assert.strictEqual(error.reason.error.failure.status, 502)
      assert.strictEqual(yield* backup.calls, 0)
    })
  )

  it.live("client keys: missing, unknown and known", () =>
    Effect.gen(function* () {
      const key = Redacted.make("sg-1")
      const policies = yield* ModelPolicies.makeMemory({
        rules: [{ org: "acme", model: "*" }],
        clients: [{ org: "acme", keyHash: Access.hashKey(key) }]
      })
      const { pipeline } = yield* build([scripted("p0", ok())], {
        access: Access.policies(policies, { clients: "required" })
      })
      const run = (clientKey?: Redacted.Redacted) =>
        pipeline.runUnscoped(ask({ org: "acme", ...(clientKey === undefined ? undefined : { clientKey }) }))
      assert.strictEqual(codeOf(yield* Effect.flip(run())), "invalid_client_key")
      assert.strictEqual(codeOf(yield* Effect.flip(run(Redacted.make("sg-2")))), "invalid_client_key")
      assert.strictEqual((yield* run(key)).model, "m0")
    })
  )
})

describe("Pipeline: cache and budget (S3)", () => {
  it.live("cache: JSON of the same organisation and request, for its time; no stream, no BYO, no substitute", () =>
    Effect.provide(
      Effect.gen(function* () {
        const provider = scripted("p0", ok())
        const cache = Cache.stage({ store: yield* Cache.makeMemory(), ttl: "1 minute" })
        const { pipeline } = yield* build([provider, scripted("p1", ok())], { stages: [cache, fallback()] })
        const cached = (over = {}) => Effect.map(pipeline.runUnscoped(ask(over)), ({ cached }) => cached)
        assert.deepStrictEqual([yield* cached(), yield* cached()], [false, true])
        assert.isFalse(yield* cached({ org: "other" }))
        assert.isFalse(yield* cached({ apiKey: Redacted.make("sk") }))
        yield* Effect.sleep("1 minute")
        assert.isFalse(yield* cached())
        for (let call = 0; call < 2; call++) {
          const streamed = yield* pipeline.run(ask({ stream: true }))
          assert.isFalse(streamed.cached)
        }
      }).pipe(Effect.scoped),
      VirtualClock.layer
    )
  )

  it.live("cache: what a fallback served is not kept, so the primary is back as soon as it can be", () =>
    Effect.gen(function* () {
      const cache = Cache.stage({ store: yield* Cache.makeMemory() })
      const { pipeline } = yield* build([scripted("p0", status(503), ok()), scripted("p1", ok())], {
        stages: [cache, fallback()]
      })
      assert.strictEqual((yield* pipeline.runUnscoped(ask())).model, "m1")
      assert.strictEqual((yield* pipeline.runUnscoped(ask())).model, "m0")
    })
  )

  it.live(
    "budget: over it the call is 402 before anything is called, until the next window; each organisation its own",
    () =>
      Effect.provide(
        Effect.gen(function* () {
          const provider = scripted("p0", ok())
          const store = yield* Budget.makeMemory
          const { pipeline } = yield* build([provider], {
            stages: [
              Budget.stage({ store, limits: [{ org: "*", window: "1 hour", usd: 0.000_001 }] }),
              fallback(),
              Usage.stage({ prices: { up0: { input: 1, output: 1 } } }),
              Pipeline.breaker()
            ]
          })
          yield* pipeline.runUnscoped(ask())
          const error = yield* Effect.flip(pipeline.runUnscoped(ask()))
          assert(error._tag === "Rejected")
          assert.deepStrictEqual([error.status, error.code, error.retryAfter], [402, "budget_exceeded", 3_600_000])
          assert.strictEqual(yield* provider.calls, 1)
          yield* pipeline.runUnscoped(ask({ org: "other" }))
          yield* pipeline.runUnscoped(ask({ apiKey: Redacted.make("sk") }))
          yield* Effect.sleep("1 hour")
          yield* pipeline.runUnscoped(ask())
        }),
        VirtualClock.layer
      )
  )

  it.live("budget: a stream is charged when it ends, a failure never", () =>
    Effect.gen(function* () {
      const store = yield* Budget.makeMemory
      const { pipeline } = yield* build([scripted("p0", status(400), ok("hello"))], {
        stages: [
          Budget.stage({ store, limits: [{ org: "*", window: "1 day", tokens: 10_000 }] }),
          fallback(),
          Usage.stage()
        ]
      })
      const spent = Effect.map(store.spent("default", 86_400_000), ({ tokens }) => tokens)
      yield* Effect.flip(pipeline.runUnscoped(ask()))
      assert.strictEqual(yield* spent, 0)
      const { answer } = yield* pipeline.runUnscoped(ask({ stream: true }))
      assert(answer._tag === "Stream")
      assert.strictEqual(yield* spent, 0)
      yield* Effect.promise(() => read(answer.body))
      assert.isAbove(yield* spent, 0)
    })
  )

  it.live("budget: a store that is down lets calls pass, or none, as told", () =>
    Effect.gen(function* () {
      const store: Budget.Service = { spent: () => down("budgets"), charge: () => down("budgets") }
      for (const onStoreFailure of ["open", "closed"] as const) {
        const limits = [{ org: "*", window: "1 day", usd: 1 }] as const
        const { pipeline } = yield* build([scripted("p0", ok())], {
          stages: [Budget.stage({ store, limits, onStoreFailure }), fallback(), Usage.stage()]
        })
        const result = yield* Effect.either(pipeline.runUnscoped(ask()))
        assert.strictEqual(result._tag, onStoreFailure === "open" ? "Right" : "Left")
      }
    })
  )
})

describe("Pipeline: breakers", () => {
  it.live("STORES: with dedupe a partition counts once, without it every call", () =>
    Effect.gen(function* () {
      for (const [stage, state] of [
        [Pipeline.breaker({ dedupe: Dedupe.defaults }), "Closed"],
        [Pipeline.breaker(), "Open"]
      ] as const) {
        const fake = fakeOf("p0", fail("timeout"))
        const { breakers, pipeline } = yield* build([fake], {
          stages: [fallback(), stage],
          policy: Policy.consecutive({ failureThreshold: 3 })
        })
        for (let call = 0; call < 5; call++) yield* Effect.exit(pipeline.runUnscoped(ask()))
        const [breaker] = breakers
        assert(breaker !== undefined)
        assert.strictEqual((yield* CircuitBreaker.view(breaker)).state, state)
      }
    })
  )

  it.live("STORES: a client's mistake begins no window", () =>
    Effect.gen(function* () {
      const fake = fakeOf("p0", fail("client_fault", { scope: "none", status: 400 }), fail("timeout"))
      const { breakers, pipeline } = yield* build([fake], {
        stages: [fallback(), Pipeline.breaker({ dedupe: Dedupe.defaults })],
        policy: Policy.consecutive({ failureThreshold: 1 })
      })
      for (let call = 0; call < 2; call++) yield* Effect.exit(pipeline.runUnscoped(ask()))
      const [breaker] = breakers
      assert(breaker !== undefined)
      assert.strictEqual((yield* CircuitBreaker.view(breaker)).state, "Open")
    })
  )

  it.live("F14: a call over maxConcurrent is saturated, moves on, and counts against nobody", () =>
    Effect.provide(
      Effect.gen(function* () {
        const slow = scripted("p0", ScriptedProvider.delay(ok(), "1 second"))
        const { breakers, pipeline } = yield* build([slow, scripted("p1", ok())], {
          maxConcurrent: 1,
          policy: Policy.consecutive({ failureThreshold: 1 })
        })
        const both = yield* Effect.all([pipeline.runUnscoped(ask()), pipeline.runUnscoped(ask())], {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(both.map(({ model }) => model).sort(), ["m0", "m1"])
        for (const breaker of breakers) assert.strictEqual((yield* CircuitBreaker.view(breaker)).state, "Closed")
      }),
      VirtualClock.layer
    )
  )

  it.live("F13: a dead primary at 500 calls/s sends its backup no more than the share of 10 s", () =>
    Effect.provide(
      Effect.gen(function* () {
        const at: Array<number> = []
        const backup = scripted("p1", ok())
        const counting = {
          ...backup,
          call: (request: Parameters<typeof backup.call>[0]) =>
            Effect.zipRight(
              Effect.clockWith((clock) => Effect.sync(() => void at.push(clock.unsafeCurrentTimeMillis()))),
              backup.call(request)
            )
        }
        const { pipeline } = yield* build([scripted("p0", status(503)), counting], {
          stages: [Pipeline.fallback({ settings: Fallback.recommended }), Pipeline.breaker()]
        })
        const firsts = 500 * 15
        const call = Effect.ignore(pipeline.runUnscoped(ask()))
        yield* Effect.forEach(Array.from({ length: firsts }), () => Effect.zipRight(Effect.sleep(2), call), {
          discard: true
        })
        assert.isAbove(at.length, 1_000)
        for (let start = 0, end = 0; end < at.length; end++) {
          while ((at[end] ?? 0) - (at[start] ?? 0) >= 9_000) start++
          // 500/s over what the budget's window covers, half of it
          assert.isAtMost(end - start + 1, 2_500 + 20)
        }
      }),
      VirtualClock.layer
    )
  )
})
