import type { Cause, Counters, KindCount } from "./model.js"

/** A bucket, so many periods old. */
export interface BucketSnapshot {
  readonly age: number
  readonly samples: number
  readonly failures: number
  readonly slow: number
  readonly kinds: ReadonlyArray<KindCount>
}

export interface CountersSnapshot {
  readonly mode: Counters["mode"]
  readonly streak: number
  /** `null` under Consecutive. Oldest first. */
  readonly window: { readonly bucketPeriod: number; readonly buckets: ReadonlyArray<BucketSnapshot> } | null
  readonly kinds: ReadonlyArray<KindCount>
  readonly otherKinds: number
  readonly kindStreaks: ReadonlyArray<KindCount>
  readonly kindTimes: ReadonlyArray<{
    readonly kind: string
    readonly times: ReadonlyArray<{ readonly age: number; readonly count: number }>
  }>
  readonly latestKind: string | null
  /** ms from the snapshot to the hint; negative when it has passed. */
  readonly hint: number | null
}

/** The probes of a HalfOpen: what a store shared by several processes has to know of them. */
export interface ProbesSnapshot {
  readonly successes: number
  /** ms until each lease ends; negative when it has. */
  readonly leases: ReadonlyArray<{ readonly id: number; readonly remaining: number }>
  /** The id of the next lease. */
  readonly next: number
}

/** Ages and remainders in ms, at the moment of the snapshot. A remainder is negative when its time has passed. */
export type StateSnapshot =
  | {
      readonly _tag: "Closed" | "Degraded"
      /** Since the recovery from HalfOpen. */
      readonly recovered: number | null
      readonly counters: CountersSnapshot
    }
  | { readonly _tag: "Open"; readonly remaining: number; readonly cooldown: number; readonly cause: Cause }
  | { readonly _tag: "HalfOpen"; readonly cause: Cause; readonly probes?: ProbesSnapshot }
  | { readonly _tag: "ForcedOpen"; readonly remaining: number | null; readonly kept: number | null }
  | { readonly _tag: "ForcedClosed" }

/**
 * A breaker's state as versioned JSON.
 *
 * @since 0.1.0
 * @category models
 */
export interface Snapshot {
  readonly version: 1
  /** ms since 1970, when it was taken. */
  readonly wall: number
  readonly era: number
  /** ms since the state was entered. */
  readonly age: number
  readonly openings: number
  readonly state: StateSnapshot
}
