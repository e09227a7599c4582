import type * as Breaker from "@switchgear/core/Breaker"
import type { Policy } from "@switchgear/core/Policy"
import * as Snapshot from "@switchgear/core/Snapshot"
import type { Stored } from "../CircuitBreakerStore.js"
import type { Transition } from "../Transition.js"

/** What a process did with a breaker that the store does not know of yet. */
export interface Parted {
  /** `false`: it has tripped, and the store is there to be told. `true`: it went on by itself, the store being away. */
  readonly apart: boolean
  /** The last ones that began an era, on its own clock. */
  readonly events: ReadonlyArray<Breaker.Event>
}

/** A breaker as one process has it, on its own clock. */
export interface Local {
  readonly name: string
  readonly writer: string
  readonly state: Breaker.State
  /** The reading of the clock. */
  readonly at: number
  /** When the era began. */
  readonly since: number
  /** The era of the record that it was last read from; 0 if there was none. */
  readonly known: number
  readonly parted: Parted | undefined
}

/** What is in force, on the store's clock. */
export interface Met {
  readonly state: Breaker.State
  /** The last ones, oldest first. */
  readonly transitions: ReadonlyArray<Transition>
  /** Whether the store has to be told. */
  readonly changed: boolean
  /** Whether the probes that this process gave out by itself count for nothing. */
  readonly dropped: boolean
}

export const counts = (tag: Breaker.State["_tag"]): boolean => tag === "Closed" || tag === "Degraded"

/** A breaker's state on another clock: `there` is the reading of that one when its own read `here`. */
const moved = (policy: Policy, state: Breaker.State, here: number, there: number): Breaker.State =>
  Snapshot.resume(policy, Snapshot.snapshot(state, here, there), there, there)

export const transitionOf = (name: string, { era, from, reason, to }: Breaker.Event, at: number): Transition => ({
  breaker: name,
  from,
  to,
  at,
  era,
  reason
})

const isForced = (state: Breaker.State, now: number): boolean =>
  state._tag === "ForcedClosed" || (state._tag === "ForcedOpen" && (state.until === null || now < state.until))

/** From when on it admits probes, of one that is or was Open. */
const deadline = (state: Breaker.State): number | undefined => {
  switch (state._tag) {
    case "Open":
      return state.until
    case "HalfOpen":
      return state.since
    case "ForcedOpen":
      return state.until ?? undefined
    default:
      return undefined
  }
}

interface Side {
  readonly state: Breaker.State
  /** When its last transition was, on the store's clock. */
  readonly since: number
  /** Whether that was a command. */
  readonly commanded: boolean
}

/**
 * STORES, Modes: the last transition by the store's clock stands, except that of two Opens the later deadline does. Of two
 * HalfOpen the later era does, or its probes would be lost. Only a command ends a forced state.
 */
const ourStands = (ours: Side, theirs: Side, now: number): boolean => {
  const later = ours.since > theirs.since
  const [weForce, theyForce] = [isForced(ours.state, now), isForced(theirs.state, now)]
  if (weForce && theyForce) return later
  if (theyForce) return ours.commanded && later
  if (weForce) return later || !theirs.commanded
  const [ourEnd, theirEnd] = [deadline(ours.state), deadline(theirs.state)]
  if (ours.state._tag === "HalfOpen" && theirs.state._tag === "HalfOpen") return ours.state.era > theirs.state.era
  if (ourEnd !== undefined && theirEnd !== undefined) return ourEnd > theirEnd
  return later || (ourEnd !== undefined && ours.since === theirs.since)
}

/** In an era after `era`, whose permits are others: a HalfOpen is an Open at its deadline (SEMANTICS S9). */
const inEra = (state: Breaker.State, era: number): Breaker.State =>
  state._tag === "HalfOpen"
    ? {
        _tag: "Open",
        at: state.at,
        era,
        since: state.since,
        openings: state.openings,
        until: state.at,
        cooldown: 0,
        cause: state.cause
      }
    : { ...state, era }

const commanded = (last: { readonly reason: Breaker.Reason } | undefined): boolean => last?.reason.rule === "M1"

/**
 * What is in force when a process comes to the store with what it knows. Pure: it may run again on another record.
 *
 * As a rule that is the record. A trip that nobody has forestalled is written over it, with the deadline that it chose; one
 * of an era that is over counts for nothing (SEMANTICS R2). After a time apart, or where a record was lost and begun
 * anew, the two are held against each other.
 */
export const meet = (policy: Policy, stored: Stored | undefined, local: Local, now: number): Met => {
  const { at, known, name, parted } = local
  const wallOf = (time: number): number => now - Math.max(0, at - time)
  const own = moved(policy, local.state, at, now)
  const events = parted?.events ?? []
  if (stored === undefined) {
    return {
      state: own,
      transitions: events.map((event) => transitionOf(name, event, wallOf(event.at))),
      changed: parted !== undefined || !counts(own._tag),
      dropped: false
    }
  }
  const theirs = Snapshot.resume(policy, stored.snapshot, now, now)
  const { transitions } = stored
  const record: Met = { state: theirs, transitions, changed: false, dropped: false }
  const contested = parted?.apart === true || theirs.era < known
  if (!contested && (parted === undefined || theirs.era > known)) return record
  const last = events[events.length - 1]
  const stands =
    !contested ||
    ourStands(
      { state: own, since: wallOf(local.since), commanded: commanded(last) },
      { state: theirs, since: theirs.since, commanded: commanded(transitions[transitions.length - 1]) },
      now
    )
  if (stands && own.era > theirs.era) {
    const told = events
      .filter((event) => event.era > theirs.era)
      .map((event) => transitionOf(name, event, wallOf(event.at)))
    return { state: own, transitions: [...transitions, ...told], changed: true, dropped: false }
  }
  const era = Math.max(own.era, theirs.era) + 1
  if (stands) {
    const state = inEra(own, era)
    const told: ReadonlyArray<Transition> =
      last === undefined
        ? []
        : [{ breaker: name, from: theirs._tag, to: state._tag, at: wallOf(last.at), era, reason: last.reason }]
    return { state, transitions: [...transitions, ...told], changed: true, dropped: true }
  }
  if (theirs.era < own.era) return { state: { ...theirs, era }, transitions, changed: true, dropped: true }
  // What we ourselves have written, without hearing that it was, has our probe among its leases.
  const ours = theirs._tag === "HalfOpen" && theirs.era === own.era && stored.writer === local.writer
  return { ...record, dropped: !ours }
}
