import type * as Breaker from "@switchgear/core/Breaker"
import type { Clock } from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Random from "effect/Random"
import { CircuitOpen } from "../CircuitOpen.js"
import type { Cell } from "./cell.js"
import { classify as byDefault, outcomeOf, succeeded } from "./classify.js"
import type { Classify } from "./settings.js"
import { clockOf } from "./time.js"

/** What a call is refused with. */
export const refusal = (cell: Cell, rejected: Breaker.Rejected): CircuitOpen =>
  new CircuitOpen(cell.name, cell.state._tag === "HalfOpen" ? "HalfOpen" : "Open", rejected.retryAfter)

/**
 * Reports, and draws a random number where the report opens a breaker with jitter (SEMANTICS C4), or asks the store where
 * others share the breaker and the call was a probe: then it answers with an effect, which is not interruptible, or the
 * failure that trips could be lost.
 */
export const settle = (
  cell: Cell,
  permit: Breaker.Permit,
  outcome: Breaker.Outcome,
  clock: Clock
): Breaker.Reported | Effect.Effect<Breaker.Reported> =>
  (permit.probe === undefined ? undefined : cell.remote?.report(permit, outcome, clock)) ??
  cell.report(permit, outcome, clock, undefined) ??
  Effect.uninterruptible(Effect.map(Random.next, (rnd) => cell.report(permit, outcome, clock, rnd) ?? "Stale"))

/** Runs a call that was admitted, and reports how it ended. */
const watch = <A, E, R>(
  self: Effect.Effect<A, E, R>,
  cell: Cell,
  permit: Breaker.Permit,
  clock: Clock,
  classify: Classify<A, E>
): Effect.Effect<A, E, R> =>
  Effect.matchCauseEffect(self, {
    onSuccess: (value) => {
      const exit = Exit.succeed(value)
      const settled = settle(cell, permit, classify === byDefault ? succeeded : outcomeOf(classify, exit, clock), clock)
      return typeof settled === "string" ? exit : Effect.zipRight(settled, exit)
    },
    onFailure: (cause) => {
      const exit = Exit.failCause(cause)
      const settled = settle(cell, permit, outcomeOf(classify, exit, clock), clock)
      return typeof settled === "string" ? exit : Effect.zipRight(settled, exit)
    }
  })

/** A call that may be refused, or be a probe. */
const probe = <A, E, R>(
  self: Effect.Effect<A, E, R>,
  cell: Cell,
  clock: Clock,
  classify: Classify<A, E>
): Effect.Effect<A, E | CircuitOpen, R> => {
  const refused = cell.refuse(cell.now(clock))
  if (refused !== undefined) return cell.settings.enforce ? Exit.fail(refusal(cell, refused)) : self
  return Effect.uninterruptibleMask((restore): Effect.Effect<A, E | CircuitOpen, R> => {
    const go = (admission: Breaker.Admission): Effect.Effect<A, E | CircuitOpen, R> => {
      if (admission._tag === "Admitted") return watch(restore(self), cell, admission.permit, clock, classify)
      return cell.settings.enforce ? Exit.fail(refusal(cell, admission)) : restore(self)
    }
    const { remote } = cell
    return remote === undefined
      ? go(cell.acquire(cell.now(clock), clock))
      : Effect.flatMap(remote.acquire(clock, restore), go)
  })
}

/**
 * DESIGN 2: on the healthy path no mask and no finaliser, since a permit that holds nothing needs no report when its
 * call is interrupted. A probe holds a lease: it is taken inside a mask, so that from its first step on nothing can
 * happen without the report that gives it back.
 */
export const guard = <A, E, R>(
  self: Effect.Effect<A, E, R>,
  cell: Cell,
  classify: Classify<A, E>
): Effect.Effect<A, E | CircuitOpen, R> =>
  Effect.withFiberRuntime<A, E | CircuitOpen, R>((fiber) => {
    const clock = clockOf(fiber)
    if (!cell.holdsNothing) return probe(self, cell, clock, classify)
    const admission = cell.acquire(cell.now(clock), clock)
    return admission._tag === "Admitted" ? watch(self, cell, admission.permit, clock, classify) : self
  })
