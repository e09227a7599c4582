import type { Counted, NaiveState, PlainPolicy } from "./state.js"

type Rolling = Omit<Extract<PlainPolicy["trip"], { readonly _tag: "Rolling" }>, "_tag">
type Consecutive = Omit<Extract<PlainPolicy["trip"], { readonly _tag: "Consecutive" }>, "_tag">

/** The rolling rule of a policy, if it has one (SEMANTICS P1). */
export const rollingRule = (policy: PlainPolicy): Rolling | null =>
  policy.trip._tag === "Rolling" ? policy.trip : policy.trip._tag === "AnyOf" ? policy.trip.rolling : null

/** The consecutive rule of a policy, if it has one (SEMANTICS P1). */
export const consecutiveRule = (policy: PlainPolicy): Consecutive | null =>
  policy.trip._tag === "Consecutive" ? policy.trip : policy.trip._tag === "AnyOf" ? policy.trip.consecutive : null

/** SEMANTICS P1: up one on each failure that `counts`; on a success back to 0, or down by `decayBy` but not below 0. */
export const streak = (
  rule: Consecutive,
  outcomes: ReadonlyArray<Counted>,
  counts: (outcome: Counted) => boolean
): number => {
  let count = 0
  for (const outcome of outcomes) {
    if (outcome.taken === "success") {
      count = rule.onSuccess === "reset" ? 0 : Math.max(0, count - rule.onSuccess.decayBy)
    } else if (counts(outcome)) {
      count = count + 1
    }
  }
  return count
}

/** SEMANTICS P1: what lies in the current bucket and the `window / bucketPeriod - 1` before it. */
export const inWindow = (rule: Rolling, outcomes: ReadonlyArray<Counted>, now: number): ReadonlyArray<Counted> => {
  const current = Math.floor(now / rule.bucketPeriod)
  const buckets = rule.window / rule.bucketPeriod
  return outcomes.filter((outcome) => outcome.bucket !== null && outcome.bucket > current - buckets)
}

export const isFailure = (outcome: Counted): boolean => outcome.taken === "failure"

/** SEMANTICS P1: a success or failure that took at least `slowCallDuration`. */
export const isSlow = (rule: Rolling, outcome: Counted): boolean =>
  rule.slowCallDuration !== undefined && outcome.latency >= rule.slowCallDuration

/** SEMANTICS P1: the quotient as a double, unrounded; `null` below the minimum of samples. */
export const failureRate = (rule: Rolling, outcomes: ReadonlyArray<Counted>, now: number): number | null => {
  const window = inWindow(rule, outcomes, now)
  return window.length < rule.minSamples ? null : window.filter(isFailure).length / window.length
}

/** SEMANTICS P1, with the same minimum. */
export const slowRate = (rule: Rolling, outcomes: ReadonlyArray<Counted>, now: number): number | null => {
  const window = inWindow(rule, outcomes, now)
  return window.length < rule.minSamples
    ? null
    : window.filter((outcome) => isSlow(rule, outcome)).length / window.length
}

/** SEMANTICS P3: failures of one kind, by the span its rule looks at. */
export const kindCount = (
  policy: PlainPolicy,
  outcomes: ReadonlyArray<Counted>,
  kind: string,
  window: number | undefined,
  now: number
): number => {
  const ofKind = (outcome: Counted): boolean => outcome.taken === "failure" && outcome.kind === kind
  if (window !== undefined) {
    return outcomes.filter((outcome) => ofKind(outcome) && outcome.at > now - window).length
  }
  if (policy.trip._tag === "Rolling") {
    return inWindow(policy.trip, outcomes, now).filter(ofKind).length
  }
  const rule = policy.trip._tag === "AnyOf" ? policy.trip.consecutive : policy.trip
  return streak(rule, outcomes, ofKind)
}

/** SEMANTICS S4: failures of the era by kind, the first 16 kinds by name and the rest as `_other`. */
export const kindsOfEra = (outcomes: ReadonlyArray<Counted>): Readonly<Record<string, number>> => {
  const kinds = new Map<string, number>()
  let others = 0
  for (const { kind } of outcomes) {
    if (kind === null) continue
    if (kinds.has(kind) || kinds.size < 16) kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
    else others = others + 1
  }
  if (others > 0) kinds.set("_other", (kinds.get("_other") ?? 0) + others)
  return Object.fromEntries(kinds)
}

/** SEMANTICS C5: a recovery's count stands until `resetAfter` has passed; otherwise it is 0 in Closed and Degraded. */
export const openingsInForce = (policy: PlainPolicy, state: NaiveState, now: number): number => {
  if (state.held !== "Closed" && state.held !== "Degraded") return state.openings
  if (state.recoveredAt === null) return 0
  return now - state.recoveredAt >= policy.cooldown.resetAfter ? 0 : state.openings
}

/** SEMANTICS D2: with a rate, a window fallen below the minimum reads Closed. */
export const fallenSilent = (policy: PlainPolicy, state: NaiveState, now: number): boolean => {
  const rule = rollingRule(policy)
  return state.held === "Degraded" && rule !== null && inWindow(rule, state.outcomes, now).length < rule.minSamples
}
