/**
 * What a model's failure means, as the cause of an `AiError`.
 *
 * @since 0.1.0
 */
import type { Failure, Kind, Scope } from "@switchgear/failures/Failure"
import type { ProviderKind } from "@switchgear/failures/ProviderKind"
import * as Thrown from "@switchgear/failures/Thrown"
import * as Data from "effect/Data"

/**
 * Stands where an `AiError` carried what it was caused by: the classified failure, and in `cause` what is fit to be shown
 * of the original. It holds no key, no header and no address.
 *
 * @since 0.1.0
 * @category errors
 * @example
 * ```ts
 * import * as LanguageModel from "@effect/ai/LanguageModel"
 * import * as GuardedLanguageModel from "@switchgear/ai/GuardedLanguageModel"
 * import { ModelFailure } from "@switchgear/ai/ModelFailure"
 * import { make, networkError } from "@switchgear/ai/ScriptedLanguageModel"
 * import * as CircuitBreakerRegistry from "@switchgear/breaker/CircuitBreakerRegistry"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Effect from "effect/Effect"
 * import * as assert from "node:assert"
 *
 * const error = await LanguageModel.generateText({ prompt: "Hello" }).pipe(
 *   Effect.flip,
 *   Effect.provide(GuardedLanguageModel.withCircuitBreaker(make([networkError()]).layer, { key: "gpt" })),
 *   Effect.provide(CircuitBreakerRegistry.layer({ policy: Policy.hosted })),
 *   Effect.runPromise
 * )
 * const cause = error._tag === "HttpRequestError" ? error.cause : undefined
 * assert.ok(cause instanceof ModelFailure && cause.kind === "network_error" && cause.code === "ECONNREFUSED")
 * ```
 */
export class ModelFailure extends Data.TaggedError("ModelFailure")<{
  readonly kind: Kind
  readonly scope: Scope
  /** The HTTP status, where there was one. */
  readonly status?: number
  /** ms, a lower bound for the scope it came from. */
  readonly retryAfter?: number
  /** The vendor's own code, where it gave one. */
  readonly code?: string
  readonly message: string
  readonly cause?: Error
}> {}

/**
 * What an error of a model means: kind, scope, status, retry-after. An error that was redacted means what it meant before.
 *
 * @since 0.1.0
 * @category accessors
 * @example
 * ```ts
 * import * as AiError from "@effect/ai/AiError"
 * import * as ModelFailure from "@switchgear/ai/ModelFailure"
 * import * as Option from "effect/Option"
 * import * as assert from "node:assert"
 *
 * const error = new AiError.HttpResponseError({
 *   module: "OpenAiClient",
 *   method: "createResponse",
 *   reason: "StatusCode",
 *   request: { method: "POST", url: "/responses", urlParams: [], hash: Option.none(), headers: {} },
 *   response: { status: 429, headers: { "retry-after": "3" } }
 * })
 * const { kind, retryAfter } = ModelFailure.failureOf(error)
 * assert.deepStrictEqual([kind, retryAfter], ["rate_limit", 3_000])
 * ```
 */
export const failureOf = (
  error: unknown,
  options: {
    /** Wall time in ms, for dates in a Retry-After. Default 0: then such dates count for nothing. */
    readonly now?: number | undefined
    /** Whose tables to read. Default `openai-compatible`, which knows the common words of all. */
    readonly provider?: ProviderKind | undefined
  } = {}
): Failure =>
  Thrown.classify(error, {
    now: options.now ?? Number.POSITIVE_INFINITY,
    ...(options.provider === undefined ? {} : { provider: options.provider })
  })
