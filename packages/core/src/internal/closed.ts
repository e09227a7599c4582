import { open } from "./cooldown.js"
import {
  countFailure,
  countSuccess,
  fresh,
  level,
  rollingRule,
  tripAfterFailure,
  tripAfterSuccess
} from "./counters.js"
import { taken } from "./kinds.js"
import type { Cause, Closed, Counters, Degraded, Event, Failure, Outcome, Permit, State } from "./model.js"
import type { Policy, RollingRule } from "./policyModel.js"
import { duration, plus, remaining } from "./time.js"
import { roll, samplesOf } from "./window.js"

type Counting = Closed | Degraded

/** What an applied report gives. */
export type Applied = readonly ["Applied", State, ReadonlyArray<Event>]

export const noEvents: ReadonlyArray<Event> = []

/** A fresh Closed. `recovered`: reached from HalfOpen, whose openings C5 may keep. */
export const close = (policy: Policy, era: number, openings: number, recovered: boolean, now: number): Closed => ({
  _tag: "Closed",
  at: now,
  era,
  since: now,
  openings,
  recoveredAt: recovered ? now : null,
  counters: fresh(policy, now)
})

/** SEMANTICS C5: the openings that still count at `now`. */
export const openingsInForce = (policy: Policy, state: Counting, now: number): number =>
  state.recoveredAt !== null && plus(now, -state.recoveredAt) < policy.cooldown.resetAfter ? state.openings : 0

/** SEMANTICS D2: whether silence has taken so many samples that a Degraded breaker is Closed. */
export const silenced = (policy: Policy, state: Degraded, now: number): boolean => {
  const rolling = rollingRule(policy)
  return (
    rolling !== undefined &&
    state.counters.window !== null &&
    samplesOf(roll(rolling, state.counters.window, now)) < rolling.minSamples
  )
}

/** Whether the call was a slow one (SEMANTICS P1): by its own latency, or the time since admission. */
const isSlow = (rule: RollingRule | undefined, latency: number | undefined, permit: Permit, now: number): boolean =>
  rule?.slowCallDuration !== undefined && duration(latency, remaining(now, permit.at)) >= rule.slowCallDuration

/** How an outcome is handled (SEMANTICS R5, P4). */
export const handledAs = (policy: Policy, outcome: Outcome): "success" | "failure" | "ignored" => {
  switch (outcome._tag) {
    case "Success":
      return "success"
    case "Released":
      return "ignored"
    case "Ignored":
      return policy.ignoredAs === "success" ? "success" : "ignored"
    case "Failure": {
      const as = taken(policy, outcome.kind, outcome.status)
      return as === "ignored" && policy.ignoredAs === "success" ? "success" : as
    }
  }
}

/** The same era, later and with other counts. The same object where nothing differs. */
const moved = (state: Counting, tag: Counting["_tag"], since: number, counters: Counters, now: number): Counting =>
  now === state.at && counters === state.counters && tag === state._tag
    ? state
    : {
        _tag: tag,
        at: now,
        era: state.era,
        since,
        openings: state.openings,
        recoveredAt: state.recoveredAt,
        counters
      }

/** One admission, which only moves time. */
export const admitted = (state: Counting, now: number): Counting =>
  moved(state, state._tag, state.since, state.counters, now)

const trip = (
  policy: Policy,
  state: Counting,
  counters: Counters,
  cause: Cause,
  now: number,
  rnd: number,
  events: ReadonlyArray<Event>
): Applied => {
  const before = { era: state.era, openings: openingsInForce(policy, state, now) }
  const next = open(policy, before, cause, counters.failed.latestKind, counters.failed.hint, now, rnd)
  return ["Applied", next, [...events, { from: state._tag, to: "Open", at: now, era: next.era, reason: cause }]]
}

/** SEMANTICS D1: one move between Closed and Degraded, if the counts ask for it. */
const settle = (
  policy: Policy,
  state: Counting,
  counters: Counters,
  success: boolean,
  now: number,
  events: ReadonlyArray<Event>
): Applied => {
  if (policy.degradation !== undefined) {
    const reached = level(policy, counters)
    const { recoverAt, threshold } = policy.degradation
    const enter = state._tag === "Closed" && reached !== undefined && reached >= threshold
    const leave = state._tag === "Degraded" && success && reached !== undefined && reached <= recoverAt
    if (enter || leave) {
      const to = enter ? "Degraded" : "Closed"
      return [
        "Applied",
        moved(state, to, now, counters, now),
        [
          ...events,
          {
            from: state._tag,
            to,
            at: now,
            era: state.era,
            reason: enter
              ? { rule: "D1", by: "degraded", level: reached, threshold }
              : { rule: "D1", by: "recovered", level: reached, threshold: recoverAt }
          }
        ]
      ]
    }
  }
  return ["Applied", moved(state, state._tag, state.since, counters, now), events]
}

const succeed = (
  policy: Policy,
  state: Counting,
  slow: boolean,
  now: number,
  rnd: number,
  events: ReadonlyArray<Event>
): Applied => {
  const counters = countSuccess(policy, state.counters, slow, now)
  // On the healthy path a success changes no count, and no count means no move.
  if (counters === state.counters && state._tag === "Closed") {
    return ["Applied", moved(state, "Closed", state.since, counters, now), events]
  }
  const cause = tripAfterSuccess(policy, counters, slow)
  return cause === undefined
    ? settle(policy, state, counters, true, now, events)
    : trip(policy, state, counters, cause, now, rnd, events)
}

const fail = (
  policy: Policy,
  state: Counting,
  failure: Failure,
  slow: boolean,
  now: number,
  rnd: number,
  events: ReadonlyArray<Event>
): Applied => {
  const counters = countFailure(policy, state.counters, failure, slow, now)
  const cause = tripAfterFailure(policy, counters, failure.kind)
  return cause === undefined
    ? settle(policy, state, counters, false, now, events)
    : trip(policy, state, counters, cause, now, rnd, events)
}

/** A report that applies to a Closed or Degraded breaker. */
export const report = (
  policy: Policy,
  held: Counting,
  permit: Permit,
  outcome: Outcome,
  now: number,
  rnd: number
): Applied => {
  let state = held
  let events = noEvents
  if (state._tag === "Degraded" && silenced(policy, state, now)) {
    const rolling = rollingRule(policy)
    const window = state.counters.window
    const samples = rolling === undefined || window === null ? 0 : samplesOf(roll(rolling, window, now))
    const minSamples = rolling === undefined ? 0 : rolling.minSamples
    const reason = { rule: "D2", by: "silence", samples, minSamples } as const
    events = [{ from: "Degraded", to: "Closed", at: now, era: state.era, reason }]
    state = moved(state, "Closed", now, state.counters, now)
  }
  const as = handledAs(policy, outcome)
  if (as === "ignored") return ["Applied", moved(state, state._tag, state.since, state.counters, now), events]
  const latency = outcome._tag === "Success" || outcome._tag === "Failure" ? outcome.latency : undefined
  const slow = isSlow(rollingRule(policy), latency, permit, now)
  return as === "failure" && outcome._tag === "Failure"
    ? fail(policy, state, outcome, slow, now, rnd, events)
    : succeed(policy, state, slow, now, rnd, events)
}
