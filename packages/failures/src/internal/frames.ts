/** One SSE event, parsed in full: is it output, is it an end, is it an error? By its shape, whatever the dialect. */
import { blocked, errorOf } from "./answers.js"
import { array, filled, get, isObject, type Json, object, parse, string } from "./json.js"

export interface Frame {
  /** Something a client can show or act on (DESIGN 4). */
  readonly output: boolean
  /** The answer is complete with this event. */
  readonly terminal: boolean
  /** Nothing of meaning follows. */
  readonly last: boolean
  /** The body of an error, to be classified. */
  readonly error: unknown
  /** An end that says nothing of an answer: `[DONE]`. */
  readonly hollow: boolean
  /** The prompt was refused by the vendor's filter. */
  readonly blocked: boolean
}

const plain = (output: boolean, terminal = false, last = false): Frame => ({
  output,
  terminal,
  last,
  error: undefined,
  hollow: false,
  blocked: false
})
export const quiet = plain(false)
export const output = plain(true)
export const done = plain(false, true, true)

const some = (u: unknown, key: string): boolean => array(u, key).length > 0

const toolCall = (call: unknown): boolean =>
  filled(call, "id") || filled(object(call, "function"), "name") || filled(object(call, "function"), "arguments")

const delta = (u: unknown): boolean =>
  isObject(u) &&
  (filled(u, "content") ||
    some(u, "content") ||
    filled(u, "reasoning_content") ||
    filled(u, "reasoning") ||
    filled(u, "refusal") ||
    array(u, "tool_calls").some(toolCall) ||
    some(u, "reasoning_details") ||
    some(u, "images") ||
    filled(object(u, "audio"), "data") ||
    filled(object(u, "audio"), "transcript") ||
    filled(object(u, "function_call"), "name") ||
    filled(object(u, "function_call"), "arguments"))

const chat = (body: Json): Frame => {
  const choices = array(body, "choices")
  return plain(
    choices.some((choice) => delta(get(choice, "delta")) || filled(choice, "text") || delta(get(choice, "message"))),
    choices.some((choice) => filled(choice, "finish_reason"))
  )
}

const part = (u: unknown): boolean =>
  filled(u, "text") ||
  ["functionCall", "inlineData", "fileData", "executableCode", "codeExecutionResult"].some((key) =>
    isObject(get(u, key))
  )

const gemini = (body: Json): Frame => {
  const candidates = array(body, "candidates")
  const ends = candidates.some((candidate) => {
    const reason = string(candidate, "finishReason")
    return reason !== undefined && reason !== "" && reason !== "FINISH_REASON_UNSPECIFIED"
  })
  return plain(
    candidates.some((candidate) => array(object(candidate, "content"), "parts").some(part)),
    ends
  )
}

const block = (u: unknown): boolean => {
  const type = string(u, "type") ?? ""
  if (type === "text") return filled(u, "text")
  if (type === "thinking") return filled(u, "thinking")
  if (type === "redacted_thinking") return filled(u, "data")
  return type.endsWith("tool_use") || type.endsWith("tool_result")
}

const item = (u: unknown): boolean => {
  const type = string(u, "type") ?? ""
  if (type === "message" || type === "reasoning") {
    return [...array(u, "content"), ...array(u, "summary")].some(
      (inner) => filled(inner, "text") || filled(inner, "refusal")
    )
  }
  return type.endsWith("_call") || filled(u, "encrypted_content")
}

const responses = (type: string, body: Json): Frame => {
  if (type === "response.completed" || type === "response.incomplete" || type === "response.cancelled") {
    return plain(array(object(body, "response"), "output").some(item), true, true)
  }
  if (type.endsWith(".delta")) return filled(body, "delta") ? output : quiet
  if (type === "response.output_item.added" || type === "response.output_item.done")
    return plain(item(get(body, "item")))
  if (type === "response.content_part.added" || type === "response.content_part.done") {
    return plain(filled(get(body, "part"), "text") || filled(get(body, "part"), "refusal"))
  }
  if (type.endsWith(".partial_image")) return plain(filled(body, "partial_image_b64"))
  return plain(
    type.endsWith(".done") && ["text", "refusal", "arguments", "input", "code"].some((key) => filled(body, key))
  )
}

const anthropic = (type: string, body: Json): Frame | undefined => {
  if (type === "content_block_delta") {
    const change = object(body, "delta")
    return plain(filled(change, "text") || filled(change, "thinking") || filled(change, "partial_json"))
  }
  if (type === "content_block_start") return plain(block(get(body, "content_block")))
  if (type === "message_stop") return done
  if (type === "message_start") return plain(array(object(body, "message"), "content").some(block))
  return ["message_delta", "content_block_stop", "ping"].includes(type) ? quiet : undefined
}

/** Bedrock's ConverseStream names an event by the member it is in. */
const converse = (body: Json): Frame => {
  if (isObject(get(body, "messageStop"))) return plain(false, true)
  const change = object(object(body, "contentBlockDelta"), "delta")
  const start = object(object(body, "contentBlockStart"), "start")
  return plain(
    filled(change, "text") ||
      filled(object(change, "reasoningContent"), "text") ||
      filled(object(change, "toolUse"), "input") ||
      isObject(get(start, "toolUse"))
  )
}

/** Reads an event in full. `event` is its name, if it has one. */
export const read = (event: string | undefined, data: string): Frame => {
  if (data.trim() === "[DONE]") return { ...done, hollow: true }
  const body = parse(data)
  if (event === "error") return { ...quiet, error: isObject(body) || Array.isArray(body) ? body : data }
  // A list of chunks in one event: the parts' sum.
  if (Array.isArray(body)) return list(body)
  return isObject(body) ? one(event, body) : quiet
}

const list = (body: ReadonlyArray<unknown>): Frame => {
  const frames = body.slice(0, 4096).flatMap((inner) => (isObject(inner) ? [one(undefined, inner)] : []))
  return {
    output: frames.some((frame) => frame.output),
    terminal: frames.some((frame) => frame.terminal),
    last: frames.some((frame) => frame.last),
    error: frames.find((frame) => frame.error !== undefined)?.error,
    hollow: false,
    blocked: frames.some((frame) => frame.blocked)
  }
}

const one = (event: string | undefined, body: Json): Frame => {
  const error = errorOf(body)
  if (error !== undefined) return { ...quiet, error }
  if (blocked(body)) return { ...quiet, terminal: true, last: true, blocked: true }
  const type = string(body, "type") ?? event ?? ""
  if (type.startsWith("response.")) return responses(type, body)
  if (Array.isArray(get(body, "choices"))) return chat(body)
  if (Array.isArray(get(body, "candidates"))) return gemini(body)
  return anthropic(type, body) ?? converse(body)
}
