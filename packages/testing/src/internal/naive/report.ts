import type * as Breaker from "@switchgear/core/Breaker"
import { fallenSilent, openingsInForce } from "./count.js"
import { type NaiveEvent, transition } from "./event.js"
import { cooldown, counted, level, taken, tripRule } from "./rules.js"
import { freshEra, type NaiveState, type PlainPolicy, plus } from "./state.js"

/** SEMANTICS R2: the era must be the state's, the state not forced, and a probe's lease out. */
export const isStale = (state: NaiveState, permit: Breaker.Permit, now: number): boolean => {
  if (permit.era !== state.era) return true
  if (state.held === "Closed" || state.held === "Degraded") return false
  if (state.held !== "HalfOpen") return true
  const lease = state.leases.find(({ id }) => id === permit.probe)
  return lease === undefined || lease.used || now >= lease.until
}

/** SEMANTICS C1, C4, R3: Open, from a report at `now` that is already among the era's outcomes. */
const open = (policy: PlainPolicy, state: NaiveState, openings: number, now: number, rnd: number): NaiveState =>
  freshEra(state, "Open", now, {
    openings,
    until: plus(now, cooldown(policy, state.outcomes, openings, now, rnd))
  })

/** SEMANTICS P5, R5: what a probe's report does to HalfOpen. */
export const reportProbe = (
  policy: PlainPolicy,
  state: NaiveState,
  permit: Breaker.Permit,
  outcome: Breaker.Outcome,
  now: number,
  rnd: number
): readonly [NaiveState, ReadonlyArray<NaiveEvent>] => {
  const leases = state.leases.map((lease) => (lease.id === permit.probe ? { ...lease, used: true } : lease))
  const as = taken(policy, outcome)
  if (as === "nothing") return [{ ...state, at: now, leases }, []]
  const outcomes = [...state.outcomes, counted(policy, as, outcome, permit, now)]
  const after: NaiveState = { ...state, at: now, leases, outcomes }
  if (as === "failure") {
    const opened = open(policy, after, state.openings + 1, now, rnd)
    return [opened, [transition(state, opened, now, "P5")]]
  }
  if (outcomes.length < policy.halfOpen.successThreshold) return [after, []]
  const closed = freshEra(after, "Closed", now, { openings: state.openings, recoveredAt: now })
  return [closed, [transition(state, closed, now, "P5")]]
}

/** SEMANTICS D2, P1 to P3, D1, D3: what a report does to Closed and Degraded. */
export const reportCall = (
  policy: PlainPolicy,
  state: NaiveState,
  permit: Breaker.Permit,
  outcome: Breaker.Outcome,
  now: number,
  rnd: number
): readonly [NaiveState, ReadonlyArray<NaiveEvent>] => {
  const events: Array<NaiveEvent> = []
  let current: NaiveState = { ...state, at: now }
  const moveTo = (next: NaiveState, rule: string): void => {
    events.push(transition(current, next, now, rule))
    current = next
  }
  // D2: any outcome finds a silent Degraded Closed
  if (fallenSilent(policy, state, now)) moveTo({ ...current, held: "Closed" }, "D2")
  const as = taken(policy, outcome)
  // R5
  if (as === "nothing") return [current, events]
  current = { ...current, outcomes: [...current.outcomes, counted(policy, as, outcome, permit, now)] }
  // D3: the trip goes before degradation
  const rule = tripRule(policy, current.outcomes, now)
  if (rule !== null) {
    moveTo(open(policy, current, openingsInForce(policy, current, now) + 1, now, rnd), rule)
    return [current, events]
  }
  const degradation = policy.degradation
  const reached = level(policy, current.outcomes, now)
  if (degradation === undefined || reached === null) return [current, events]
  if (current.held === "Closed" && reached >= degradation.threshold) {
    moveTo({ ...current, held: "Degraded" }, "D1")
  } else if (current.held === "Degraded" && as === "success" && reached <= degradation.recoverAt) {
    moveTo({ ...current, held: "Closed" }, "D1")
  }
  return [current, events]
}
