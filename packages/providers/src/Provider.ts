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
  /**
   * ms to a stream's first output, or to the whole of a JSON answer: the lease of a probe, which must not outlive it
   * (SEMANTICS A5). The provider's own limits go before where they are shorter.
   */
  readonly answerWithin?: number
  /** The caller's own key (ROUTING W7), sent instead of the provider's. */
  readonly apiKey?: Redacted.Redacted
}

/**
 * A request from a JSON body, for those who have no bytes yet. Model and `stream` are the body's own.
 *
 * @example
 * ```ts
 * import * as Provider from "@switchgear/providers/Provider"
 * import * as assert from "node:assert"
 *
 * const request = Provider.request("messages", { model: "m", stream: true, max_tokens: 10, messages: [] })
 * assert.strictEqual(request.model, "m")
 * assert.strictEqual(request.stream, true)
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const request = (
  operation: Operation,
  body: { readonly model: string; readonly stream?: boolean; readonly [field: string]: unknown },
  options: Partial<Pick<ProviderRequest, "headers" | "retry" | "timeLeft" | "answerWithin" | "apiKey">> = {}
): ProviderRequest => ({
  headers: {},
  ...options,
  operation,
  model: body.model,
  body: new TextEncoder().encode(JSON.stringify(body)),
  stream: body.stream === true
})

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
 * An accepted answer: complete, or a stream that has begun.
 *
 * @since 0.1.0
 * @category models
 */
export type Answer = JsonAnswer | StreamAnswer

/**
 * The attempt failed; thrown by a stream's body it failed after output. `response` is what the upstream said before any
 * output, for a client who speaks its dialect: with a status of 200 it is an error that came in a 200.
 *
 * @example
 * ```ts
 * import * as Failure from "@switchgear/failures/Failure"
 * import { ProviderError } from "@switchgear/providers/Provider"
 * import * as assert from "node:assert"
 *
 * const error = new ProviderError({ provider: "openai", failure: Failure.make("timeout", "no output within 60000 ms") })
 * assert.strictEqual(error.failure.scope, "provider")
 * ```
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
 * A provider. Interrupting `call` closes the upstream call at once: before headers, during a JSON body and in a stream. It
 * answers with a stream only to a request that asks for one.
 *
 * @since 0.1.0
 * @category models
 */
export interface Provider {
  readonly name: string
  /** What it can be asked; absent: anything. Asked something else it fails with `client_fault`. */
  readonly operations?: ReadonlyArray<Operation>
  /**
   * What of a request it has no words for, by the fields' paths; absent or empty: nothing. Such a request is for another
   * target, which can be known before anything is called (ROUTING W6). Called all the same it fails with `client_fault`,
   * code `untranslatable`.
   */
  readonly cannotCarry?: (request: ProviderRequest) => ReadonlyArray<string>
  readonly call: (request: ProviderRequest) => Effect.Effect<Answer, ProviderError>
}

/**
 * Why a provider cannot serve a request whatever happens, in words for telemetry; `undefined` if it may. Looked at before
 * a call, it makes a target ineligible instead of failed (ROUTING W6).
 *
 * @example
 * ```ts
 * import * as Provider from "@switchgear/providers/Provider"
 * import * as ScriptedProvider from "@switchgear/providers/ScriptedProvider"
 * import * as Translated from "@switchgear/providers/Translated"
 * import * as assert from "node:assert"
 *
 * const chat = { ...ScriptedProvider.make("chat", [ScriptedProvider.ok()]), operations: ["chat.completions"] } as const
 * const request = Provider.request("messages", { model: "m", max_tokens: 9, messages: [], top_k: 5 })
 * assert.strictEqual(Provider.obstacle(chat, request), "it does not speak messages")
 * assert.strictEqual(Provider.obstacle(Translated.make(chat), request), "it cannot carry top_k")
 * ```
 *
 * @since 0.1.0
 * @category predicates
 */
export const obstacle = (provider: Provider, request: ProviderRequest): string | undefined => {
  const { operations } = provider
  if (operations !== undefined && !operations.includes(request.operation))
    return `it does not speak ${request.operation}`
  const fields = provider.cannotCarry?.(request) ?? []
  return fields.length === 0 ? undefined : `it cannot carry ${fields.join(", ")}`
}

/**
 * The provider of a service that uses one only. Who uses several holds them as values.
 *
 * @example
 * ```ts
 * import * as Provider from "@switchgear/providers/Provider"
 * import * as ScriptedProvider from "@switchgear/providers/ScriptedProvider"
 * import * as Effect from "effect/Effect"
 * import * as assert from "node:assert"
 *
 * const ask = Effect.gen(function*() {
 *   const provider = yield* Provider.Provider
 *   return yield* provider.call(Provider.request("messages", { model: "m", messages: [] }))
 * })
 * const Test = ScriptedProvider.make("test", [ScriptedProvider.ok("hi")]).layer
 *
 * assert.strictEqual((await Effect.runPromise(Effect.provide(ask, Test)))._tag, "Json")
 * ```
 *
 * @since 0.1.0
 * @category models
 */
export const Provider: Context.Tag<Provider, Provider> = Context.GenericTag<Provider>("@switchgear/providers/Provider")
