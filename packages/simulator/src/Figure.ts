/**
 * The figures of a simulation: what each is called, means and is counted in.
 *
 * @since 0.1.0
 */

/**
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
    meaning: "Calls that got an answer in time, of those whose client did not leave."
  },
  {
    name: "failed",
    label: "failed",
    unit: "calls",
    better: "lower",
    meaning: "Calls that ended with an error or after the client's timeout, refused ones included."
  },
  {
    name: "rescued",
    label: "rescued",
    unit: "calls",
    better: "neither",
    meaning: "Calls that a fallback answered."
  },
  {
    name: "rejected",
    label: "refused",
    unit: "calls",
    better: "lower",
    meaning: "Calls that were refused locally because every target was open or saturated."
  },
  {
    name: "wasted",
    label: "wasted",
    unit: "calls",
    better: "lower",
    meaning: "Calls sent to a provider while it was sick that it did not answer well."
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
    meaning: "From the end of a sickness to the moment every breaker of the provider was closed again."
  },
  {
    name: "falseTrips",
    label: "false trips",
    unit: "trips",
    better: "lower",
    meaning: "Openings of a closed breaker while its provider was healthy."
  },
  {
    name: "probes",
    label: "probes",
    unit: "calls",
    better: "neither",
    meaning: "Calls that were sent to find out whether a provider is back."
  },
  {
    name: "addedLatencyP50",
    label: "added p50",
    unit: "ms",
    better: "lower",
    meaning: "Median time that a served call took beyond the attempt that served it."
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
    meaning: "What all answered attempts cost, by the scenario's prices."
  },
  {
    name: "fallbackLoad",
    label: "fallback load",
    unit: "perSecond",
    better: "neither",
    meaning: "The busiest second of any provider that is only a fallback, in calls."
  }
]
