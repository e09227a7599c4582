/**
 * The figures of a simulation: what each is called, means and is counted in.
 *
 * @since 0.1.0
 */

/**
 * What is counted.
 *
 * @since 0.1.0
 * @category models
 */
export type FigureName =
  | "availability"
  | "failed"
  | "rescued"
  | "rejected"
  | "wasted"
  | "timeToOpen"
  | "timeToRecover"
  | "falseTrips"
  | "probes"
  | "addedLatencyP50"
  | "addedLatencyP95"
  | "addedLatencyP99"
  | "cost"
  | "fallbackLoad"

/**
 * `share` is 0..1, `ms` milliseconds, `usd` US dollars, `calls` and `trips` counts a run, `perSecond` calls a second.
 *
 * @since 0.1.0
 * @category models
 */
export type Unit = "share" | "calls" | "trips" | "ms" | "usd" | "perSecond"

/**
 * What a reader needs to show a figure.
 *
 * @since 0.1.0
 * @category models
 */
export interface Figure {
  readonly name: FigureName
  /** A heading of a few words. */
  readonly label: string
  readonly unit: Unit
  readonly better: "higher" | "lower" | "neither"
  /** One sentence. */
  readonly meaning: string
}

/**
 * Every figure, in the order in which a report shows them.
 *
 * @example
 * ```ts
 * import * as Figure from "@switchgear/simulator/Figure"
 *
 * console.log(Figure.all[0]?.name) // "availability"
 * ```
 *
 * @since 0.1.0
 * @category values
 */
export const all: ReadonlyArray<Figure> = [
  {
    name: "availability",
    label: "availability",
    unit: "share",
    better: "higher",
    meaning:
      "Calls that were answered in the end, their client's retries included, of those whose client did not change its mind."
  },
  {
    name: "failed",
    label: "failed",
    unit: "calls",
    better: "lower",
    meaning: "Calls that were never answered: refused, failed or too late, and so was every retry of their client."
  },
  {
    name: "rescued",
    label: "rescued",
    unit: "calls",
    better: "neither",
    meaning: "Tries that a fallback answered."
  },
  {
    name: "rejected",
    label: "refused",
    unit: "calls",
    better: "lower",
    meaning: "Tries that were refused locally because every target was open or saturated."
  },
  {
    name: "wasted",
    label: "wasted",
    unit: "calls",
    better: "lower",
    meaning: "Attempts at a provider while it was sick that got no good answer from it."
  },
  {
    name: "timeToOpen",
    label: "time to open",
    unit: "ms",
    better: "lower",
    meaning: "From the beginning of a sickness to the first opening of the provider's breaker."
  },
  {
    name: "timeToRecover",
    label: "time to recover",
    unit: "ms",
    better: "lower",
    meaning:
      "From the end of a sickness, if a breaker of the provider was open then, to the moment none was; at least until the next sickness."
  },
  {
    name: "falseTrips",
    label: "false trips",
    unit: "trips",
    better: "lower",
    meaning: "Openings of a closed breaker while its provider was not sick."
  },
  {
    name: "probes",
    label: "probes",
    unit: "calls",
    better: "neither",
    meaning: "Attempts that were made to find out whether a provider is back."
  },
  {
    name: "addedLatencyP50",
    label: "added p50",
    unit: "ms",
    better: "lower",
    meaning:
      "Median of what an answered call took, retries included, beyond what its first choice would have taken in health."
  },
  {
    name: "addedLatencyP95",
    label: "added p95",
    unit: "ms",
    better: "lower",
    meaning: "95th percentile of the same."
  },
  {
    name: "addedLatencyP99",
    label: "added p99",
    unit: "ms",
    better: "lower",
    meaning: "99th percentile of the same."
  },
  {
    name: "cost",
    label: "cost",
    unit: "usd",
    better: "lower",
    meaning: "What all good answers cost, by the scenario's prices."
  },
  {
    name: "fallbackLoad",
    label: "fallback load",
    unit: "perSecond",
    better: "neither",
    meaning: "The busiest second of attempts at a model that was not asked for."
  }
]

/**
 * A record with something for every figure.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Figure from "@switchgear/simulator/Figure"
 *
 * assert.strictEqual(Figure.record((name) => name.length).cost, 4)
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const record = <A>(of: (name: FigureName) => A): Readonly<Record<FigureName, A>> => ({
  availability: of("availability"),
  failed: of("failed"),
  rescued: of("rescued"),
  rejected: of("rejected"),
  wasted: of("wasted"),
  timeToOpen: of("timeToOpen"),
  timeToRecover: of("timeToRecover"),
  falseTrips: of("falseTrips"),
  probes: of("probes"),
  addedLatencyP50: of("addedLatencyP50"),
  addedLatencyP95: of("addedLatencyP95"),
  addedLatencyP99: of("addedLatencyP99"),
  cost: of("cost"),
  fallbackLoad: of("fallbackLoad")
})
