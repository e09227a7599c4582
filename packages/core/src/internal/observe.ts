import { openingsInForce, silenced } from "./closed.js"
import { rollingRule } from "./counters.js"
import { lapsed } from "./forced.js"
import { probesOut, wait } from "./halfOpen.js"
import type { Closed, Counters, Degraded, State, View } from "./model.js"
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
  const window = rolling === undefined || counters.window === null ? undefined : roll(rolling, counters.window, now)
  const samples = window === undefined ? 0 : samplesOf(window)
  return {
    state: state._tag === "Degraded" && silenced(policy, state, now) ? "Closed" : state._tag,
    forced: false,
    since: state.since,
    era: state.era,
    openings: openingsInForce(policy, state, now),
    retryAfter: 0,
    ...(counters.mode === "Rolling" ? {} : { streak: counters.streak }),
    ...(rolling === undefined || window === undefined
      ? {}
      : {
          samples,
          failures: failuresOf(window),
          slow: slowOf(window),
          missingSamples: Math.max(0, rolling.minSamples - samples)
        }),
    kinds: namedKindCounts(counters)
  }
}

/** SEMANTICS S4. */
export const observe = (policy: Policy, state: State, now: number): View => {
  const base = { forced: false, since: state.since, era: state.era, openings: state.openings, kinds: {} }
  switch (state._tag) {
    case "Closed":
    case "Degraded":
      return counting(policy, state, now)
    case "HalfOpen":
      return {
        ...base,
        state: "HalfOpen",
        retryAfter: wait(policy, state, now),
        cause: state.cause,
        successes: state.successes,
        leases: probesOut(state, now)
      }
    case "Open":
      return now < state.until
        ? { ...base, state: "Open", retryAfter: remaining(state.until, now), until: state.until, cause: state.cause }
        : pastDeadline(base, state.until, state.cause)
    case "ForcedOpen":
      if (state.until !== null && lapsed(state, now)) return pastDeadline(base, state.until, state.cause)
      return {
        ...base,
        state: "Open",
        forced: true,
        ...(state.until === null ? {} : { retryAfter: remaining(state.until, now), until: state.until }),
        cause: state.cause
      }
    case "ForcedClosed":
      return { ...base, state: "Closed", forced: true, retryAfter: 0 }
  }
}

type PastDeadlineBase = Pick<View, "forced" | "since" | "era" | "openings" | "kinds">

/** SEMANTICS A3: it reads as HalfOpen since its deadline, with every probe still to be had. */
const pastDeadline = (base: PastDeadlineBase, deadline: number, cause: View["cause"]): View => ({
  ...base,
  state: "HalfOpen",
  since: deadline,
  retryAfter: 0,
  successes: 0,
  leases: 0,
  ...(cause === undefined ? {} : { cause })
})
