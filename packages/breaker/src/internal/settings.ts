import type * as Breaker from "@switchgear/core/Breaker"
import type { Policy } from "@switchgear/core/Policy"
import type * as Exit from "effect/Exit"
import type { Transition } from "../Transition.js"
import type { Hub } from "./hub.js"
import type { CircuitBreaker } from "./model.js"

/**
 * What an ended call means for the breaker's health. `wall` is the time in ms since 1970, for dates in a Retry-After.
 * It is not asked about a call that was interrupted: that releases.
 *
 * @since 0.1.0
 * @category models
 */
export type Classify<A = unknown, E = unknown> = (exit: Exit.Exit<A, E>, wall: number) => Breaker.Outcome

/** What the breakers of a registry share, so that each of them is small. */
export interface Settings {
  readonly policy: Policy
  readonly enforce: boolean
  readonly classify: Classify
  /**
   * ms on the monotonic clock, the zero of the machine's time: small integers are cheaper than readings since 1970, and
   * only differences matter (SEMANTICS T1).
   */
  readonly origin: number
  readonly hub: Hub
  /** Told of transitions, in order, once the state is in place. */
  readonly deliver: (breaker: CircuitBreaker, transitions: ReadonlyArray<Transition>) => void
}
