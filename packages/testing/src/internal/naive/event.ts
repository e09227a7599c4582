import type { NaiveState } from "./state.js"

/** A transition, with the number of the rule behind it (SEMANTICS S3). */
export interface NaiveEvent {
  readonly from: NaiveState["held"]
  readonly to: NaiveState["held"]
  readonly at: number
  readonly era: number
  readonly reason: { readonly rule: string }
}

export const transition = (from: NaiveState, to: NaiveState, at: number, rule: string): NaiveEvent => ({
  from: from.held,
  to: to.held,
  at,
  era: to.era,
  reason: { rule }
})
