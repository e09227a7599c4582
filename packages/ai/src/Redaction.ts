/**
 * `AiError` of `@effect/ai` carries the request it failed with, headers and key included, and its causes carry it again.
 * Guarded and fallback models let none of that pass; here it is for models that are not guarded.
 *
 * @since 0.1.0
 */
import type * as AiError from "@effect/ai/AiError"
import type { ProviderKind } from "@switchgear/failures/ProviderKind"
import type * as Cause from "effect/Cause"
import * as Redacted from "effect/Redacted"
import * as redacting from "./internal/redact.js"

/**
 * What is known of an error from elsewhere.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** Masked wherever they stand. What the request's own headers hold, and what looks like a key, is masked without being named. */
  readonly secrets?: ReadonlyArray<Redacted.Redacted> | undefined
  /** Whose tables say what the error means. Default `openai-compatible`, which knows the common words of all. */
  readonly provider?: ProviderKind | undefined
  /** Wall time in ms, for dates in a Retry-After. */
  readonly now?: number | undefined
}

const valuesOf = (options: Options): ReadonlyArray<string> => (options.secrets ?? []).map(Redacted.value)

/**
 * The same error, of the same class, without a secret: no request headers, of answer headers only those about retrying
 * and request ids, of URLs only the path; keys masked in every text, the upstream's echo included. `cause` becomes a `ModelFailure`,
 * which says what the error meant, or the `CircuitOpen` that was in it.
 *
 * @since 0.1.0
 * @category redacting
 * @example
 * ```ts
 * import * as AiError from "@effect/ai/AiError"
 * import * as Redaction from "@switchgear/ai/Redaction"
 * import * as Option from "effect/Option"
 * import * as assert from "node:assert"
 *
 * const error = new AiError.HttpRequestError({
 *   module: "OpenAiClient",
 *   method: "createResponse",
 *   reason: "Transport",
 *   request: {
 *     method: "POST",
 *     url: "https://api.openai.com/v1/responses?key=s3cret-word",
 *     urlParams: [],
 *     hash: Option.none(),
 *     headers: { authorization: "Bearer s3cret-word" }
 *   },
 *   description: "s3cret-word was refused"
 * })
 * const safe = Redaction.redact(error)
 * assert.ok(!JSON.stringify(safe).includes("s3cret-word"))
 * assert.strictEqual(safe.description, "[masked] was refused")
 * ```
 */
export const redact = (error: AiError.AiError, options: Options = {}): AiError.AiError =>
  redacting.redactError(error, { secrets: valuesOf(options), provider: options.provider, now: options.now })

/**
 * A cause whose `AiError`s and defects hold no secret; errors of other kinds are the caller's own and stay what they are.
 *
 * @since 0.1.0
 * @category redacting
 * @example
 * ```ts
 * import * as Redaction from "@switchgear/ai/Redaction"
 * import * as Cause from "effect/Cause"
 * import * as assert from "node:assert"
 *
 * const safe = Redaction.redactCause(Cause.die(new Error("Incorrect API key provided: sk-proj-0123456789")))
 * assert.ok(!Cause.pretty(safe).includes("sk-proj"))
 * ```
 */
export const redactCause = <E>(cause: Cause.Cause<E>, options: Options = {}): Cause.Cause<E> =>
  redacting.redactCause(cause, { secrets: valuesOf(options), provider: options.provider, now: options.now })
