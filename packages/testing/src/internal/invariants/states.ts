import { taken as takenAs } from "../naive/rules.js"
import { type Invariant, isClosed, isForced, isShut, type Moment, same, shown } from "./run.js"

const isReport = ({ taken }: Moment): boolean => taken.reported !== undefined

const isCommand = ({ step }: Moment): boolean => ["forceOpen", "forceClosed", "auto", "reset"].includes(step.do)

/** SEMANTICS T2, R2, M1. */
export const whatDoesNothingLeavesTheSameState: Invariant = {
  name: "a stale report, a refused call, a read and an auto with nothing to end leave the very same state",
  rule: "T2 R2 R6",
  check: (_run, { after, before, now, step, taken }) => {
    const idle =
      taken.reported === "Stale" ||
      taken.admission?._tag === "Rejected" ||
      step.do === "observe" ||
      step.do === "tail" ||
      (step.do === "auto" && (!isForced(before) || (before._tag === "ForcedOpen" && !isShut(before, now))))
    if (!idle) return null
    if (taken.events.length > 0) return `events ${shown(taken.events)}`
    return after === before ? null : "the state is another object"
  }
}

/** SEMANTICS R2, A5, M1: counted from the permit, whatever the state says of its leases. */
export const appliedOnlyInItsEra: Invariant = {
  name: "a report is applied exactly if its permit's era is the state's, and a probe's lease is out and unused",
  rule: "R2 R6 A5 M1",
  check: ({ moments, policy }, { before, now, taken }) => {
    const { permit, reported } = taken
    if (reported === undefined) return null
    if (permit === undefined) return reported === "Stale" ? null : "applied without a permit"
    const earlier = moments.slice(0, -1)
    const used = earlier.some((moment) => moment.taken.permit === permit && moment.taken.reported === "Applied")
    const until = permit.at + policy.halfOpen.probeTimeout
    const leased = permit.probe === undefined || (now < until && now < Number.MAX_SAFE_INTEGER && !used)
    const due = permit.era === before.era && !isForced(before) && leased
    return due === (reported === "Applied") ? null : `${reported} in era ${before.era}: ${shown(permit)}`
  }
}

/** SEMANTICS C4, R6, T4: nothing but a command or a restart touches it. */
export const openHasADeadlineThatNeverMoves: Invariant = {
  name: "Open has a deadline, and it never moves",
  rule: "S2 C4 R6 T4",
  check: (_run, moment) => {
    const { after, before } = moment
    if (after._tag !== "Open") return null
    if (!Number.isSafeInteger(after.until)) return `the deadline is ${after.until}`
    if (before._tag !== "Open" || moment.step.do === "restart" || isCommand(moment)) return null
    return after.until === before.until ? null : `it moved from ${before.until} to ${after.until}`
  }
}

/** SEMANTICS S9: what is left is never more than what was left. */
export const aRestartNeverLengthens: Invariant = {
  name: "a restart never lengthens what is left of a cooldown",
  rule: "S9",
  check: (_run, { after, before, now, step, taken }) => {
    if (step.do !== "restart" || before._tag !== "Open") return null
    if (after._tag !== "Open") return `an Open came back as ${after._tag}`
    const was = Math.max(0, before.until - now)
    const due = Math.max(0, was - Math.max(0, step.elapsed ?? 0))
    const left = Math.max(0, after.until - taken.now)
    return left === due ? null : `${left} ms are left, not ${due}`
  }
}

/** SEMANTICS A3, P5, M1. */
export const closedOnlyByAProbeOrACommand: Invariant = {
  name: "no Closed after Open or HalfOpen without a probe's success or a command",
  rule: "A3 P5 M1 S9",
  check: ({ policy }, moment) => {
    const { after, before, taken } = moment
    const shut = before._tag === "Open" || before._tag === "HalfOpen" || before._tag === "ForcedOpen"
    if (!shut || !isClosed(after) || isCommand(moment)) return null
    const success = taken.outcome !== undefined && takenAs(policy, taken.outcome) === "success"
    return taken.reported === "Applied" && taken.permit?.probe !== undefined && success ? null : "it closed of itself"
  }
}

/** SEMANTICS P5: as many successes as it takes, and one failure is enough. */
export const halfOpenFollowsItsProbes: Invariant = {
  name: "HalfOpen closes at successThreshold successes, opens at one failure, and waits on anything else",
  rule: "P5 R5",
  check: ({ policy }, { after, before, taken }) => {
    if (taken.reported !== "Applied" || before._tag !== "HalfOpen" || taken.outcome === undefined) return null
    const as = takenAs(policy, taken.outcome)
    const closes = before.successes + 1 >= policy.halfOpen.successThreshold
    const expected = as === "failure" ? "Open" : as === "success" && closes ? "Closed" : "HalfOpen"
    return after._tag === expected ? null : `${as} after ${before.successes} successes gave ${after._tag}`
  }
}

/** SEMANTICS S3. */
export const eventsChain: Invariant = {
  name: "events chain from the state before to the state after",
  rule: "S3",
  check: (_run, { after, before, now, step, taken: { events } }) => {
    if (step.do === "restart") return events.length === 0 ? null : "a restart emitted events"
    const tags = [before._tag, ...events.flatMap((event) => [event.from, event.to]), after._tag]
    for (let index = 0; index < tags.length; index += 2) {
      if (tags[index] !== tags[index + 1]) return `the chain breaks: ${tags.join(" ")}`
    }
    if (events.some((event) => event.at !== now)) return `an event is not at ${now}`
    const era = events.at(-1)?.era ?? before.era
    return era === after.era ? null : `the last event tells of era ${era}, the state is in ${after.era}`
  }
}

/** SEMANTICS R3, S9, M1. */
export const erasFollowTransitions: Invariant = {
  name: "each transition but those between Closed and Degraded begins one new era",
  rule: "R3 M1 S9",
  check: (_run, { after, before, step, taken: { events } }) => {
    const fresh = events.filter(
      ({ from, reason, to }) =>
        reason.rule === "M1" || !["Closed", "Degraded"].includes(from) || !["Closed", "Degraded"].includes(to)
    ).length
    const expected = before.era + (step.do === "restart" ? 1 : fresh)
    return after.era === expected ? null : `era ${after.era} after ${before.era}, not ${expected}`
  }
}

/** SEMANTICS T2. */
export const timeNeverRunsBackwards: Invariant = {
  name: "the state's time is that of what last happened, and never falls",
  rule: "T2",
  check: (_run, { after, before, now, step, taken }) => {
    if (after === before) return null
    // a restart may come back on another clock
    const expected = step.do === "restart" ? taken.now : now
    return after.at === expected ? null : `at ${after.at}, not ${expected}`
  }
}

/** SEMANTICS D1, D2: one move by degradation a report, and D2's before it. */
export const oneMoveByDegradation: Invariant = {
  name: "at most one move by degradation a report, not counting that of silence",
  rule: "D1 D2 D3",
  check: (_run, moment) => {
    const rules = moment.taken.events.map((event) => event.reason.rule)
    if (!isReport(moment)) return rules.some((rule) => rule.startsWith("D")) ? `events ${rules.join(" ")}` : null
    const expected = [[], ["D2"], ["D1"], ["D2", "D1"], ["P1"], ["P3"], ["D2", "P1"], ["D2", "P3"], ["P5"]]
    return expected.some((one) => same(one, rules)) ? null : `events ${rules.join(" ")}`
  }
}
