/**
 * What one call of a scripted model does. All of it is in `ScriptedLanguageModel` too.
 *
 * @since 0.1.0
 */
import * as AiError from "@effect/ai/AiError"
import type * as Response from "@effect/ai/Response"
import type * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as script from "./internal/script.js"
import type { Step, StreamItem, Wait } from "./internal/scriptModel.js"

export type { Step, StreamItem, Wait } from "./internal/scriptModel.js"

/**
 * Answers with a text. As a stream it is one delta of it.
 *
 * @since 0.1.0
 * @category steps
 * @example
 * ```ts
 * import * as LanguageModel from "@effect/ai/LanguageModel"
 * import { make, ok } from "@switchgear/ai/ScriptedLanguageModel"
 * import * as Effect from "effect/Effect"
 * import * as assert from "node:assert"
 *
 * const ask = LanguageModel.generateText({ prompt: "Hello" }).pipe(Effect.provide(make([ok("Hello")]).layer))
 * assert.strictEqual((await Effect.runPromise(ask)).text, "Hello")
 * ```
 */
export const ok = (text: string): Step => parts([{ type: "text", text }, script.finish("stop")])

/**
 * Answers `generateObject` with a value, as JSON.
 *
 * @since 0.1.0
 * @category steps
 * @example
 * ```ts
 * import * as LanguageModel from "@effect/ai/LanguageModel"
 * import { make, object } from "@switchgear/ai/ScriptedLanguageModel"
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 * import * as assert from "node:assert"
 *
 * const schema = Schema.Struct({ gear: Schema.Number })
 * const ask = LanguageModel.generateObject({ prompt: "Which gear?", schema }).pipe(
 *   Effect.provide(make([object({ gear: 4 })]).layer)
 * )
 * assert.deepStrictEqual((await Effect.runPromise(ask)).value, { gear: 4 })
 * ```
 */
export const object = (value: unknown): Step => ok(JSON.stringify(value))

/**
 * Calls a tool of the caller's toolkit.
 *
 * @since 0.1.0
 * @category steps
 * @example
 * ```ts
 * import * as LanguageModel from "@effect/ai/LanguageModel"
 * import * as Tool from "@effect/ai/Tool"
 * import * as Toolkit from "@effect/ai/Toolkit"
 * import { make, toolCall } from "@switchgear/ai/ScriptedLanguageModel"
 * import * as Effect from "effect/Effect"
 * import * as Schema from "effect/Schema"
 * import * as assert from "node:assert"
 *
 * const Rain = Tool.make("Rain", { parameters: { city: Schema.String }, success: Schema.String })
 * const toolkit = Toolkit.make(Rain)
 * const ask = LanguageModel.generateText({ prompt: "Rain in Ghent?", toolkit }).pipe(
 *   Effect.provide(toolkit.toLayer({ Rain: ({ city }) => Effect.succeed(`Yes, in ${city}`) })),
 *   Effect.provide(make([toolCall("Rain", { city: "Ghent" })]).layer)
 * )
 * const { toolResults } = await Effect.runPromise(ask)
 * assert.strictEqual(toolResults[0]?.result, "Yes, in Ghent")
 * ```
 */
export const toolCall = (name: string, params: unknown): Step =>
  parts([{ type: "tool-call", id: "call", name, params }, script.finish("tool-calls")])

/**
 * Answers with these parts and no more: a last part of type `finish` belongs to a complete answer.
 *
 * @since 0.1.0
 * @category steps
 * @example
 * ```ts
 * import * as LanguageModel from "@effect/ai/LanguageModel"
 * import { make, parts } from "@switchgear/ai/ScriptedLanguageModel"
 * import * as Effect from "effect/Effect"
 * import * as assert from "node:assert"
 *
 * const ask = LanguageModel.generateText({ prompt: "Hello" }).pipe(Effect.provide(make([parts([{ type: "text", text: "Hello" }])]).layer))
 * assert.strictEqual((await Effect.runPromise(ask)).text, "Hello")
 * ```
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
 * @example
 * ```ts
 * import * as LanguageModel from "@effect/ai/LanguageModel"
 * import { finish, make, stream } from "@switchgear/ai/ScriptedLanguageModel"
 * import * as Effect from "effect/Effect"
 * import * as assert from "node:assert"
 *
 * const ask = LanguageModel.generateText({ prompt: "Hello" }).pipe(Effect.provide(make([stream(["Hel", "lo", finish])]).layer))
 * assert.strictEqual((await Effect.runPromise(ask)).text, "Hello")
 * ```
 */
export const finish: StreamItem = script.finish("stop")

/**
 * An error told inside a stream, as the vendor's clients pass it on.
 *
 * @since 0.1.0
 * @category items
 * @example
 * ```ts
 * import * as LanguageModel from "@effect/ai/LanguageModel"
 * import { errorPart, make, stream } from "@switchgear/ai/ScriptedLanguageModel"
 * import * as Effect from "effect/Effect"
 * import * as assert from "node:assert"
 *
 * const ask = LanguageModel.generateText({ prompt: "Hello" }).pipe(Effect.provide(make([stream(["Hel", errorPart("overloaded")])]).layer))
 * assert.strictEqual((await Effect.runPromise(Effect.flip(ask)))._tag, "UnknownError")
 * ```
 */
export const errorPart = (error: unknown): StreamItem => ({ type: "error", error })

/**
 * A pause, by the `Clock` in force.
 *
 * @since 0.1.0
 * @category items
 * @example
 * ```ts
 * import * as LanguageModel from "@effect/ai/LanguageModel"
 * import { finish, make, stream, wait } from "@switchgear/ai/ScriptedLanguageModel"
 * import * as Effect from "effect/Effect"
 * import * as assert from "node:assert"
 *
 * const ask = LanguageModel.generateText({ prompt: "Hello" }).pipe(Effect.provide(make([stream(["Hel", wait("10 millis"), "lo", finish])]).layer))
 * assert.strictEqual((await Effect.runPromise(ask)).text, "Hello")
 * ```
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
 * @example
 * ```ts
 * import * as LanguageModel from "@effect/ai/LanguageModel"
 * import { make, status } from "@switchgear/ai/ScriptedLanguageModel"
 * import * as Effect from "effect/Effect"
 * import * as assert from "node:assert"
 *
 * const ask = LanguageModel.generateText({ prompt: "Hello" }).pipe(Effect.provide(make([status(429, { headers: { "retry-after": "7" } })]).layer))
 * const error = await Effect.runPromise(Effect.flip(ask))
 * assert.ok(error._tag === "HttpResponseError" && error.response.headers["retry-after"] === "7")
 * ```
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
 * @example
 * ```ts
 * import * as LanguageModel from "@effect/ai/LanguageModel"
 * import { make, networkError } from "@switchgear/ai/ScriptedLanguageModel"
 * import * as Effect from "effect/Effect"
 * import * as assert from "node:assert"
 *
 * const ask = LanguageModel.generateText({ prompt: "Hello" }).pipe(Effect.provide(make([networkError("ECONNRESET")]).layer))
 * const error = await Effect.runPromise(Effect.flip(ask))
 * assert.ok(error._tag === "HttpRequestError" && error.reason === "Transport")
 * ```
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
 * @example
 * ```ts
 * import * as AiError from "@effect/ai/AiError"
 * import * as LanguageModel from "@effect/ai/LanguageModel"
 * import { fail, make } from "@switchgear/ai/ScriptedLanguageModel"
 * import * as Effect from "effect/Effect"
 * import * as assert from "node:assert"
 *
 * const truncated = () => new AiError.MalformedOutput({ module: "Gpt", method: "generateText" })
 * const ask = LanguageModel.generateText({ prompt: "Hello" }).pipe(Effect.provide(make([fail(truncated)]).layer))
 * assert.strictEqual((await Effect.runPromise(Effect.flip(ask)))._tag, "MalformedOutput")
 * ```
 */
export const fail = (error: () => AiError.AiError): Step => ({ _tag: "Failure", error })

/**
 * Dies of a bug.
 *
 * @since 0.1.0
 * @category steps
 * @example
 * ```ts
 * import * as LanguageModel from "@effect/ai/LanguageModel"
 * import { die, make } from "@switchgear/ai/ScriptedLanguageModel"
 * import * as Effect from "effect/Effect"
 * import * as assert from "node:assert"
 *
 * const ask = LanguageModel.generateText({ prompt: "Hello" }).pipe(Effect.provide(make([die(new Error("bug"))]).layer))
 * assert.ok(String(await Effect.runPromise(Effect.sandbox(ask).pipe(Effect.flip))).includes("bug"))
 * ```
 */
export const die = (defect: unknown): Step => ({ _tag: "Defect", defect })

/**
 * Never answers.
 *
 * @since 0.1.0
 * @category steps
 * @example
 * ```ts
 * import * as LanguageModel from "@effect/ai/LanguageModel"
 * import { hang, make } from "@switchgear/ai/ScriptedLanguageModel"
 * import * as Effect from "effect/Effect"
 * import * as assert from "node:assert"
 *
 * const ask = LanguageModel.generateText({ prompt: "Hello" }).pipe(Effect.provide(make([hang]).layer))
 * const error = await Effect.runPromise(Effect.flip(Effect.timeout(ask, "10 millis")))
 * assert.strictEqual(error._tag, "TimeoutException")
 * ```
 */
export const hang: Step = { _tag: "Hang" }

/**
 * A step that begins later, by the `Clock` in force.
 *
 * @since 0.1.0
 * @category steps
 * @example
 * ```ts
 * import * as LanguageModel from "@effect/ai/LanguageModel"
 * import { delayed, make, ok } from "@switchgear/ai/ScriptedLanguageModel"
 * import * as Effect from "effect/Effect"
 * import * as assert from "node:assert"
 *
 * const ask = LanguageModel.generateText({ prompt: "Hello" }).pipe(Effect.provide(make([delayed("10 millis", ok("Hello"))]).layer))
 * assert.strictEqual((await Effect.runPromise(ask)).text, "Hello")
 * ```
 */
export const delayed = (duration: Duration.DurationInput, step: Step): Step => ({ _tag: "Delayed", duration, step })
