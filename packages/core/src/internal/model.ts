/**
 * SEMANTICS R1. What the caller reports for a permit.
 *
 * @since 0.1.0
 * @category models
 */
export type Outcome = Success | Failure | Ignored | Released

/**
 * The call succeeded.
 *
 * @since 0.1.0
 * @category models
 */
export interface Success {
  readonly _tag: "Success"
  /** ms; without it the time since admission. */
  readonly latency?: number | undefined
}

/**
 * The call failed. Whether that counts is the policy's `outcomes` (SEMANTICS P4).
 *
 * @since 0.1.0
 * @category models
 */
export interface Failure {
  readonly _tag: "Failure"
  readonly kind: string
  readonly status?: number | undefined
  /** ms the answer asked us to wait. */
  readonly retryAfter?: number | undefined
  /** ms; without it the time since admission. */
  readonly latency?: number | undefined
}

/**
 * Answered, but no health signal.
 *
 * @since 0.1.0
 * @category models
 */
export interface Ignored {
  readonly _tag: "Ignored"
}

/**
 * Cancelled before an answer.
 *
 * @since 0.1.0
 * @category models
 */
export interface Released {
  readonly _tag: "Released"
}

/**
 * The right to make one call.
 *
 * @since 0.1.0
 * @category models
 */
export interface Permit {
  readonly era: number
  /** ms; when the call was admitted. */
  readonly at: number
  /** The lease of a probe; absent on the permit of a Closed, Degraded or ForcedClosed breaker. */
  readonly probe?: number | undefined
}

/**
 * The call may be made; `permit` is for its report.
 *
 * @since 0.1.0
 * @category models
 */
export interface Admitted {
  readonly _tag: "Admitted"
  readonly permit: Permit
}

/**
 * The call may not be made now.
 *
 * @since 0.1.0
 * @category models
 */
export interface Rejected {
  readonly _tag: "Rejected"
  /** ms until a call may be tried again; absent when only a command ends it (SEMANTICS M1). */
  readonly retryAfter?: number | undefined
}

/**
 * What `acquire` answers.
 *
 * @since 0.1.0
 * @category models
 */
export type Admission = Admitted | Rejected

/**
 * Whether a report counted. `Stale`: its era or its lease is over (SEMANTICS R2).
 *
 * @since 0.1.0
 * @category models
 */
export type Reported = "Applied" | "Stale"

/**
 * Manual control (SEMANTICS M1).
 *
 * @since 0.1.0
 * @category models
 */
export type Command =
  | { readonly _tag: "ForceOpen"; readonly for?: number | undefined }
  | { readonly _tag: "ForceClosed" }
  | { readonly _tag: "Auto" }
  | { readonly _tag: "Reset" }

/**
 * The failures of one kind.
 *
 * @since 0.1.0
 * @category models
 */
export interface KindCount {
  readonly kind: string
  readonly count: number
}

/**
 * Why a breaker is Open: the rule's number and the counts that decided.
 *
 * @since 0.1.0
 * @category models
 */
export type Cause =
  | {
      readonly rule: "P1"
      readonly by: "streak"
      readonly kind: string | null
      readonly failures: number
      readonly threshold: number
    }
  | {
      readonly rule: "P1"
      readonly by: "failureRate"
      readonly kind: string | null
      readonly failures: number
      readonly samples: number
      readonly threshold: number
    }
  | {
      readonly rule: "P1"
      readonly by: "slowRate"
      readonly kind: string | null
      readonly slow: number
      readonly samples: number
      readonly threshold: number
    }
  | {
      readonly rule: "P3"
      readonly by: "kind"
      readonly kind: string
      readonly failures: number
      readonly threshold: number
      readonly window: number | null
    }
  | {
      readonly rule: "P5"
      readonly by: "probe"
      readonly kind: string
      readonly successes: number
      readonly successThreshold: number
    }
  | { readonly rule: "M1"; readonly by: "command"; readonly command: Command["_tag"] }

/**
 * Why a transition happened. A trip carries its cause.
 *
 * @since 0.1.0
 * @category models
 */
export type Reason =
  | Cause
  | { readonly rule: "A3"; readonly by: "deadline" }
  | { readonly rule: "P5"; readonly by: "recovery"; readonly successes: number; readonly successThreshold: number }
  | { readonly rule: "D1"; readonly by: "degraded" | "recovered"; readonly level: number; readonly threshold: number }
  | { readonly rule: "D2"; readonly by: "silence"; readonly samples: number; readonly minSamples: number }

/**
 * A transition, as data (SEMANTICS S3). `from` and `to` name states as they are held, not as they read.
 *
 * @since 0.1.0
 * @category models
 */
export interface Event {
  readonly from: State["_tag"]
  readonly to: State["_tag"]
  readonly at: number
  /** The era after the transition. */
  readonly era: number
  readonly reason: Reason
}

/**
 * What one period of a rolling window has counted.
 *
 * @since 0.1.0
 * @category models
 */
export interface Bucket {
  /** `floor(now / bucketPeriod)` */
  readonly index: number
  readonly samples: number
  readonly failures: number
  readonly slow: number
  /** Failures by kind, for the kinds that a rule without a window names. */
  readonly kinds: ReadonlyArray<KindCount>
}

/**
 * The buckets whose time is over, oldest first, and their totals.
 *
 * @since 0.1.0
 * @category models
 */
export interface Sealed {
  readonly buckets: ReadonlyArray<Bucket>
  readonly samples: number
  readonly failures: number
  readonly slow: number
  readonly kinds: ReadonlyArray<KindCount>
}

/**
 * The rolling window: the current bucket, apart from the sealed ones.
 *
 * @since 0.1.0
 * @category models
 */
export interface Window {
  /** ms */
  readonly bucketPeriod: number
  readonly current: Bucket
  readonly sealed: Sealed
}

/**
 * When failures of a kind with a windowed rule happened, oldest first; `count` of them in one ms.
 *
 * @since 0.1.0
 * @category models
 */
export interface KindTimes {
  readonly kind: string
  readonly times: ReadonlyArray<{ readonly at: number; readonly count: number }>
}

/**
 * What an era remembers of its failures; a success changes it seldom.
 *
 * @since 0.1.0
 * @category models
 */
export interface Failed {
  /** By kind, the first 16 kinds. */
  readonly kinds: ReadonlyArray<KindCount>
  /** Those of the kinds beyond them. */
  readonly otherKinds: number
  /** Counts of the kinds whose rule has no window, under Consecutive and AnyOf. */
  readonly kindStreaks: ReadonlyArray<KindCount>
  readonly kindTimes: ReadonlyArray<KindTimes>
  /** Kind of the latest failure counted (SEMANTICS C2). */
  readonly latestKind: string | null
  /** The furthest time an answer asked us to wait for (SEMANTICS C3). */
  readonly hint: number | null
}

/**
 * What one era of Closed and Degraded has counted (SEMANTICS R3).
 *
 * @since 0.1.0
 * @category models
 */
export interface Counters {
  readonly mode: "Consecutive" | "Rolling" | "AnyOf"
  /** 0 under Rolling. */
  readonly streak: number
  /** `null` under Consecutive. */
  readonly window: Window | null
  readonly failed: Failed
}

interface Base {
  /** ms; when something last happened (SEMANTICS T2). */
  readonly at: number
  readonly era: number
  /** ms; when this state was entered. */
  readonly since: number
  /** Openings since the last recovery (SEMANTICS C1); in Closed and Degraded only while C5 keeps them. */
  readonly openings: number
}

/**
 * Admits every call and counts.
 *
 * @since 0.1.0
 * @category models
 */
export interface Closed extends Base {
  readonly _tag: "Closed"
  /** ms; when HalfOpen recovered into this era. `null`: reached otherwise. */
  readonly recoveredAt: number | null
  readonly counters: Counters
}

/**
 * Admits every call; failures have reached the degradation threshold (SEMANTICS D1).
 *
 * @since 0.1.0
 * @category models
 */
export interface Degraded extends Base {
  readonly _tag: "Degraded"
  readonly recoveredAt: number | null
  readonly counters: Counters
}

/**
 * Rejects until its deadline.
 *
 * @since 0.1.0
 * @category models
 */
export interface Open extends Base {
  readonly _tag: "Open"
  /** ms; inclusive: a probe is admitted at exactly this time. */
  readonly until: number
  /** ms; as chosen when it opened. */
  readonly cooldown: number
  readonly cause: Cause
}

/**
 * The time a probe may stay unreported.
 *
 * @since 0.1.0
 * @category models
 */
export interface Lease {
  readonly id: number
  /** ms; out while `now < until`. */
  readonly until: number
}

/**
 * Admits probes, each with a lease (SEMANTICS A4, A5).
 *
 * @since 0.1.0
 * @category models
 */
export interface HalfOpen extends Base {
  readonly _tag: "HalfOpen"
  readonly cause: Cause
  readonly successes: number
  /** Earliest first. */
  readonly leases: ReadonlyArray<Lease>
  readonly nextLease: number
}

/**
 * Rejects everything, by command.
 *
 * @since 0.1.0
 * @category models
 */
export interface ForcedOpen extends Base {
  readonly _tag: "ForcedOpen"
  /** ms; `null`: until another command. */
  readonly until: number | null
  /** The deadline of the Open it replaced. */
  readonly kept: number | null
  readonly cause: Cause
}

/**
 * Admits everything and counts nothing, by command.
 *
 * @since 0.1.0
 * @category models
 */
export interface ForcedClosed extends Base {
  readonly _tag: "ForcedClosed"
}

/**
 * SEMANTICS S2: plain data; it belongs to the policy it was made with.
 *
 * @since 0.1.0
 * @category models
 */
export type State = Closed | Degraded | Open | HalfOpen | ForcedOpen | ForcedClosed

/**
 * The four states a caller can tell apart.
 *
 * @since 0.1.0
 * @category models
 */
export type ObservedState = "Closed" | "Degraded" | "Open" | "HalfOpen"

/**
 * What a person or a router asks (SEMANTICS S4). Durations and times in ms.
 *
 * @since 0.1.0
 * @category models
 */
export interface View {
  readonly state: ObservedState
  readonly forced: boolean
  readonly since: number
  readonly era: number
  readonly openings: number
  /** What a caller refused now would be told; 0 if it would be admitted; absent if only a command ends it. */
  readonly retryAfter?: number
  /** The deadline, while Open and limited. */
  readonly until?: number
  /** Why it is Open or HalfOpen. */
  readonly cause?: Cause
  /** Under Consecutive and AnyOf. */
  readonly streak?: number
  /** Under Rolling and AnyOf. */
  readonly samples?: number
  readonly failures?: number
  readonly slow?: number
  /** Samples still missing to the minimum. */
  readonly missingSamples?: number
  /** HalfOpen: successes so far and leases out. */
  readonly successes?: number
  readonly leases?: number
  /** Failures by kind in this era: the first 16 kinds, the rest as `_other`. */
  readonly kinds: Readonly<Record<string, number>>
}
