/**
 * The byte-level port to an LLM provider: one attempt in, an accepted answer or a classified failure out.
 *
 * @since 0.1.0
 */
import type { Failure } from "@switchgear/failures/Failure"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"

/**
 * The endpoint a request is meant for, by the field's own names.
 *
 * @since 0.1.0
 * @category models
 */
export type Operation = "chat.completions" | "responses" | "embeddings" | "messages"

/**
 * What a provider may do about a failure by itself (ROUTING F12): `wait` for as long as the answer asked, within its own
 * cap; retry `now`, but not wait for a Retry-After, because another target is left; `none` at all, because the call is a
 * probe or its breaker is Degraded.
 *
 * @since 0.1.0
 * @category models
 */
export type RetryMode = "wait" | "now" | "none"

/**
 * One attempt. `body` goes upstream as it is; `headers` are the ones to forward. Credentials among them are dropped.
 *
 * @since 0.1.0
 * @category models
 */
export interface ProviderRequest {
  readonly operation: Operation
  /** The name the upstream knows the model by; already in `body`. */
  readonly model: string
  readonly body: Uint8Array
  readonly stream: boolean
  readonly headers: Readonly<Record<string, string>>
  /** Default `wait`. Matters only to a provider that retries. */
  readonly retry?: RetryMode
  /** ms; what the caller can still wait. A provider gives up at the earlier of this and its own total limit. */
  readonly timeLeft?: number
  /** The caller's own key (ROUTING W7), sent instead of the provider's. */
  readonly apiKey?: Redacted.Redacted
}

/**
 * An accepted JSON answer, complete.
 *
 * @since 0.1.0
 * @category models
 */
export interface JsonAnswer {
  readonly _tag: "Json"
  readonly status: number
  /** Lower-case names; hop-by-hop headers are left out. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/**
 * An accepted stream: its first meaningful output has arrived and is in the first chunk together with what came before it.
 *
 * `body` ends only after the stream's own terminal event; a stream that is cut, times out or carries an error frame
 * rejects with a `ProviderError`. Leaving it early (`return()`) closes the upstream call. It is read once. An answer that is dropped unread holds
 * its connection until the total limit.
 *
 * @since 0.1.0
 * @category models
 */
export interface StreamAnswer {
  readonly _tag: "Stream"
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: AsyncIterable<Uint8Array>
}

/**
 * @since 0.1.0
 * @category models
 */
export type Answer = JsonAnswer | StreamAnswer

/**
 * The attempt failed before any output. `response` is what the upstream said, for a client who speaks its dialect.
 *
 * @since 0.1.0
 * @category errors
 */
export class ProviderError extends Data.TaggedError("ProviderError")<{
  readonly provider: string
  readonly failure: Failure
  readonly response?: {
    readonly status: number
    readonly headers: Readonly<Record<string, string>>
    readonly body: Uint8Array
  }
}> {}

/**
 * A provider. Interrupting `call` closes the upstream call at once: before headers, during a JSON body and in a stream.
 *
 * @since 0.1.0
 * @category models
 */
export interface Provider {
  readonly name: string
  /** What it can be asked; absent: anything. Asked something else it fails with `client_fault`. */
  readonly operations?: ReadonlyArray<Operation>
  readonly call: (request: ProviderRequest) => Effect.Effect<Answer, ProviderError>
}

/**
 * The provider of a service that uses one only. Who uses several holds them as values.
 *
 * @since 0.1.0
 * @category context
 */
export const Provider: Context.Tag<Provider, Provider> = Context.GenericTag<Provider>("@switchgear/providers/Provider")
