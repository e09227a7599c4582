import { close, noEvents, openingsInForce } from "./closed.js"
import type { Command, Event, ForcedClosed, ForcedOpen, Open, State } from "./model.js"
import type { Policy } from "./policyModel.js"
import { plus, remaining } from "./time.js"

/** Whether a ForcedOpen is past its `for`: then it is an Open past its deadline (SEMANTICS M1). */
export const lapsed = (state: ForcedOpen, now: number): boolean => state.until !== null && now >= state.until

const openings = (policy: Policy, state: State, now: number): number =>
  state._tag === "Closed" || state._tag === "Degraded" ? openingsInForce(policy, state, now) : state.openings

/** The deadline of the Open that a `forceOpen` replaces. */
const keptDeadline = (state: State): number | null =>
  state._tag === "Open" ? state.until : state._tag === "ForcedOpen" ? state.kept : null

const forceOpen = (policy: Policy, state: State, length: number | undefined, now: number): ForcedOpen => {
  const kept = keptDeadline(state)
  const until = length === undefined ? null : plus(now, length)
  return {
    _tag: "ForcedOpen",
    at: now,
    era: state.era + 1,
    since: now,
    openings: openings(policy, state, now),
    until: until !== null && kept !== null ? Math.max(until, kept) : until,
    kept,
    cause: { rule: "M1", by: "command", command: "ForceOpen" }
  }
}

const forceClosed = (policy: Policy, state: State, now: number): ForcedClosed => ({
  _tag: "ForcedClosed",
  at: now,
  era: state.era + 1,
  since: now,
  openings: openings(policy, state, now)
})

/** One admission, which only moves time. The same object when it does not. */
export const admitted = (state: ForcedClosed, now: number): ForcedClosed =>
  now === state.at
    ? state
    : { _tag: "ForcedClosed", at: now, era: state.era, since: state.since, openings: state.openings }

const unforceOpen = (state: ForcedOpen, now: number): Open => {
  const until = state.kept !== null && state.kept > now ? state.kept : now
  return {
    _tag: "Open",
    at: now,
    era: state.era + 1,
    since: now,
    openings: state.openings,
    until,
    cooldown: remaining(until, now),
    cause: { rule: "M1", by: "command", command: "Auto" }
  }
}

const next = (policy: Policy, state: State, command: Command, now: number): State => {
  switch (command._tag) {
    case "ForceOpen": {
      const length = command.for
      // The command's decoder refuses such a length; the machine does nothing rather than force for ever.
      if (length !== undefined && !(length > 0 && Number.isInteger(length))) return state
      return forceOpen(policy, state, length, now)
    }
    case "ForceClosed":
      return forceClosed(policy, state, now)
    case "Reset":
      return close(policy, state.era + 1, 0, false, now)
    case "Auto":
      if (state._tag === "ForcedClosed") return close(policy, state.era + 1, 0, false, now)
      return state._tag === "ForcedOpen" && !lapsed(state, now) ? unforceOpen(state, now) : state
  }
}

/** SEMANTICS M1. */
export const command = (
  policy: Policy,
  state: State,
  given: Command,
  now: number
): readonly [State, ReadonlyArray<Event>] => {
  const after = next(policy, state, given, now)
  if (after === state) return [state, noEvents]
  const reason = { rule: "M1", by: "command", command: given._tag } as const
  return [after, [{ from: state._tag, to: after._tag, at: now, era: after.era, reason }]]
}
