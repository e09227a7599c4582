import * as Breaker from "@switchgear/core/Breaker"
import * as Cause from "effect/Cause"
import type { Clock } from "effect/Clock"
import * as Duration from "effect/Duration"
import type * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import { findOpen } from "../CircuitOpen.js"
import type { Classify } from "./settings.js"
import { thrown } from "./thrown.js"

export const succeeded: Breaker.Outcome = Breaker.success()

const unknown: Breaker.Outcome = Breaker.failure("unknown")

const millis = (value: unknown): number | undefined => {
  if (typeof value === "number") return value
  return Duration.isDuration(value) ? Duration.toMillis(value) : undefined
}

/** What an error says of itself: a `kind`, with a `status` and a `retryAfter` (a Duration, or ms) where it has them. */
const own = (error: unknown): Breaker.Outcome | undefined => {
  if (!Predicate.hasProperty(error, "kind") || typeof error.kind !== "string" || error.kind === "") return undefined
  // Nothing was asked of the service, or nobody waited for its answer.
  if (error.kind === "circuit_open" || error.kind === "cancelled") return Breaker.released
  return Breaker.failure(error.kind, {
    status: Predicate.hasProperty(error, "status") && typeof error.status === "number" ? error.status : undefined,
    retryAfter: Predicate.hasProperty(error, "retryAfter") ? millis(error.retryAfter) : undefined
  })
}

const failureOf = (error: unknown, wall: number): Breaker.Outcome => {
  if (findOpen(error) !== undefined) return Breaker.released
  return own(error) ?? (Predicate.hasProperty(error, "failure") ? own(error.failure) : undefined) ?? thrown(error, wall)
}

const defectOf = (defect: unknown, wall: number): Breaker.Outcome => {
  const outcome = failureOf(defect, wall)
  return outcome._tag === "Failure" ? outcome : unknown
}

export const classifyCause = (cause: Cause.Cause<unknown>, wall: number): Breaker.Outcome => {
  if (Cause.isInterruptedOnly(cause)) return Breaker.released
  const failure = Cause.failureOption(cause)
  if (Option.isSome(failure)) return failureOf(failure.value, wall)
  const defect = Cause.dieOption(cause)
  return Option.isSome(defect) ? defectOf(defect.value, wall) : unknown
}

export const classify: Classify = (exit, wall) =>
  exit._tag === "Success" ? succeeded : classifyCause(exit.cause, wall)

/**
 * Asks a classifier, who may throw: then the default one decides, and for an error that throws when it is read, it is a
 * failure. Interruption is never asked about (a caller who goes away releases).
 */
export const outcomeOf = <A, E>(ask: Classify<A, E>, exit: Exit.Exit<A, E>, clock: Clock): Breaker.Outcome => {
  if (exit._tag === "Failure" && Cause.isInterruptedOnly(exit.cause)) return Breaker.released
  const wall = clock.unsafeCurrentTimeMillis()
  try {
    return ask(exit, wall)
  } catch {
    try {
      return classify(exit, wall)
    } catch {
      return unknown
    }
  }
}
