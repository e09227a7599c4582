import { openingsInForce } from "./closed.js"
import { rollingRule } from "./counters.js"
import { lapsed } from "./forced.js"
import { probesOut, wait } from "./halfOpen.js"
import type { Closed, Counters, Degraded, ForcedOpen, Open, State, View } from "./model.js"
import type { Policy } from "./policyModel.js"
import { remaining } from "./time.js"
import { failuresOf, roll, samplesOf, slowOf } from "./window.js"

const namedKindCounts = (counters: Counters): Readonly<Record<string, number>> => {
  const entries = counters.failed.kinds.map((entry): [string, number] => [entry.kind, entry.count])
  if (counters.failed.otherKinds > 0) {
    const other = entries.find((entry) => entry[0] === "_other")
    if (other === undefined) entries.push(["_other", counters.failed.otherKinds])
    else other[1] += counters.failed.otherKinds
  }
  return Object.fromEntries(entries)
}

const counting = (policy: Policy, state: Closed | Degraded, now: number): View => {
  const { counters } = state
  const rolling = rollingRule(policy)
  const openings = openingsInForce(policy, state, now)
  const kinds = namedKindCounts(counters)
  if (rolling === undefined || counters.window === null) {
    return {
      state: state._tag,
      forced: false,
      since: state.since,
      era: state.era,
      openings,
      retryAfter: 0,
      streak: counters.streak,
      kinds
    }
  }
  const window = roll(rolling, counters.window, now)
  const samples = samplesOf(window)
  const view = {
    state: samples < rolling.minSamples ? "Closed" : state._tag,
    forced: false,
    since: state.since,
    era: state.era,
    openings,
    retryAfter: 0,
    samples,
    failures: failuresOf(window),
    slow: slowOf(window),
    missingSamples: Math.max(0, rolling.minSamples - samples),
    kinds
  } as const
  return counters.mode === "Rolling" ? view : { ...view, streak: counters.streak }
}

const none: Readonly<Record<string, number>> = {}

/** SEMANTICS A3: it reads as HalfOpen since its deadline, with every probe still to be had. */
const pastDeadline = (state: Open | ForcedOpen, deadline: number): View => ({
  state: "HalfOpen",
  forced: false,
  since: deadline,
  era: state.era,
  openings: state.openings,
  retryAfter: 0,
  cause: state.cause,
  successes: 0,
  leases: 0,
  kinds: none
})

/** Rejecting, until a time. */
const closedUntil = (state: Open | ForcedOpen, forced: boolean, until: number, now: number): View => ({
  state: "Open",
  forced,
  since: state.since,
  era: state.era,
  openings: state.openings,
  retryAfter: remaining(until, now),
  until,
  cause: state.cause,
  kinds: none
})

/** SEMANTICS S4. Literals throughout: routers look at every target of every call. */
export const observe = (policy: Policy, state: State, now: number): View => {
  switch (state._tag) {
    case "Closed":
    case "Degraded":
      return counting(policy, state, now)
    case "HalfOpen":
      return {
        state: "HalfOpen",
        forced: false,
        since: state.since,
        era: state.era,
        openings: state.openings,
        retryAfter: wait(policy, state, now),
        cause: state.cause,
        successes: state.successes,
        leases: probesOut(state, now),
        kinds: none
      }
    case "Open":
      return now < state.until ? closedUntil(state, false, state.until, now) : pastDeadline(state, state.until)
    case "ForcedOpen":
      if (state.until !== null) {
        return lapsed(state, now) ? pastDeadline(state, state.until) : closedUntil(state, true, state.until, now)
      }
      return {
        state: "Open",
        forced: true,
        since: state.since,
        era: state.era,
        openings: state.openings,
        cause: state.cause,
        kinds: none
      }
    case "ForcedClosed":
      return {
        state: "Closed",
        forced: true,
        since: state.since,
        era: state.era,
        openings: state.openings,
        retryAfter: 0,
        kinds: none
      }
  }
}
