/**
 * What a failed call means, whatever it came from: an answer, a stream, a thrown error.
 *
 * @since 0.1.0
 */

/**
 * The meaning of a failure. Whether it counts in a breaker and whether it moves a call to the next target is policy.
 *
 * @since 0.1.0
 * @category models
 */
export type Kind =
  | "rate_limit"
  | "quota_exhausted"
  | "overloaded"
  | "server_error"
  | "timeout"
  | "network_error"
  | "auth"
  | "model_unavailable"
  | "context_length"
  | "content_filter"
  | "client_fault"
  | "cancelled"
  | "circuit_open"
  | "unknown"

/**
 * To whom a failure belongs, so that only the breakers covering it count it.
 *
 * @since 0.1.0
 * @category models
 */
export type Scope =
  | "provider"
  | "provider+model"
  | "host"
  | "account"
  | "project"
  | "key"
  | "key+model"
  | "model"
  | "none"

/**
 * A classified failure. `message` is fit to be shown: key-like strings in it are masked.
 *
 * @since 0.1.0
 * @category models
 */
export interface Failure {
  readonly kind: Kind
  readonly scope: Scope
  readonly status?: number
  /** ms, whole; a lower bound for the scope it came from. */
  readonly retryAfter?: number
  /** The vendor's own code, where it gave one. */
  readonly code?: string
  readonly message: string
}
