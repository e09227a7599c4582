/**
 * Chat Completions and Messages, each said in the other's words: requests, answers, streams, errors (ROUTING W6). Pure and
 * total; nothing is dropped in silence.
 *
 * What is done with each field of a request. `carried`: both can say it. `hint`: left out and named in `omitted`, because
 * the answer means the same without it. `only`: fits with the value that is the default anyway. Anything else, and every
 * field that is not listed, makes the request untranslatable, and the answer names it.
 *
 * | Chat Completions | Messages | |
 * | --- | --- | --- |
 * | `model`, `stream`, `temperature`, `top_p` | the same | carried; Messages takes `temperature` up to 1, and 1 only while it thinks |
 * | `messages`: text, images by web address or base64 | the same, `system` first | carried; PNG, JPEG, GIF, WebP; `detail` only `auto`; an empty message or one of the assistant's at the end is not |
 * | `system`, `developer` | `system`, a `system` message later on | carried, as `system` |
 * | `tool_calls`, `tool` messages | `tool_use`, `tool_result` blocks | carried; `is_error` only `false`, no images in results, no text after a call |
 * | `tools` (functions), `strict` | `tools` (custom), `strict` | carried; a vendor's own tools are not |
 * | `tool_choice`, `parallel_tool_calls` | `tool_choice`, `disable_parallel_tool_use` | carried |
 * | `stop` | `stop_sequences` | carried; 4 at most in Chat Completions, none blank in Messages |
 * | `max_completion_tokens`, `max_tokens` | `max_tokens` | carried; Messages demands it, so there is a default |
 * | `reasoning_effort` (none, low to xhigh) | `thinking` disabled or adaptive with `output_config.effort` | carried; a budget, `minimal` and `max` are not |
 * | `response_format` (`json_schema`, strict) | `output_config.format` | carried |
 * | `user`, `safety_identifier` | `metadata.user_id` | carried |
 * | `service_tier` `auto`, `default` | `auto`, `standard_only` | carried |
 * | `stream_options.include_usage` | always so | carried |
 * | `metadata`, `prompt_cache_*`, `prediction`, `include_obfuscation`, a schema's `name` | `cache_control`, `diagnostics`, `eager_input_streaming` | hint |
 * | `reasoning_content` and the like of earlier turns | `thinking` and `redacted_thinking` blocks of earlier turns | hint: readable by the model only that wrote it |
 * | `n` 1, `store` false, `logprobs` false, penalties 0, `logit_bias` {}, `modalities` text, `verbosity` medium | `speed` standard, `defer_loading` false, `allowed_callers` direct | only |
 *
 * In answers a Messages client is not shown the reasoning of a Chat Completions model: a block of thinking without its
 * signature would make the conversation unfit to go back to Anthropic. A Chat Completions client sees it as
 * `reasoning_content`. Redacted thinking, citations and log probabilities have no counterpart. A stop sequence that was met
 * is named in Messages only. A schema must keep its numbers when it is read and written, or it is untranslatable.
 *
 * @since 0.1.0
 */
import * as chatAnswer from "./internal/wire/chatAnswer.js"
import * as chatRequest from "./internal/wire/chatRequest.js"
import { ChatReader, ChatWriter } from "./internal/wire/chatStream.js"
import { chatError, faultIn, messagesError } from "./internal/wire/errorBody.js"
import { Fields, Report } from "./internal/wire/fields.js"
import { bytesOf, isObject, parseBytes } from "./internal/wire/json.js"
import * as messagesAnswer from "./internal/wire/messagesAnswer.js"
import * as messagesRequest from "./internal/wire/messagesRequest.js"
import { MessagesReader, MessagesWriter } from "./internal/wire/messagesStream.js"
import type { Reply } from "./internal/wire/model.js"
import { Translator } from "./internal/wire/translator.js"

/**
 * The two dialects that can be said in each other's words.
 *
 * @since 0.1.0
 * @category models
 */
export type Dialect = "chat.completions" | "messages"

/**
 * What a translation must decide where one dialect demands what the other leaves open.
 *
 * @since 0.1.0
 * @category models
 */
export interface Settings {
  /** `max_tokens` of a Messages request whose client gave none. Default 8192. */
  readonly defaultMaxTokens?: number
  /** How the Chat Completions server calls the limit. Default `max_completion_tokens`; older servers know only the other. */
  readonly maxTokensField?: "max_completion_tokens" | "max_tokens"
}

/**
 * A request in the other dialect. `omitted`: hints that were left out. `usage`: whether the client wants its stream's
 * tokens, for `stream`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Translated {
  readonly _tag: "Translated"
  readonly body: Uint8Array
  readonly omitted: ReadonlyArray<string>
  readonly usage: boolean
}

/**
 * What the other dialect cannot say, by the fields' paths (`messages[0].content[1].type`): 16 at most.
 *
 * @since 0.1.0
 * @category models
 */
export interface Untranslatable {
  readonly _tag: "Untranslatable"
  readonly fields: ReadonlyArray<string>
}

/**
 * Whether a dialect is one of the two.
 *
 * @example
 * ```ts
 * import * as Wire from "@switchgear/providers/Wire"
 * import * as assert from "node:assert"
 *
 * assert.ok(Wire.isDialect("messages"))
 * assert.ok(!Wire.isDialect("embeddings"))
 * ```
 *
 * @since 0.1.0
 * @category guards
 */
export const isDialect = (operation: string): operation is Dialect =>
  operation === "chat.completions" || operation === "messages"

/**
 * The one that is not this one.
 *
 * @example
 * ```ts
 * import * as Wire from "@switchgear/providers/Wire"
 * import * as assert from "node:assert"
 *
 * assert.strictEqual(Wire.other("messages"), "chat.completions")
 * ```
 *
 * @since 0.1.0
 * @category guards
 */
export const other = (dialect: Dialect): Dialect => (dialect === "messages" ? "chat.completions" : "messages")

/**
 * A request of dialect `from`, in the other one.
 *
 * @example
 * ```ts
 * import * as Wire from "@switchgear/providers/Wire"
 * import * as assert from "node:assert"
 *
 * const bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))
 * const messages = [{ role: "user", content: "hi" }]
 *
 * const fits = Wire.request("chat.completions", bytes({ model: "m", messages, stop: "END" }))
 * assert.deepStrictEqual(fits._tag === "Translated" && JSON.parse(new TextDecoder().decode(fits.body)), {
 *   model: "m",
 *   max_tokens: 8192,
 *   messages: [{ role: "user", content: [{ type: "text", text: "hi" }] }],
 *   stop_sequences: ["END"]
 * })
 *
 * const not = Wire.request("chat.completions", bytes({ model: "m", messages, seed: 7, n: 2 }))
 * assert.deepStrictEqual(not, { _tag: "Untranslatable", fields: ["n", "seed"] })
 * ```
 *
 * @since 0.1.0
 * @category translations
 */
export const request = (from: Dialect, body: Uint8Array, settings: Settings = {}): Translated | Untranslatable => {
  const json = parseBytes(body)
  if (!isObject(json)) return { _tag: "Untranslatable", fields: ["(body)"] }
  const report = new Report()
  const fields = new Fields(report, "", json)
  const read = from === "messages" ? messagesRequest.read(fields) : chatRequest.read(fields)
  // One dialect goes on with such a message, the other answers it.
  if (read.messages.at(-1)?._tag === "Assistant") report.cannot("messages (the last one is the assistant's)")
  const written =
    from === "messages"
      ? chatRequest.write(read, fields, settings.maxTokensField ?? "max_completion_tokens")
      : messagesRequest.write(read, fields, settings.defaultMaxTokens ?? 8192)
  if (report.fields.length > 0) return { _tag: "Untranslatable", fields: report.fields }
  return { _tag: "Translated", body: bytesOf(written), omitted: report.omitted, usage: read.usage }
}

/**
 * A complete answer of dialect `from`, in the other one; `undefined` for what is no answer, or calls a tool with arguments
 * that are no object. `created`, in Unix seconds, is what a Chat Completions client is told.
 *
 * @example
 * ```ts
 * import * as Wire from "@switchgear/providers/Wire"
 * import * as assert from "node:assert"
 *
 * const answer = {
 *   id: "msg_1",
 *   type: "message",
 *   role: "assistant",
 *   model: "m",
 *   content: [{ type: "text", text: "Hi" }],
 *   stop_reason: "end_turn",
 *   usage: { input_tokens: 3, output_tokens: 1 }
 * }
 * const bytes = Wire.answer("messages", new TextEncoder().encode(JSON.stringify(answer)), 0)
 * const chat = JSON.parse(new TextDecoder().decode(bytes))
 * assert.strictEqual(chat.choices[0].message.content, "Hi")
 * assert.strictEqual(chat.usage.total_tokens, 4)
 * ```
 *
 * @since 0.1.0
 * @category translations
 */
export const answer = (from: Dialect, body: Uint8Array, created: number): Uint8Array | undefined => {
  const json = parseBytes(body)
  if (!isObject(json)) return undefined
  const read = from === "messages" ? messagesAnswer.read(json) : chatAnswer.read(json)
  if (read === undefined) return undefined
  const reply: Reply = { usage: true, created }
  const written = from === "messages" ? chatAnswer.write(read, reply) : messagesAnswer.write(read)
  return written === undefined ? undefined : bytesOf(written)
}

/**
 * A stream on its way from one dialect into the other. Bytes may be cut anywhere. What comes out is whole events.
 *
 * @since 0.1.0
 * @category models
 */
export interface StreamTranslator {
  /** What these bytes come to; empty if they say nothing yet. */
  readonly push: (chunk: Uint8Array) => Uint8Array
  /** The rest, once the stream has ended. One that was cut is given no end of its own. */
  readonly end: () => Uint8Array
  /** Its end, or an error frame, has been written. Still `false` after `end`: it was cut, or in no dialect that was read. */
  readonly complete: boolean
}

/**
 * A stream of dialect `from`, in the other one. An error frame becomes one. `usage`: the client asked for the tokens
 * (`Translated.usage`); `created` in Unix seconds.
 *
 * @example
 * ```ts
 * import * as Wire from "@switchgear/providers/Wire"
 * import * as assert from "node:assert"
 *
 * const stream = Wire.stream("chat.completions", { usage: true, created: 0 })
 * const chunk = { id: "c", model: "m", choices: [{ index: 0, delta: { content: "Hi" }, finish_reason: null }] }
 * const out = stream.push(new TextEncoder().encode(`data: ${JSON.stringify(chunk)}\n\n`))
 * assert.match(new TextDecoder().decode(out), /event: message_start[\s\S]*"text_delta","text":"Hi"/)
 * assert.strictEqual(stream.end().length, 0) // it was cut
 * ```
 *
 * @since 0.1.0
 * @category translations
 */
export const stream = (
  from: Dialect,
  reply: { readonly usage: boolean; readonly created: number }
): StreamTranslator =>
  from === "messages"
    ? new Translator(new MessagesReader(), new ChatWriter(reply))
    : new Translator(new ChatReader(), new MessagesWriter())

/**
 * An error's body for a client of dialect `to`. Both dialects' errors are read; of anything else, a page say, the client is
 * told `otherwise`.
 *
 * @example
 * ```ts
 * import * as Wire from "@switchgear/providers/Wire"
 * import * as assert from "node:assert"
 *
 * const body = new TextEncoder().encode(`{"error":{"message":"Slow down","type":"requests","code":"rate_limit_exceeded"}}`)
 * assert.deepStrictEqual(JSON.parse(new TextDecoder().decode(Wire.error("messages", 429, body, "it failed"))), {
 *   type: "error",
 *   error: { type: "rate_limit_error", message: "Slow down", details: { error_code: "rate_limit_exceeded" } }
 * })
 * ```
 *
 * @since 0.1.0
 * @category translations
 */
export const error = (to: Dialect, status: number, body: Uint8Array, otherwise: string): Uint8Array => {
  const found = faultIn(new TextDecoder().decode(body))
  const fault =
    found === undefined || found.message === "" ? { type: found?.type, code: found?.code, message: otherwise } : found
  return bytesOf(to === "messages" ? messagesError(fault, status) : chatError(fault, status))
}
