import { type Applied, close, handledAs, noEvents } from "./closed.js"
import { open } from "./cooldown.js"
import { hintAfter } from "./counters.js"
import type { Admission, Cause, Event, ForcedOpen, HalfOpen, Lease, Open, Outcome, State } from "./model.js"
import type { Policy } from "./policyModel.js"
import { plus, remaining } from "./time.js"

const leasesOut = (state: HalfOpen, now: number): ReadonlyArray<Lease> =>
  state.leases.filter((lease) => now < lease.until)

/** How many probes are out. */
export const probesOut = (state: HalfOpen, now: number): number => leasesOut(state, now).length

/** SEMANTICS A3: the first `acquire` past the deadline makes it HalfOpen and takes the first probe. */
export const enter = (
  policy: Policy,
  state: Open | ForcedOpen,
  now: number
): readonly [Admission, State, ReadonlyArray<Event>] => {
  const era = state.era + 1
  const next: HalfOpen = {
    _tag: "HalfOpen",
    at: now,
    era,
    since: now,
    openings: state.openings,
    cause: state.cause,
    successes: 0,
    leases: [{ id: 0, until: plus(now, policy.halfOpen.probeTimeout) }],
    nextLease: 1
  }
  return [
    { _tag: "Admitted", permit: { era, at: now, probe: 0 } },
    next,
    [{ from: state._tag, to: "HalfOpen", at: now, era, reason: { rule: "A3", by: "deadline" } }]
  ]
}

/** SEMANTICS A4: ms until a probe may be had; 0 now. */
export const wait = (policy: Policy, state: HalfOpen, now: number): number => {
  const out = leasesOut(state, now)
  const earliest = out[0]
  return out.length < policy.halfOpen.maxProbes || earliest === undefined ? 0 : remaining(earliest.until, now)
}

export const acquire = (
  policy: Policy,
  state: HalfOpen,
  now: number
): readonly [Admission, State, ReadonlyArray<Event>] => {
  const retryAfter = wait(policy, state, now)
  if (retryAfter > 0) return [{ _tag: "Rejected", retryAfter }, state, noEvents]
  const id = state.nextLease
  const next: HalfOpen = {
    _tag: "HalfOpen",
    at: now,
    era: state.era,
    since: state.since,
    openings: state.openings,
    cause: state.cause,
    successes: state.successes,
    leases: [...leasesOut(state, now), { id, until: plus(now, policy.halfOpen.probeTimeout) }],
    nextLease: id + 1
  }
  return [{ _tag: "Admitted", permit: { era: state.era, at: now, probe: id } }, next, noEvents]
}

/** SEMANTICS R2: whether the lease of this probe is out. */
export const holds = (state: HalfOpen, probe: number, now: number): boolean => {
  for (const lease of state.leases) {
    if (lease.id === probe) return now < lease.until
  }
  return false
}

/** A report that applies to a HalfOpen breaker (SEMANTICS P5). It uses up the probe's lease. */
export const report = (
  policy: Policy,
  state: HalfOpen,
  probe: number,
  outcome: Outcome,
  now: number,
  rnd: number
): Applied => {
  const as = handledAs(policy, outcome)
  if (as === "failure" && outcome._tag === "Failure") {
    const { kind } = outcome
    const { successThreshold } = policy.halfOpen
    const cause: Cause = { rule: "P5", by: "probe", kind, successes: state.successes, successThreshold }
    const next = open(policy, state, cause, kind, hintAfter(policy, null, outcome.retryAfter, now), now, rnd)
    return ["Applied", next, [{ from: "HalfOpen", to: "Open", at: now, era: next.era, reason: cause }]]
  }
  const successes = as === "success" ? state.successes + 1 : state.successes
  if (successes >= policy.halfOpen.successThreshold) {
    const next = close(policy, state.era + 1, state.openings, true, now)
    const reason = {
      rule: "P5",
      by: "recovery",
      successes,
      successThreshold: policy.halfOpen.successThreshold
    } as const
    return ["Applied", next, [{ from: "HalfOpen", to: "Closed", at: now, era: next.era, reason }]]
  }
  return [
    "Applied",
    {
      _tag: "HalfOpen",
      at: now,
      era: state.era,
      since: state.since,
      openings: state.openings,
      cause: state.cause,
      successes,
      leases: leasesOut(state, now).filter((lease) => lease.id !== probe),
      nextLease: state.nextLease
    },
    noEvents
  ]
}
