import type * as Breaker from "@switchgear/core/Breaker"
import type * as Policy from "@switchgear/core/Policy"

/** A policy as plain data: what a decoded one is, without its brand. */
export type PlainPolicy = { readonly [K in keyof Policy.Policy as K extends string ? K : never]: Policy.Policy[K] }

/** One counted report, kept as long as its era lasts. */
export interface Counted {
  /** ms; when it was reported (SEMANTICS R4). */
  readonly at: number
  /** `floor(at / bucketPeriod)`; `null` without a rolling rule (SEMANTICS P1). */
  readonly bucket: number | null
  readonly taken: "failure" | "success"
  /** `null` on a success. */
  readonly kind: string | null
  /** ms */
  readonly latency: number
  /** ms the answer asked to wait; `null`: nothing usable (SEMANTICS C3). */
  readonly retryAfter: number | null
}

/** One probe given in a HalfOpen era, whatever became of it. */
export interface Lease {
  readonly id: number
  readonly until: number
  /** Its report was applied (SEMANTICS R2). */
  readonly used: boolean
}

/** Everything that happened in the era, and nothing that could be worked out from it. */
export interface NaiveState {
  readonly held: Breaker.State["_tag"]
  readonly at: number
  readonly era: number
  readonly outcomes: ReadonlyArray<Counted>
  readonly leases: ReadonlyArray<Lease>
  /** The deadline of Open; that of ForcedOpen with a `for`. */
  readonly until: number | null
  /** ForcedOpen: the deadline of the Open it replaced (SEMANTICS M1). */
  readonly kept: number | null
  /** Openings since the last recovery, whether or not they are still in force (SEMANTICS C5). */
  readonly openings: number
  /** When HalfOpen recovered into this era; `null`: it was reached otherwise. */
  readonly recoveredAt: number | null
}

/** SEMANTICS R3: a new era, with nothing counted. */
export const freshEra = (
  state: NaiveState,
  held: NaiveState["held"],
  at: number,
  fields: Partial<Pick<NaiveState, "until" | "kept" | "openings" | "recoveredAt" | "leases">>
): NaiveState => ({
  held,
  at,
  era: state.era + 1,
  outcomes: [],
  leases: [],
  until: null,
  kept: null,
  openings: 0,
  recoveredAt: null,
  ...fields
})

/** SEMANTICS T4: sums saturate at the largest safe integer. */
export const plus = (a: number, b: number): number =>
  Math.max(Number.MIN_SAFE_INTEGER, Math.min(Number.MAX_SAFE_INTEGER, a + b))
