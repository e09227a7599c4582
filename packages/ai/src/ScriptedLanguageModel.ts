/**
 * A model that does what it is told, call by call: for tests, simulations and examples. Time in it is that of the `Clock`
 * in force. It is a whole `LanguageModel` of `@effect/ai`: tools run, objects are decoded.
 *
 * @since 0.1.0
 */
import * as LanguageModel from "@effect/ai/LanguageModel"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as script from "./internal/script.js"
import type { Step } from "./internal/scriptModel.js"

export type { Step, StreamItem, Wait } from "./internal/scriptModel.js"
export {
  delayed,
  die,
  errorPart,
  fail,
  finish,
  hang,
  networkError,
  object,
  ok,
  parts,
  status,
  stream,
  toolCall,
  wait
} from "./ScriptedSteps.js"

/**
 * A scripted model: the layer to give to the code under test, and how often it was asked.
 *
 * @since 0.1.0
 * @category models
 */
export interface ScriptedLanguageModel {
  readonly layer: Layer.Layer<LanguageModel.LanguageModel>
  /** How many calls have reached the model. A stream is a call once it is run. */
  readonly calls: Effect.Effect<number>
}

/**
 * A model that takes one step per call; the last step repeats. Calls count across all who use the layer.
 *
 * @since 0.1.0
 * @category constructors
 * @example
 * ```ts
 * import * as LanguageModel from "@effect/ai/LanguageModel"
 * import { make, ok, status } from "@switchgear/ai/ScriptedLanguageModel"
 * import * as Effect from "effect/Effect"
 * import * as assert from "node:assert"
 *
 * const model = make([status(503), ok("back")])
 * const program = Effect.gen(function*() {
 *   const error = yield* Effect.flip(LanguageModel.generateText({ prompt: "Hello" }))
 *   assert.strictEqual(error._tag, "HttpResponseError")
 *   return (yield* LanguageModel.generateText({ prompt: "Hello" })).text
 * }).pipe(Effect.provide(model.layer))
 * assert.strictEqual(await Effect.runPromise(program), "back")
 * assert.strictEqual(Effect.runSync(model.calls), 2)
 * ```
 */
export const make = (steps: readonly [Step, ...ReadonlyArray<Step>]): ScriptedLanguageModel => {
  let calls = 0
  const take = (): Step => {
    const step = steps[Math.min(calls, steps.length - 1)] ?? steps[0]
    calls++
    return step
  }
  return {
    layer: Layer.effect(
      LanguageModel.LanguageModel,
      LanguageModel.make({
        generateText: () => Effect.suspend(() => script.answer(take())),
        streamText: () => Stream.suspend(() => script.play(take()))
      })
    ),
    calls: Effect.sync(() => calls)
  }
}
