/**
 * A circuit breaker around any model of `@effect/ai`.
 *
 * A model's error type is fixed, so `CircuitOpen` travels as the cause of an `AiError`: `CircuitBreaker.findOpen` gets it back.
 * No error that passes holds a key, a header or an address, and neither does what the model logs or writes to its spans.
 *
 * @since 0.1.0
 */
import * as LanguageModel from "@effect/ai/LanguageModel"
import type * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
import { CircuitBreakerRegistry } from "@switchgear/breaker/CircuitBreakerRegistry"
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as attempt from "./internal/attempt.js"
import { openTo } from "./internal/faults.js"
import * as service from "./internal/service.js"
import { type ModelOptions, targetOf } from "./internal/target.js"

export { findOpen } from "@switchgear/breaker/CircuitOpen"

export type {
  /**
   * How a model is called.
   *
   * @since 0.1.0
   * @category models
   */
  ModelOptions,
  /**
   * Limits of one call. What runs out is a failure of kind `timeout`, which counts against the model; an `Effect.timeout`
   * around a call is a caller who leaves, and counts against nobody. While tools of the caller run, no limit does.
   *
   * @since 0.1.0
   * @category models
   */
  Timeouts
} from "./internal/target.js"

/**
 * How a model is guarded.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options extends ModelOptions {
  readonly breaker: CircuitBreaker.CircuitBreaker
}

/**
 * The same model under a breaker.
 *
 * - `generateText` and `generateObject` are one call each, retries of the client's included.
 * - `streamText` is one call until its `finish`. An `error` part, an end without a finish and an answer without anything in
 *   it are failures. A probe has answered at its first output: text, reasoning, a tool call (SEMANTICS R7).
 * - An answer that does not fit the caller's schema, and a tool that fails, are not the model's health.
 *
 * @since 0.1.0
 * @category guards
 * @example
 * ```ts
 * import * as LanguageModel from "@effect/ai/LanguageModel"
 * import * as GuardedLanguageModel from "@switchgear/ai/GuardedLanguageModel"
 * import * as ScriptedLanguageModel from "@switchgear/ai/ScriptedLanguageModel"
 * import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Effect from "effect/Effect"
 * import * as assert from "node:assert"
 *
 * const program = Effect.gen(function*() {
 *   const breaker = yield* CircuitBreaker.make({ name: "gpt", policy: Policy.consecutive({ failureThreshold: 1 }) })
 *   const model = GuardedLanguageModel.guard(yield* LanguageModel.LanguageModel, { breaker })
 *   yield* Effect.ignore(model.generateText({ prompt: "Hello" }))
 *   return yield* Effect.flip(model.generateText({ prompt: "Hello" }))
 * })
 * const down = ScriptedLanguageModel.make([ScriptedLanguageModel.status(503)])
 * const error = await Effect.runPromise(Effect.provide(program, down.layer))
 * assert.strictEqual(GuardedLanguageModel.findOpen(error)?.breaker, "gpt")
 * ```
 */
export const guard: {
  (options: Options): (self: LanguageModel.Service) => LanguageModel.Service
  (self: LanguageModel.Service, options: Options): LanguageModel.Service
} = dual(2, (self: LanguageModel.Service, options: Options): LanguageModel.Service => {
  const target = targetOf(self, options.breaker, options)
  return service.make({
    effect: (method, call) =>
      Effect.flatMap(attempt.effect(target, method, call), ({ run }) => Effect.mapError(run, openTo(method))),
    stream: (method, call) =>
      Stream.unwrap(Effect.map(attempt.stream(target, method, call), ({ run }) => Stream.mapError(run, openTo(method))))
  })
})

/**
 * A layer's model under the registry's breaker of a key.
 *
 * @since 0.1.0
 * @category combinators
 * @example
 * ```ts
 * import * as LanguageModel from "@effect/ai/LanguageModel"
 * import * as GuardedLanguageModel from "@switchgear/ai/GuardedLanguageModel"
 * import * as ScriptedLanguageModel from "@switchgear/ai/ScriptedLanguageModel"
 * import * as CircuitBreakerRegistry from "@switchgear/breaker/CircuitBreakerRegistry"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 * import * as assert from "node:assert"
 *
 * const Model = ScriptedLanguageModel.make([ScriptedLanguageModel.ok("Hello")]).layer.pipe(
 *   GuardedLanguageModel.withCircuitBreaker({ key: "gpt" }),
 *   Layer.provide(CircuitBreakerRegistry.layer({ policy: Policy.hosted }))
 * )
 * const answer = LanguageModel.generateText({ prompt: "Hello" }).pipe(Effect.provide(Model))
 * assert.strictEqual((await Effect.runPromise(answer)).text, "Hello")
 * ```
 */
export const withCircuitBreaker: {
  (
    options: ModelOptions & { readonly key: string }
  ): <E, R>(
    self: Layer.Layer<LanguageModel.LanguageModel, E, R>
  ) => Layer.Layer<LanguageModel.LanguageModel, E, R | CircuitBreakerRegistry>
  <E, R>(
    self: Layer.Layer<LanguageModel.LanguageModel, E, R>,
    options: ModelOptions & { readonly key: string }
  ): Layer.Layer<LanguageModel.LanguageModel, E, R | CircuitBreakerRegistry>
} = dual(
  2,
  <E, R>(
    self: Layer.Layer<LanguageModel.LanguageModel, E, R>,
    options: ModelOptions & { readonly key: string }
  ): Layer.Layer<LanguageModel.LanguageModel, E, R | CircuitBreakerRegistry> => {
    const guarded = Effect.gen(function* () {
      const registry = yield* CircuitBreakerRegistry
      const breaker = yield* registry.get(options.key)
      return guard(yield* LanguageModel.LanguageModel, { ...options, breaker })
    })
    return Layer.provide(Layer.effect(LanguageModel.LanguageModel, guarded), self)
  }
)
