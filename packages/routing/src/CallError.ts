/**
 * How a call fails, inside a pipeline and to its caller.
 *
 * @since 0.1.0
 */
import type { Failure } from "@switchgear/failures/Failure"
import type { ProviderError } from "@switchgear/providers/Provider"
import * as Data from "effect/Data"
import type { Rejected } from "./Rejected.js"
import type { Refused, RouteError } from "./RouteError.js"

/**
 * The target was not called: its circuit is open, it has no room, or the fallback budget is spent. Fallback moves on.
 *
 * @since 0.1.0
 * @category errors
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import { TargetRefused } from "@switchgear/routing/CallError"
 *
 * const refused = new TargetRefused({ kind: "circuit_open", retryAfter: 30_000 })
 * assert.strictEqual(refused.message, "circuit_open")
 * ```
 */
export class TargetRefused extends Data.TaggedError("TargetRefused")<{
  readonly kind: "circuit_open" | "saturated" | "over_budget"
  /** ms */
  readonly retryAfter?: number | undefined
  /** The kind of failure that opened the circuit. */
  readonly openedBy?: string | undefined
  /** ms: how long the circuit opens as a whole. */
  readonly cooldown?: number | undefined
}> {
  override get message(): string {
    return this.kind
  }
}

/**
 * What a handler fails with: inside Fallback that of one target, outside it that of the whole call.
 *
 * @since 0.1.0
 * @category errors
 */
export type CallError = RouteError | Rejected | ProviderError | TargetRefused

/** Statuses that say what is wrong with the request itself: they are the client's own (ROUTING W4). */
const clientsOwn: ReadonlyArray<number> = [400, 404, 405, 409, 413, 415, 422]

const own = ({ status }: Failure, otherwise: number): number =>
  status !== undefined && clientsOwn.includes(status) ? status : otherwise

const ofFailure = (failure: Failure): number => {
  switch (failure.kind) {
    case "rate_limit":
    case "quota_exhausted":
      return 429
    case "overloaded":
    case "auth":
    case "circuit_open":
      return 503
    case "timeout":
      return 504
    case "server_error":
      return failure.status !== undefined && failure.status >= 500 && failure.status <= 599 ? failure.status : 502
    case "network_error":
    case "unknown":
      return 502
    case "model_unavailable":
      return own(failure, 503)
    case "context_length":
    case "content_filter":
    case "client_fault":
      return own(failure, 400)
    case "cancelled":
      return 499
  }
}

const ofRoute = ({ reason }: RouteError): number => {
  switch (reason._tag) {
    case "Failed":
      return ofFailure(reason.error.failure)
    case "Refused":
      return reason.status
    case "Exhausted": {
      const [first] = reason.errors
      return first === undefined ? 502 : first._tag === "Failed" ? ofFailure(first.error.failure) : first.status
    }
    case "NotAllowed":
      return 403
    case "PolicyUnavailable":
      return 503
    case "UnknownModel":
      return 404
    case "Ineligible":
      return 400
  }
}

/**
 * The HTTP status that a client is told (ROUTING W2, W4): our own key's 401 and 403 are 503, our timeout 504, what is
 * wrong with the request its own 4xx.
 *
 * @since 0.1.0
 * @category statuses
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as CallError from "@switchgear/routing/CallError"
 * import { RouteError } from "@switchgear/routing/RouteError"
 *
 * const error = new RouteError({ model: "gpt-4o", reason: { _tag: "NotAllowed" }, attempts: [] })
 * assert.strictEqual(CallError.statusOf(error), 403)
 * ```
 */
export const statusOf = (error: CallError): number => {
  switch (error._tag) {
    case "RouteError":
      return ofRoute(error)
    case "Rejected":
      return error.status
    case "ProviderError":
      return ofFailure(error.failure)
    case "TargetRefused":
      return 503
  }
}

const ofReason = ({ reason }: RouteError): string => {
  switch (reason._tag) {
    case "Failed":
      return reason.error.failure.kind
    case "Refused":
      return reason.kind
    case "Exhausted": {
      const [first] = reason.errors
      return first === undefined ? "unknown" : first._tag === "Failed" ? first.error.failure.kind : first.kind
    }
    case "NotAllowed":
      return "model_not_allowed"
    case "PolicyUnavailable":
      return "policy_unavailable"
    case "UnknownModel":
      return "model_not_found"
    case "Ineligible":
      return "unsupported_by_model"
  }
}

/**
 * What went wrong in one word: a failure's kind, or the code of a refusal.
 *
 * @since 0.1.0
 * @category statuses
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as CallError from "@switchgear/routing/CallError"
 * import { Rejected } from "@switchgear/routing/Rejected"
 *
 * const error = new Rejected({ stage: "budget", status: 402, code: "budget_exceeded", message: "spent" })
 * assert.strictEqual(CallError.kindOf(error), "budget_exceeded")
 * ```
 */
export const kindOf = (error: CallError): string => {
  switch (error._tag) {
    case "RouteError":
      return ofReason(error)
    case "Rejected":
      return error.code
    case "ProviderError":
      return error.failure.kind
    case "TargetRefused":
      return error.kind
  }
}

const refusedAfter = (refused: Refused, mode: "remaining" | "cooldown"): number | undefined =>
  mode === "cooldown" ? (refused.cooldown ?? refused.retryAfter) : refused.retryAfter

/**
 * ms until a try makes sense, if that is known (ROUTING W2): until the earliest time that anything may be tried, or, as
 * ADR-0076 has it, the circuit's full cooldown.
 *
 * @since 0.1.0
 * @category statuses
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as CallError from "@switchgear/routing/CallError"
 * import { RouteError } from "@switchgear/routing/RouteError"
 *
 * const reason = { _tag: "Refused", kind: "circuit_open", status: 503, retryAfter: 9_500, cooldown: 30_000 } as const
 * const error = new RouteError({ model: "gpt-4o", reason, attempts: [] })
 * assert.deepStrictEqual([CallError.retryAfterOf(error), CallError.retryAfterOf(error, "cooldown")], [9_500, 30_000])
 * ```
 */
export const retryAfterOf = (error: CallError, mode: "remaining" | "cooldown" = "remaining"): number | undefined => {
  switch (error._tag) {
    case "Rejected":
    case "TargetRefused":
      return error.retryAfter
    case "ProviderError":
      return error.failure.retryAfter
    case "RouteError": {
      const { reason } = error
      const one = reason._tag === "Exhausted" ? reason.errors[0] : reason
      if (one?._tag === "Failed") return one.error.failure.retryAfter
      return one?._tag === "Refused" ? refusedAfter(one, mode) : undefined
    }
  }
}
