import { describe, it } from "@effect/vitest"
import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
import * as Registry from "@switchgear/breaker/CircuitBreakerRegistry"
import * as Metrics from "@switchgear/breaker/Metrics"
import * as VirtualClock from "@switchgear/clock/VirtualClock"
import * as Policy from "@switchgear/core/Policy"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Metric from "effect/Metric"
import * as MetricState from "effect/MetricState"
import { assert } from "vitest"

const policy = Policy.consecutive({ failureThreshold: 2, cooldown: { base: "30 seconds" } })
const live = Layer.provideMerge(Registry.layer({ policy }), VirtualClock.layer)

/** What exporters see of one breaker: `Metric.snapshot`, by name and second label. */
const shown = (breaker: string) =>
  Effect.map(Metric.snapshot, (pairs) => {
    const numbers: Record<string, number> = {}
    for (const { metricKey, metricState } of pairs) {
      const labels = metricKey.tags.map(({ key, value }) => [key, value] as const)
      if (!labels.some(([key, value]) => key === "breaker" && value === breaker)) continue
      const name = [
        metricKey.name.replace("switchgear_breaker_", ""),
        ...labels.flatMap(([key, value]) => (key === "breaker" ? [] : [value]))
      ].join(".")
      if (MetricState.isCounterState(metricState)) numbers[name] = Number(metricState.count)
      if (MetricState.isGaugeState(metricState)) numbers[name] = Number(metricState.value)
    }
    return numbers
  })

const call = <A, E>(effect: Effect.Effect<A, E>, key: string) =>
  Effect.exit(Registry.withCircuitBreaker(effect, { key }))

describe("metrics", () => {
  it.live("are read from the breakers: a snapshot shows what is, without an update on any call", () =>
    Effect.gen(function* () {
      yield* call(Effect.void, "m1")
      yield* call(Effect.fail("down"), "m1")
      assert.deepStrictEqual(yield* shown("m1"), {
        "admissions.admitted": 2,
        "admissions.rejected": 0,
        "outcomes.success": 1,
        "outcomes.failure": 1,
        "outcomes.ignored": 0,
        "outcomes.released": 0,
        transitions: 0,
        state: 0
      })
      yield* call(Effect.fail("down"), "m1")
      yield* call(Effect.void, "m1")
      assert.deepInclude(yield* shown("m1"), { "admissions.rejected": 1, transitions: 1, state: 3 })
      yield* Effect.sleep("30 seconds")
      assert.deepInclude(yield* shown("m1"), { transitions: 1, state: 2 })
      yield* call(Effect.interrupt, "m1")
      yield* call(Effect.void, "m1")
      assert.deepInclude(yield* shown("m1"), {
        "outcomes.released": 1,
        "outcomes.success": 2,
        transitions: 3,
        state: 0
      })
    }).pipe(Effect.provide(live))
  )

  it.live("read one by one as any metric of Effect", () =>
    Effect.gen(function* () {
      yield* call(Effect.void, "m2")
      const successes = Metrics.outcomes.pipe(Metric.tagged("breaker", "m2"), Metric.tagged("outcome", "success"))
      assert.strictEqual((yield* Metric.value(successes)).count, 1)
      yield* call(Effect.void, "m2")
      assert.strictEqual((yield* Metric.value(successes)).count, 2)
      assert.strictEqual((yield* Metric.value(Metric.tagged(Metrics.state, "breaker", "m2"))).value, 0)
    }).pipe(Effect.provide(live))
  )

  it.live("add up breakers of one name, and keep the counts of those that have gone", () =>
    Effect.gen(function* () {
      const use = Effect.provide(Effect.zipRight(call(Effect.void, "m3"), shown("m3")), live)
      assert.strictEqual((yield* use)["outcomes.success"], 1)
      assert.deepInclude(yield* shown("m3"), { "outcomes.success": 1, state: -1 })
      assert.deepInclude(yield* use, { "outcomes.success": 2, state: 0 })
    })
  )

  it.live("label 200 breakers of a registry, and add the rest up as other", () =>
    Effect.gen(function* () {
      for (let i = 0; i < 260; i++) yield* call(Effect.void, `many-${i}`)
      assert.strictEqual((yield* shown("many-199"))["outcomes.success"], 1)
      assert.deepStrictEqual(yield* shown("many-200"), {})
      assert.strictEqual((yield* shown("other"))["outcomes.success"], 60)
    }).pipe(Effect.provide(live))
  )

  it.live("show a breaker of its own for as long as its scope is open", () =>
    Effect.gen(function* () {
      const breaker = yield* CircuitBreaker.make({ name: "m4", policy })
      yield* CircuitBreaker.guard(Effect.void, breaker)
      assert.deepStrictEqual(yield* shown("m4"), {})
      const during = yield* Effect.scoped(Effect.zipRight(CircuitBreaker.publishMetrics(breaker), shown("m4")))
      assert.deepInclude(during, { "outcomes.success": 1, state: 0 })
      yield* CircuitBreaker.guard(Effect.void, breaker)
      assert.deepInclude(yield* shown("m4"), { "outcomes.success": 1, state: -1 })
    })
  )
})
