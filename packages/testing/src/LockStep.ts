/**
 * Two breakers through the same steps: the first difference in anything that can be asked of them.
 *
 * @since 0.1.0
 */
import * as Trace from "@switchgear/core/Trace"

/**
 * What two machines answered differently, at which step (from 0).
 *
 * @since 0.1.0
 * @category models
 */
export interface Difference {
  readonly step: number
  readonly field: string
  readonly left: unknown
  readonly right: unknown
}

/**
 * Everything of a view that SEMANTICS settles to the letter.
 *
 * @since 0.1.0
 * @category models
 */
export interface ComparedView extends Trace.Observed {
  readonly forced: boolean
  readonly era: number
  readonly openings: number
  readonly streak?: number
  readonly samples?: number
  readonly failures?: number
  readonly slow?: number
  readonly missingSamples?: number
  readonly successes?: number
  readonly leases?: number
  readonly kinds: Readonly<Record<string, number>>
}

const viewFields = [
  "state",
  "forced",
  "openings",
  "retryAfter",
  "until",
  "streak",
  "samples",
  "failures",
  "slow",
  "missingSamples",
  "successes",
  "leases"
] as const

const counts: ReadonlyArray<string> = ["streak", "samples", "failures", "slow", "successes", "leases"]

const fresh = (field: string, value: unknown): boolean =>
  field === "missingSamples" || (counts.includes(field) && (value === undefined || value === 0))

const sorted = (kinds: Readonly<Record<string, number>>): string =>
  JSON.stringify(Object.entries(kinds).sort(([one], [other]) => (one < other ? -1 : 1)))

/** Eras are compared from where each machine began: their first number means nothing. */
const told = (events: ReadonlyArray<Trace.Transition>, firstEra: number): string =>
  events
    .map(({ at, era, from, reason, to }) => `${from} -> ${to} at ${at}, era ${era - firstEra}, ${reason.rule}`)
    .join("; ")

const differs = <L extends ComparedView, R extends ComparedView>(
  index: number,
  left: Trace.Taken<unknown, L>,
  right: Trace.Taken<unknown, R>,
  eras: readonly [number, number]
): Difference | null => {
  const difference = (field: string, one: unknown, other: unknown): Difference => ({
    step: index,
    field,
    left: one,
    right: other
  })
  const unequal = (field: string, one: unknown, other: unknown): Difference | null =>
    one === other ? null : difference(field, one, other)
  const l = left.admission
  const r = right.admission
  const found =
    unequal("admission", l?._tag, r?._tag) ??
    unequal(
      "admission.retryAfter",
      l?._tag === "Rejected" ? l.retryAfter : undefined,
      r?._tag === "Rejected" ? r.retryAfter : undefined
    ) ??
    unequal("permit", left.permit === undefined, right.permit === undefined) ??
    unequal("permit.at", left.permit?.at, right.permit?.at) ??
    unequal("permit.probe", left.permit?.probe === undefined, right.permit?.probe === undefined) ??
    unequal("reported", left.reported, right.reported) ??
    (left.events.length + right.events.length === 0
      ? null
      : unequal("events", told(left.events, eras[0]), told(right.events, eras[1]))) ??
    unequal("view.era", left.view.era - eras[0], right.view.era - eras[1]) ??
    unequal("view.kinds", sorted(left.view.kinds), sorted(right.view.kinds))
  if (found !== null) return found
  // only Closed and Degraded count; elsewhere a view may leave out what is fresh (R3)
  const counting = (left.view.state === "Closed" || left.view.state === "Degraded") && !left.view.forced
  for (const field of viewFields) {
    const one = left.view[field]
    const other = right.view[field]
    if (one === other || (!counting && fresh(field, one) && fresh(field, other))) continue
    return difference(`view.${field}`, one, other)
  }
  return null
}

/** SEMANTICS T2: when something last happened, which a clock that steps back lets one see. */
const unequalTimes = (step: number, left: number, right: number): Difference | null =>
  left === right ? null : { step, field: "state.at", left, right }

/**
 * A pair of machines in the middle of a run.
 *
 * @since 0.1.0
 * @category models
 */
export interface Pair<L, R> {
  readonly left: Trace.Running<L>
  readonly right: Trace.Running<R>
  /** The eras in which they began. */
  readonly eras: readonly [number, number]
}

/**
 * Both machines at the first step's time, ms.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as LockStep from "@switchgear/testing/LockStep"
 * import * as Machines from "@switchgear/testing/Machines"
 *
 * const pair = LockStep.start(Machines.real, Machines.naive, Policy.hosted, 7)
 * assert.strictEqual(pair.left.state.at, pair.right.state.at)
 * ```
 *
 * @since 0.1.0
 * @category running
 */
export const start = <P, L, R, LV extends ComparedView, RV extends ComparedView>(
  left: Trace.Machine<P, L, LV>,
  right: Trace.Machine<P, R, RV>,
  policy: P,
  at: number
): Pair<L, R> => {
  const l = Trace.start(left, policy, at)
  const r = Trace.start(right, policy, at)
  return {
    left: l,
    right: r,
    eras: [left.observe(policy, l.state, at).era, right.observe(policy, r.state, at).era]
  }
}

/**
 * Takes one step on both and compares the admission, what was reported, the events and the view.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as LockStep from "@switchgear/testing/LockStep"
 * import * as Machines from "@switchgear/testing/Machines"
 *
 * const pair = LockStep.start(Machines.real, Machines.naive, Policy.hosted, 0)
 * const step = { at: 0, do: "acquire", call: "1" } as const
 * const { difference } = LockStep.take(Machines.real, Machines.naive, Policy.hosted, pair, step, 0)
 * assert.strictEqual(difference, null)
 * ```
 *
 * @since 0.1.0
 * @category running
 */
export const take = <P, L, R, LV extends ComparedView, RV extends ComparedView>(
  left: Trace.Machine<P, L, LV>,
  right: Trace.Machine<P, R, RV>,
  policy: P,
  pair: Pair<L, R>,
  step: Trace.Step,
  index: number
): { readonly next: Pair<L, R>; readonly taken: Trace.Taken<L, LV>; readonly difference: Difference | null } => {
  const l = Trace.take(left, policy, pair.left, step)
  const r = Trace.take(right, policy, pair.right, step)
  return {
    next: { left: l.next, right: r.next, eras: pair.eras },
    taken: l,
    difference: differs(index, l, r, pair.eras) ?? unequalTimes(index, left.at(l.next.state), right.at(r.next.state))
  }
}

/**
 * The first difference between two machines over a sequence of steps, or `null`.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as LockStep from "@switchgear/testing/LockStep"
 * import * as Machines from "@switchgear/testing/Machines"
 *
 * const steps = [{ at: 0, do: "acquire", call: "1" }, { at: 3, do: "failure", call: "1" }] as const
 * assert.strictEqual(LockStep.firstDifference(Machines.real, Machines.naive, Policy.hosted, steps), null)
 * ```
 *
 * @since 0.1.0
 * @category running
 */
export const firstDifference = <P, L, R, LV extends ComparedView, RV extends ComparedView>(
  left: Trace.Machine<P, L, LV>,
  right: Trace.Machine<P, R, RV>,
  policy: P,
  steps: ReadonlyArray<Trace.Step>
): Difference | null => {
  let pair = start(left, right, policy, steps[0]?.at ?? 0)
  for (const [index, step] of steps.entries()) {
    const { difference, next } = take(left, right, policy, pair, step, index)
    if (difference !== null) return difference
    pair = next
  }
  return null
}
