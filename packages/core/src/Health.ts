/**
 * A provider's health as one number, from what telemetry saw of it (ROUTING H1). A read model: it routes nothing by
 * itself, the walk sorts its chain by it if it is told to (H2).
 *
 * @since 0.1.0
 */

/**
 * What was seen of a provider in a window. Plain data that adds up, so a store may count it in its own words.
 *
 * @since 0.1.0
 * @category models
 */
export interface Sample {
  /** Calls that asked for this provider first. */
  readonly calls: number
  /** Those it served itself. */
  readonly successes: number
  /** Calls without a fallback whose latency is known. */
  readonly timed: number
  /** ms, the sum over those. */
  readonly latency: number
}

/**
 * One call, as the provider that was asked first has to answer for it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Call {
  readonly outcome: "served" | "failed" | "rescued"
  /** ms. What a rescued call took says nothing about its primary, and is left out. */
  readonly latency?: number | undefined
}

/**
 * How much success and speed weigh.
 *
 * @since 0.1.0
 * @category models
 */
export interface Settings {
  readonly successWeight: number
  readonly latencyWeight: number
  /** ms; a mean latency of so much or more has all the penalty there is. */
  readonly slow: number
  /** ms of telemetry that counts. */
  readonly window: number
}

/**
 * 0.8 for success, 0.2 for speed, slow at 5 s, over 15 min.
 *
 * @example
 * ```ts
 * import * as Health from "@switchgear/core/Health"
 * import assert from "node:assert"
 *
 * const patient = { ...Health.defaults, slow: 20_000 }
 * const slow = { calls: 2, successes: 2, timed: 2, latency: 10_000 }
 * assert.ok(Health.score(slow, patient) > Health.score(slow))
 * ```
 *
 * @since 0.1.0
 * @category models
 */
export const defaults: Settings = { successWeight: 0.8, latencyWeight: 0.2, slow: 5_000, window: 900_000 }

/**
 * Nothing seen.
 *
 * @example
 * ```ts
 * import * as Health from "@switchgear/core/Health"
 * import assert from "node:assert"
 *
 * assert.strictEqual(Health.score(Health.empty), 0.5)
 * ```
 *
 * @since 0.1.0
 * @category samples
 */
export const empty: Sample = { calls: 0, successes: 0, timed: 0, latency: 0 }

/**
 * Adds a call. One that a fallback rescued is a failure of its primary. A latency that is negative or no number is
 * unknown.
 *
 * @example
 * ```ts
 * import * as Health from "@switchgear/core/Health"
 * import assert from "node:assert"
 *
 * const sample = Health.record(Health.empty, { outcome: "rescued", latency: 900 })
 * assert.deepStrictEqual(sample, { calls: 1, successes: 0, timed: 0, latency: 0 })
 * ```
 *
 * @since 0.1.0
 * @category samples
 */
export const record = (sample: Sample, call: Call): Sample => {
  const { latency, outcome } = call
  const timed = outcome !== "rescued" && latency !== undefined && Number.isFinite(latency) && latency >= 0
  return {
    calls: sample.calls + 1,
    successes: sample.successes + (outcome === "served" ? 1 : 0),
    timed: sample.timed + (timed ? 1 : 0),
    latency: sample.latency + (timed ? latency : 0)
  }
}

/**
 * Adds up two samples of one provider.
 *
 * @example
 * ```ts
 * import * as Health from "@switchgear/core/Health"
 * import assert from "node:assert"
 *
 * const monday = { calls: 3, successes: 2, timed: 3, latency: 600 }
 * const tuesday = { calls: 1, successes: 1, timed: 1, latency: 100 }
 * assert.deepStrictEqual(Health.combine(monday, tuesday), { calls: 4, successes: 3, timed: 4, latency: 700 })
 * ```
 *
 * @since 0.1.0
 * @category samples
 */
export const combine = (a: Sample, b: Sample): Sample => ({
  calls: a.calls + b.calls,
  successes: a.successes + b.successes,
  timed: a.timed + b.timed,
  latency: a.latency + b.latency
})

/**
 * `successWeight * successRate + latencyWeight * (1 - min(1, meanLatency / slow))`, in [0, 1] where the weights add up
 * to 1. Without a latency there is no penalty; without a call the score is 0.5: neutral, never sunk.
 *
 * @example
 * ```ts
 * import * as Health from "@switchgear/core/Health"
 * import assert from "node:assert"
 *
 * const score = Health.score({ calls: 10, successes: 9, timed: 10, latency: 2_000 })
 * assert.strictEqual(Math.round(score * 1_000), 912)
 * assert.strictEqual(Health.score(Health.empty), 0.5)
 * ```
 *
 * @since 0.1.0
 * @category scoring
 */
export const score = (sample: Sample, settings: Settings = defaults): number => {
  if (!(sample.calls > 0)) return 0.5
  const successRate = Math.min(1, Math.max(0, sample.successes / sample.calls))
  const penalty = sample.timed > 0 ? Math.min(1, sample.latency / sample.timed / settings.slow) : 0
  return settings.successWeight * successRate + settings.latencyWeight * (1 - penalty)
}
