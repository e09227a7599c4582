/**
 * What a simulation tells: figures over all its runs, and what happened in the first of them. Plain JSON: the same
 * scenario, policy and seed give the same bytes.
 *
 * @since 0.1.0
 */
import type * as Breaker from "@switchgear/core/Breaker"
import type { FigureName } from "./Figure.js"

/**
 * A figure over the runs: the mean, and the 95 % confidence interval of that mean. With one run, or when all runs agree,
 * both ends are the mean.
 *
 * @since 0.1.0
 * @category models
 */
export interface Estimate {
  readonly mean: number
  readonly low: number
  readonly high: number
  /** Runs that have this figure: a run in which nothing opened has no time to open. */
  readonly runs: number
}

/**
 * Every figure; `null` where no run has it.
 *
 * @since 0.1.0
 * @category models
 */
export type Figures = Readonly<Record<FigureName, Estimate | null>>

/**
 * A stretch of time in which a breaker of one replica was in one state, as it reads: a forced state by what it does, an Open past its deadline as HalfOpen.
 *
 * @since 0.1.0
 * @category models
 */
export interface Band {
  readonly breaker: string
  /** From 0. */
  readonly replica: number
  /** ms since the run began. */
  readonly from: number
  /** ms since the run began; the next band's `from`, or the end of the run. */
  readonly to: number
  readonly state: Breaker.ObservedState
  /** Why this state was entered; `null` for the state at the beginning. */
  readonly reason: Breaker.Reason | null
}

/**
 * A stretch of time in which a provider behaved in one way, as the scenario scripted it.
 *
 * @since 0.1.0
 * @category models
 */
export interface PhaseBand {
  /** ms since the run began. */
  readonly from: number
  /** ms since the run began. */
  readonly to: number
  /** "healthy", "brown-out", "slow", "hang", ... */
  readonly phase: string
  /** Calls that meet this phase are likely to fail or to be late: it is what a breaker should notice. */
  readonly sick: boolean
}

/**
 * One provider over time.
 *
 * @since 0.1.0
 * @category models
 */
export interface ProviderTimeline {
  readonly name: string
  readonly phases: ReadonlyArray<PhaseBand>
  readonly bands: ReadonlyArray<Band>
  /** Calls that reached it, by bin. */
  readonly calls: ReadonlyArray<number>
}

/**
 * The first run over time. Each array has one number a bin: `ceil(durationMs / binMs)` of them. A call is counted in the bin of its arrival.
 *
 * @since 0.1.0
 * @category models
 */
export interface Timeline {
  /** Width of a bin, in ms. */
  readonly binMs: number
  /** Calls that clients began, retries of clients included. */
  readonly arrivals: ReadonlyArray<number>
  /** Answered by the model that was asked for. */
  readonly served: ReadonlyArray<number>
  /** Answered by a fallback. */
  readonly rescued: ReadonlyArray<number>
  /** Answered with an upstream's error, or too late for the client. */
  readonly failed: ReadonlyArray<number>
  /** Refused locally: every target was open or saturated. */
  readonly rejected: ReadonlyArray<number>
  /** The client left before an answer and did not call it a failure. */
  readonly aborted: ReadonlyArray<number>
  readonly providers: ReadonlyArray<ProviderTimeline>
}

/**
 * A breaker's change of state in the first run.
 *
 * @since 0.1.0
 * @category models
 */
export interface Transition {
  /** ms since the run began. */
  readonly at: number
  readonly provider: string
  readonly breaker: string
  readonly replica: number
  /** States as they are held: forced ones by their own names. */
  readonly from: Breaker.State["_tag"]
  readonly to: Breaker.State["_tag"]
  readonly reason: Breaker.Reason
}

/**
 * One scenario under one policy.
 *
 * @since 0.1.0
 * @category models
 */
export interface RunReport {
  readonly scenario: string
  /** What the scenario is about, in one sentence. */
  readonly description: string
  /** The policy's name: a preset's, a file's, `scenario` for the scenario's own, or `none` for no breaker at all. */
  readonly policy: string
  /** Run `i` has the seed `seed + i`. */
  readonly seed: number
  readonly runs: number
  /** Of one run. */
  readonly durationMs: number
  /** Calls that clients began, over all runs. */
  readonly calls: number
  readonly figures: Figures
  readonly timeline: Timeline
  /** In order. */
  readonly transitions: ReadonlyArray<Transition>
}
