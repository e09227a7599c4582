/**
 * A model that does what it is told, call by call: for tests, simulations and examples. Time in it is that of the `Clock`
 * in force. It is a whole `LanguageModel` of `@effect/ai`: tools run, objects are decoded.
 *
 * @since 0.1.0
 */
import * as AiError from "@effect/ai/AiError"
import * as LanguageModel from "@effect/ai/LanguageModel"
import type * as Response from "@effect/ai/Response"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as script from "./internal/script.js"
import type { Step, StreamItem, Wait } from "./internal/scriptModel.js"

export type {
  /**
   * What one call of a scripted model does.
   *
   * @since 0.1.0
   * @category models
   */
  Step,
  /**
   * What a scripted stream is made of: a text is a delta of it.
   *
   * @since 0.1.0
   * @category models
   */
  StreamItem,
  /**
   * Lets time pass.
   *
   * @since 0.1.0
   * @category models
   */
  Wait
} from "./internal/scriptModel.js"

/**
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

/**
 * Answers with a text. As a stream it is one delta of it.
 *
 * @since 0.1.0
 * @category steps
 */
export const ok = (text: string): Step => parts([{ type: "text", text }, script.finish("stop")])

/**
 * Answers `generateObject` with a value, as JSON.
 *
 * @since 0.1.0
 * @category steps
 */
export const object = (value: unknown): Step => ok(JSON.stringify(value))

/**
 * Calls a tool of the caller's toolkit.
 *
 * @since 0.1.0
 * @category steps
 */
export const toolCall = (name: string, params: unknown): Step =>
  parts([{ type: "tool-call", id: "call", name, params }, script.finish("tool-calls")])

/**
 * Answers with these parts and no more: a last part of type `finish` belongs to a complete answer.
 *
 * @since 0.1.0
 * @category steps
 */
export const parts = (parts: ReadonlyArray<Response.PartEncoded>): Step => ({ _tag: "Parts", parts })

/**
 * Streams these items. Without `finish` at its end the stream is cut off. Asked for an answer in one piece, it gives what
 * they amount to.
 *
 * @since 0.1.0
 * @category steps
 * @example
 * ```ts
 * import * as LanguageModel from "@effect/ai/LanguageModel"
 * import { errorPart, make, stream, wait } from "@switchgear/ai/ScriptedLanguageModel"
 * import * as Chunk from "effect/Chunk"
 * import * as Effect from "effect/Effect"
 * import * as Stream from "effect/Stream"
 * import * as assert from "node:assert"
 *
 * const overloaded = errorPart({ type: "overloaded_error", message: "Overloaded" })
 * const model = make([stream(["Hel", wait("10 millis"), "lo", overloaded])])
 * const types = LanguageModel.streamText({ prompt: "Hello" }).pipe(
 *   Stream.map((part) => part.type),
 *   Stream.runCollect,
 *   Effect.provide(model.layer)
 * )
 * assert.deepStrictEqual(Chunk.toReadonlyArray(await Effect.runPromise(types)),
 *   ["text-start", "text-delta", "text-delta", "error"])
 * ```
 */
export const stream = (items: ReadonlyArray<StreamItem>): Step => ({ _tag: "Stream", items })

/**
 * The end of a complete stream.
 *
 * @since 0.1.0
 * @category items
 */
export const finish: StreamItem = script.finish("stop")

/**
 * An error told inside a stream, as the vendor's clients pass it on.
 *
 * @since 0.1.0
 * @category items
 */
export const errorPart = (error: unknown): StreamItem => ({ type: "error", error })

/**
 * A pause, by the `Clock` in force.
 *
 * @since 0.1.0
 * @category items
 */
export const wait = (duration: Duration.DurationInput): Wait => ({ _tag: "Wait", duration })

const request: typeof AiError.HttpRequestDetails.Type = {
  method: "POST",
  url: "https://scripted.invalid/v1/responses",
  urlParams: [],
  hash: Option.none(),
  headers: {}
}

const base = { module: "ScriptedLanguageModel", method: "generateText" }

/**
 * Fails as the vendors' clients do with an HTTP status that is no success. A `body` that is no text is JSON.
 *
 * @since 0.1.0
 * @category steps
 */
export const status = (
  code: number,
  options: { readonly headers?: Readonly<Record<string, string>> | undefined; readonly body?: unknown } = {}
): Step =>
  fail(
    () =>
      new AiError.HttpResponseError({
        ...base,
        reason: "StatusCode",
        request,
        response: { status: code, headers: options.headers ?? {} },
        ...(options.body === undefined
          ? {}
          : { body: typeof options.body === "string" ? options.body : JSON.stringify(options.body) })
      })
  )

/**
 * Fails without an answer: a connection that is refused, or reset.
 *
 * @since 0.1.0
 * @category steps
 */
export const networkError = (code = "ECONNREFUSED"): Step =>
  fail(
    () =>
      new AiError.HttpRequestError({
        ...base,
        reason: "Transport",
        request,
        cause: Object.assign(new Error(code), { code })
      })
  )

/**
 * Fails with any error of a model.
 *
 * @since 0.1.0
 * @category steps
 */
export const fail = (error: () => AiError.AiError): Step => ({ _tag: "Failure", error })

/**
 * Dies of a bug.
 *
 * @since 0.1.0
 * @category steps
 */
export const die = (defect: unknown): Step => ({ _tag: "Defect", defect })

/**
 * Never answers.
 *
 * @since 0.1.0
 * @category steps
 */
export const hang: Step = { _tag: "Hang" }

/**
 * A step that begins later, by the `Clock` in force.
 *
 * @since 0.1.0
 * @category steps
 */
export const delayed = (duration: Duration.DurationInput, step: Step): Step => ({ _tag: "Delayed", duration, step })
