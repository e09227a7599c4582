import type * as Breaker from "@switchgear/core/Breaker"
import type { Snapshot } from "@switchgear/core/Snapshot"
import type { Clock } from "effect/Clock"
import type * as Effect from "effect/Effect"

/** What a breaker that others share asks of its store, because this process alone cannot say. None of it fails. */
export interface Remote {
  /**
   * A call that may be a probe, within a mask: what waits its turn is interruptible by `restore`, and a lease that was
   * given comes out.
   */
  readonly acquire: (
    clock: Clock,
    restore: <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  ) => Effect.Effect<Breaker.Admission>
  /** A probe's outcome. Not interruptible. */
  readonly report: (permit: Breaker.Permit, outcome: Breaker.Outcome, clock: Clock) => Effect.Effect<Breaker.Reported>
  readonly command: (command: Breaker.Command, clock: Clock) => Effect.Effect<void>
  readonly restore: (snapshot: Snapshot, clock: Clock) => Effect.Effect<void>
}
