/**
 * What happened to one target of a request, for telemetry (ROUTING T1).
 *
 * @since 0.1.0
 */
import type { ObservedState } from "@switchgear/core/Breaker"
import type { ProviderError } from "@switchgear/providers/Provider"

interface Base {
  readonly model: string
  /** Not the model that was asked for. */
  readonly hop: boolean
}

interface Called extends Base {
  readonly provider: string
  /** ms until the answer was accepted (a stream: until its first output), or until it failed. */
  readonly latency: number
  /** What the target's breaker read before; the worst of several. */
  readonly state: ObservedState
  /** The call was a probe. */
  readonly probe: boolean
  /** Called although every target had refused (ROUTING F10). */
  readonly lastResort: boolean
}

/**
 * The target was called and its answer accepted.
 *
 * @since 0.1.0
 * @category models
 */
export interface Served extends Called {
  readonly _tag: "Served"
}

/**
 * The target was called and failed before any output.
 *
 * @since 0.1.0
 * @category models
 */
export interface Failed extends Called {
  readonly _tag: "Failed"
  readonly error: ProviderError
}

/**
 * The target was not called: its circuit was open, or it had no room. `retryAfter` in ms; `cooldown` is how long the
 * circuit opens as a whole.
 *
 * @since 0.1.0
 * @category models
 */
export interface Refused extends Base {
  readonly _tag: "Refused"
  readonly provider: string
  readonly kind: "circuit_open" | "saturated"
  readonly retryAfter?: number
  readonly cooldown?: number
}

/**
 * The target was passed over: the policy denies it or cannot be asked, it does not exist, it cannot carry the request,
 * or the fallback budget was spent.
 *
 * @since 0.1.0
 * @category models
 */
export interface Skipped extends Base {
  readonly _tag: "Skipped"
  readonly reason: "denied" | "policy_error" | "unknown" | "over_budget" | "context_window" | "ineligible"
  /** Of an ineligible target: what it cannot carry (ROUTING W6). */
  readonly obstacle?: string
}

/**
 * What happened to one target.
 *
 * @since 0.1.0
 * @category models
 */
export type Attempt = Served | Failed | Refused | Skipped
