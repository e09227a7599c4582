/**
 * What breakers did, as data for people and programs.
 *
 * @since 0.1.0
 */
import type * as Breaker from "@switchgear/core/Breaker"

/**
 * A change of state, after it was made (SEMANTICS S3).
 *
 * @since 0.1.0
 * @category models
 */
export interface Transition {
  readonly breaker: string
  /** States as they are held: forced ones by their own names. */
  readonly from: Breaker.State["_tag"]
  readonly to: Breaker.State["_tag"]
  /** Wall time, in ms since 1970. */
  readonly at: number
  /** The era after the transition. */
  readonly era: number
  /** The rule's number and, for a trip, the counts and the kind that decided. */
  readonly reason: Breaker.Reason
}

/**
 * What a breaker has seen since it was made. Outcomes are counted as they were reported; whether a failure counts
 * against the breaker is the policy's to say.
 *
 * A call on a Closed breaker that is interrupted is admitted and nothing else: there it costs nothing to walk away. A
 * stream that was a probe and broke after its first output is counted twice, as success and as failure.
 *
 * @since 0.1.0
 * @category models
 */
export interface Counters {
  readonly admitted: number
  /** Calls refused; in shadow mode, calls that would have been and were made nevertheless. */
  readonly rejected: number
  readonly succeeded: number
  readonly failed: number
  readonly ignored: number
  /** Probes that were interrupted, and streams left before their first output. */
  readonly released: number
  readonly transitions: number
}

/**
 * A breaker as it is.
 *
 * @since 0.1.0
 * @category models
 */
export interface Status {
  readonly name: string
  /** `false`: shadow mode. It counts and changes state, and rejects nothing. */
  readonly enforced: boolean
  /** `since` and `until` are wall time, in ms since 1970. */
  readonly view: Breaker.View
  readonly counters: Counters
  /** The last 20, oldest first. */
  readonly transitions: ReadonlyArray<Transition>
}
