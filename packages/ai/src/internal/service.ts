import type * as AiError from "@effect/ai/AiError"
import type * as LanguageModel from "@effect/ai/LanguageModel"
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { Answer, Call } from "./attempt.js"
import type { Part } from "./parts.js"

/** What is done around every call of a model, whichever model that turns out to be. */
export interface Around {
  readonly effect: <A extends Answer, E, R>(
    method: string,
    call: Call<Effect.Effect<A, E, R>>
  ) => Effect.Effect<A, E | AiError.AiError, R>
  readonly stream: <P extends Part, E, R>(
    method: string,
    call: Call<Stream.Stream<P, E, R>>
  ) => Stream.Stream<P, E | AiError.AiError, R>
}

/**
 * `AiError` is in every branch of the error type that a model's methods compute from their options; the compiler does not
 * look into a conditional type.
 */
const effectOf = <A, E, R>(self: Effect.Effect<A, E | AiError.AiError, R>): Effect.Effect<A, E, R> =>
  self as Effect.Effect<A, E, R>

const streamOf = <A, E, R>(self: Stream.Stream<A, E | AiError.AiError, R>): Stream.Stream<A, E, R> =>
  self as Stream.Stream<A, E, R>

export const make = (around: Around): LanguageModel.Service => ({
  generateText: (options) =>
    effectOf(around.effect("generateText", (model, watch) => model.generateText(watch.options(options)))),
  generateObject: (options) =>
    effectOf(around.effect("generateObject", (model, watch) => model.generateObject(watch.options(options)))),
  streamText: (options) =>
    streamOf(around.stream("streamText", (model, watch) => model.streamText(watch.options(options))))
})
