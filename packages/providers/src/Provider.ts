/**
 * The byte-level port to an LLM provider: one attempt in, an accepted answer or a classified failure out.
 *
 * @since 0.1.0
 */
import type { Failure } from "@switchgear/failures/Failure"
import * as Data from "effect/Data"
import type * as Effect from "effect/Effect"

/**
 * The endpoint a request is meant for, by the field's own names.
 *
 * @since 0.1.0
 * @category models
 */
export type Operation = "chat.completions" | "responses" | "embeddings" | "messages"

/**
 * One attempt. `body` goes upstream as it is; `headers` are the ones to forward and never hold credentials.
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
 * rejects with a `ProviderError`. Leaving it early (`return()`) closes the upstream call. It is read once.
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
 * A provider. Interrupting `call` closes the upstream call.
 *
 * @since 0.1.0
 * @category models
 */
export interface Provider {
  readonly name: string
  readonly call: (request: ProviderRequest) => Effect.Effect<Answer, ProviderError>
}
