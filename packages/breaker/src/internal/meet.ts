import type { Stored } from "../CircuitBreakerStore.js"

const deadline = ({ snapshot: { state, wall } }: Stored): number | undefined =>
  state._tag === "Open" ? wall + Math.min(state.remaining, state.cooldown) : undefined

const isForced = ({ snapshot: { state } }: Stored): boolean =>
  state._tag === "ForcedOpen" || state._tag === "ForcedClosed"

/**
 * Two records of one breaker that were written apart meet, `own` the later one (STORES, Modes): the later one stands if
 * it tells of a transition, except that of two Opens the later deadline does, and that only a command ends a forced state.
 * One that tells of none has merely counted, and an Open of before is not lost to it.
 */
export const meet = (held: Stored, own: Stored): Stored => {
  const tag = held.snapshot.state._tag
  if (tag === "Closed" || tag === "Degraded") return own
  if (own.transitions.length === 0) return held
  if (isForced(held)) return own.transitions.some(({ reason }) => reason.rule === "M1") ? own : held
  const [theirs, ours] = [deadline(held), deadline(own)]
  return theirs !== undefined && ours !== undefined && theirs > ours ? held : own
}
