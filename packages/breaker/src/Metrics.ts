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
 */
export const outcomes: Metric.Metric.Counter<number> = Metric.fromMetricKey(series.outcomes)

/**
 * Transitions.
 *
 * @since 0.1.0
 * @category metrics
 */
export const transitions: Metric.Metric.Counter<number> = Metric.fromMetricKey(series.transitions)

/**
 * The state as observed: 0 Closed, 1 Degraded, 2 HalfOpen, 3 Open; -1 when no breaker of that name is left. Of several
 * the highest.
 *
 * @since 0.1.0
 * @category metrics
 */
export const state: Metric.Metric.Gauge<number> = Metric.fromMetricKey(series.state)
