/**
 * Why a request was not served, and what its client is to be told.
 *
 * @since 0.1.0
 */
import type { Fault } from "@switchgear/core/Fallback"
import type { ProviderError } from "@switchgear/providers/Provider"
import * as Data from "effect/Data"
import type { Attempt } from "./Attempt.js"

/**
 * A target was called and failed.
 *
 * @since 0.1.0
 * @category models
 */
export interface Failed {
  readonly _tag: "Failed"
  readonly model: string
  readonly error: ProviderError
}

/**
 * We refused for now. `retryAfter` in ms is the earliest time that anything may be tried; absent when only a command
 * ends the refusal (ROUTING F10, W2).
 *
 * @since 0.1.0
 * @category models
 */
export interface Refused {
  readonly _tag: "Refused"
  readonly kind: "circuit_open" | "saturated"
  readonly status: 503 | 429
  readonly retryAfter?: number
  /** ms: how long the first refused target's circuit opens as a whole. */
  readonly cooldown?: number
}

/**
 * What to answer (ROUTING F5, F6, F10).
 *
 * @since 0.1.0
 * @category models
 */
export type Reason =
  | Failed
  | Refused
  /** `surface: "exhausted"`: every error there was, in order, two at least. */
  | { readonly _tag: "Exhausted"; readonly errors: ReadonlyArray<Failed | Refused> }
  /** 403 `model_not_allowed` */
  | { readonly _tag: "NotAllowed" }
  /** 503 `policy_unavailable` */
  | { readonly _tag: "PolicyUnavailable" }
  | { readonly _tag: "UnknownModel" }
  /** The model cannot carry this request (ROUTING W6). */
  | { readonly _tag: "Ineligible"; readonly reason: string }

const words = (reason: Reason): string => {
  switch (reason._tag) {
    case "Failed":
      return `failed: ${reason.error.failure.kind}`
    case "Refused":
      return `was refused: ${reason.kind}`
    case "Exhausted":
      return "failed, and so did its fallbacks"
    case "NotAllowed":
      return "is not allowed"
    case "PolicyUnavailable":
      return "may or may not be allowed: the policy cannot be read"
    case "UnknownModel":
      return "does not exist"
    case "Ineligible":
      return `cannot carry this request: ${reason.reason}`
  }
}

/**
 * The request was not served. What is in `reason` an attempt really had; the attempts are for telemetry, not for the
 * client.
 *
 * @since 0.1.0
 * @category errors
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import { RouteError } from "@switchgear/routing/RouteError"
 *
 * const error = new RouteError({ model: "gpt-5", reason: { _tag: "UnknownModel" }, attempts: [] })
 * assert.strictEqual(error.message, `model "gpt-5" does not exist`)
 * ```
 */
export class RouteError extends Data.TaggedError("RouteError")<{
  /** The model that was asked for. */
  readonly model: string
  readonly reason: Reason
  readonly attempts: ReadonlyArray<Attempt>
}> {
  override get message(): string {
    return `model "${this.model}" ${words(this.reason)}`
  }
}

/**
 * Providers and models that do not fit together, with every fault, its path and the fix (ROUTING F11).
 *
 * @since 0.1.0
 * @category errors
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import { RouterConfigError } from "@switchgear/routing/RouteError"
 *
 * const error = new RouterConfigError({ faults: [{ path: "models.0.provider", message: "there is no such provider" }] })
 * assert.strictEqual(error.message, "models.0.provider: there is no such provider")
 * ```
 */
export class RouterConfigError extends Data.TaggedError("RouterConfigError")<{
  readonly faults: ReadonlyArray<Fault>
}> {
  override get message(): string {
    return this.faults.map((fault) => `${fault.path}: ${fault.message}`).join("\n")
  }
}
