import type * as Breaker from "@switchgear/core/Breaker"
import {
  consecutiveRule,
  fallenSilent,
  inWindow,
  isFailure,
  isSlow,
  kindsOfEra,
  openingsInForce,
  rollingRule,
  streak
} from "./count.js"
import { type NaiveState, type PlainPolicy, plus } from "./state.js"

/** What the naive machine answers to `observe`: the part of the real view that SEMANTICS settles. */
export type NaiveView = Omit<Breaker.View, "since" | "cause">

/** SEMANTICS A3, M1: Open, or ForcedOpen with a `for`, at or past its deadline. */
export const isPastDeadline = (state: NaiveState, now: number): boolean =>
  (state.held === "Open" || state.held === "ForcedOpen") && state.until !== null && now >= state.until

/** SEMANTICS T3: leases given, not used up and not run out. */
export const leasesOut = (state: NaiveState, now: number): ReadonlyArray<{ readonly until: number }> =>
  state.leases.filter((lease) => !lease.used && now < lease.until)

/** SEMANTICS A3, D2, M1: the state as it reads. */
export const observed = (policy: PlainPolicy, state: NaiveState, now: number): Breaker.ObservedState => {
  if (isPastDeadline(state, now)) return "HalfOpen"
  if (state.held === "ForcedOpen") return "Open"
  if (state.held === "ForcedClosed" || fallenSilent(policy, state, now)) return "Closed"
  return state.held
}

/** SEMANTICS S4: what a caller refused now would be told; `null` if only a command ends it. */
export const retryAfter = (policy: PlainPolicy, state: NaiveState, now: number): number | null => {
  const reads = observed(policy, state, now)
  // A2, M1
  if (reads === "Open") return state.until === null ? null : plus(state.until, -now)
  // A4
  const out = leasesOut(state, now)
  if (reads === "HalfOpen" && out.length >= policy.halfOpen.maxProbes) {
    return plus(Math.min(...out.map((lease) => lease.until)), -now)
  }
  return 0
}

export const view = (policy: PlainPolicy, state: NaiveState, now: number): NaiveView => {
  const consecutive = consecutiveRule(policy)
  const rolling = rollingRule(policy)
  const reads = observed(policy, state, now)
  const wait = retryAfter(policy, state, now)
  const window = rolling === null ? [] : inWindow(rolling, state.outcomes, now)
  // R3: what a probe reported is in no streak and no window
  const calls = state.held === "HalfOpen" ? [] : window
  return {
    state: reads,
    // S4: past its `for` it is not
    forced: (state.held === "ForcedOpen" && reads === "Open") || state.held === "ForcedClosed",
    era: state.era,
    openings: openingsInForce(policy, state, now),
    ...(wait === null ? {} : { retryAfter: wait }),
    ...(reads === "Open" && state.until !== null ? { until: state.until } : {}),
    ...(consecutive === null
      ? {}
      : { streak: state.held === "HalfOpen" ? 0 : streak(consecutive, state.outcomes, () => true) }),
    ...(rolling === null
      ? {}
      : {
          samples: calls.length,
          failures: calls.filter(isFailure).length,
          slow: calls.filter((outcome) => isSlow(rolling, outcome)).length,
          missingSamples: Math.max(0, rolling.minSamples - calls.length)
        }),
    ...(reads === "HalfOpen"
      ? { successes: state.held === "HalfOpen" ? state.outcomes.length : 0, leases: leasesOut(state, now).length }
      : {}),
    kinds: kindsOfEra(state.outcomes)
  }
}
