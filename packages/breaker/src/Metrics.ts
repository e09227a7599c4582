/**
 * The breakers' numbers as Effect metrics. No call updates them: they are read from the breakers when somebody asks, so
 * they cost a call nothing and are always current.
 *
 * Each carries the label `breaker`; `Metric.tagged(metric, "breaker", name)` reads one. Of a registry's breakers the
 * first 200 have their own label, the rest are added up as `other`. What breakers that have gone had counted stays in
 * the counters.
 *
 * @since 0.1.0
 */
import * as Metric from "effect/Metric"
import { series } from "./internal/metrics.js"

/**
 * Calls by admission. Label `admission`: `admitted`, or `rejected` (in shadow mode: would have been).
 *
 * @since 0.1.0
 * @category metrics
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as CircuitBreakerRegistry from "@switchgear/breaker/CircuitBreakerRegistry"
 * import * as Metrics from "@switchgear/breaker/Metrics"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Effect from "effect/Effect"
 * import * as Metric from "effect/Metric"
 *
 * const admitted = Metrics.admissions.pipe(
 *   Metric.tagged("breaker", "prices"),
 *   Metric.tagged("admission", "admitted")
 * )
 * const program = Effect.gen(function*() {
 *   yield* CircuitBreakerRegistry.withCircuitBreaker(Effect.succeed(42), { key: "prices" })
 *   return (yield* Metric.value(admitted)).count
 * }).pipe(Effect.provide(CircuitBreakerRegistry.layer({ policy: Policy.hosted })))
 * assert.strictEqual(Effect.runSync(program), 1)
 * ```
 */
export const admissions: Metric.Metric.Counter<number> = Metric.fromMetricKey(series.admissions)

/**
 * Reported outcomes. Label `outcome`: `success`, `failure`, `ignored` or `released`.
 *
 * @since 0.1.0
 * @category metrics
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
 * import * as Metrics from "@switchgear/breaker/Metrics"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Effect from "effect/Effect"
 * import * as Metric from "effect/Metric"
 *
 * const failures = Metrics.outcomes.pipe(Metric.tagged("breaker", "rates"), Metric.tagged("outcome", "failure"))
 * const program = Effect.gen(function*() {
 *   const breaker = yield* CircuitBreaker.make({ name: "rates", policy: Policy.hosted })
 *   yield* CircuitBreaker.publishMetrics(breaker)
 *   yield* Effect.ignore(CircuitBreaker.guard(Effect.fail("down"), breaker))
 *   return (yield* Metric.value(failures)).count
 * })
 * assert.strictEqual(Effect.runSync(Effect.scoped(program)), 1)
 * ```
 */
export const outcomes: Metric.Metric.Counter<number> = Metric.fromMetricKey(series.outcomes)

/**
 * Transitions.
 *
 * @since 0.1.0
 * @category metrics
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
 * import * as Metrics from "@switchgear/breaker/Metrics"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Effect from "effect/Effect"
 * import * as Metric from "effect/Metric"
 *
 * const transitions = Metric.tagged(Metrics.transitions, "breaker", "bonds")
 * const program = Effect.gen(function*() {
 *   const breaker = yield* CircuitBreaker.make({ name: "bonds", policy: Policy.hosted })
 *   yield* CircuitBreaker.publishMetrics(breaker)
 *   yield* CircuitBreaker.forceOpen(breaker)
 *   return (yield* Metric.value(transitions)).count
 * })
 * assert.strictEqual(Effect.runSync(Effect.scoped(program)), 1)
 * ```
 */
export const transitions: Metric.Metric.Counter<number> = Metric.fromMetricKey(series.transitions)

/**
 * The state as observed: 0 Closed, 1 Degraded, 2 HalfOpen, 3 Open; -1 when no breaker of that name is left. Of several
 * the highest.
 *
 * @since 0.1.0
 * @category metrics
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
 * import * as Metrics from "@switchgear/breaker/Metrics"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Effect from "effect/Effect"
 * import * as Metric from "effect/Metric"
 *
 * const state = Metric.tagged(Metrics.state, "breaker", "shares")
 * const program = Effect.gen(function*() {
 *   const breaker = yield* CircuitBreaker.make({ name: "shares", policy: Policy.hosted })
 *   yield* CircuitBreaker.publishMetrics(breaker)
 *   yield* CircuitBreaker.forceOpen(breaker)
 *   return (yield* Metric.value(state)).value
 * })
 * assert.strictEqual(Effect.runSync(Effect.scoped(program)), 3)
 * ```
 */
export const state: Metric.Metric.Gauge<number> = Metric.fromMetricKey(series.state)

/**
 * Registries whose store does not answer, so that their breakers go on in this process alone. No labels.
 *
 * @since 0.1.0
 * @category metrics
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Metrics from "@switchgear/breaker/Metrics"
 * import * as Effect from "effect/Effect"
 * import * as Metric from "effect/Metric"
 *
 * assert.strictEqual(Effect.runSync(Metric.value(Metrics.storesAway)).value, 0)
 * ```
 */
export const storesAway: Metric.Metric.Gauge<number> = Metric.fromMetricKey(series.storesAway)
