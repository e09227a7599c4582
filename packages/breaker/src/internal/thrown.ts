import * as Breaker from "@switchgear/core/Breaker"
import type { Failure } from "@switchgear/failures/Failure"
import * as Thrown from "@switchgear/failures/Thrown"

/** A classified failure as the machine takes it. Where nothing was called, or nobody waited, it is none. */
export const outcomeOfFailure = ({ kind, retryAfter, status }: Failure): Breaker.Outcome =>
  kind === "circuit_open" || kind === "cancelled" ? Breaker.released : Breaker.failure(kind, { status, retryAfter })

/** `wall`: ms since 1970, for dates in a Retry-After. */
export const thrown = (error: unknown, wall: number): Breaker.Outcome =>
  outcomeOfFailure(Thrown.classify(error, { now: wall }))
