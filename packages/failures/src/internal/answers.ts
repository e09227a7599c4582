/** What a 200 must hold to be an answer, and where it may hide an error instead. */
import { array, filled, get, isObject, object, string } from "./json.js"

/** Finish reasons that are failures and not ends. */
const failedFinish: ReadonlyMap<string, string> = new Map([
  ["error", "server_error"],
  ["network_error", "server_error"],
  ["insufficient_system_resource", "insufficient_system_resource"]
])

const present = (u: unknown): boolean =>
  isObject(u)
    ? Object.keys(u).length > 0
    : Array.isArray(u)
      ? u.length > 0
      : typeof u === "string"
        ? u !== ""
        : u === true

/** A choice's own error, as a body to classify. */
const failedChoice = (body: unknown): unknown => {
  for (const choice of array(body, "choices")) {
    const error = get(choice, "error")
    if (present(error)) return { error }
    const type = failedFinish.get(string(choice, "finish_reason") ?? "")
    if (type !== undefined) return { error: { type, message: `finish_reason: ${string(choice, "finish_reason")}` } }
  }
  return undefined
}

/** The part of a 200's body or of a frame that is an error, or `undefined` if none is. */
export const errorOf = (body: unknown): unknown => {
  if (Array.isArray(body)) {
    for (const item of body.slice(0, 4096)) {
      const error = errorOf(Array.isArray(item) ? undefined : item)
      if (error !== undefined) return error
    }
    return undefined
  }
  if (!isObject(body)) return undefined
  if (present(get(body, "error"))) return body
  if (string(body, "type") === "error" || string(body, "object") === "error" || string(body, "event_type") === "error")
    return body
  if (present(get(object(body, "response"), "error"))) return body
  const status = string(body, "status")
  if (status === "failed" || string(object(body, "response"), "status") === "failed") return body
  for (const key of Object.keys(body).slice(0, 16)) {
    if (key.length < 80 && key.endsWith("Exception") && isObject(body[key])) return body
  }
  return failedChoice(body)
}

/** Gemini refused the prompt: there is no candidate and there will be none. */
export const blocked = (body: unknown): boolean => {
  if (Array.isArray(body)) return body.length > 0 && body.length < 4096 && body.every(blocked)
  return filled(object(body, "promptFeedback"), "blockReason") && array(body, "candidates").length === 0
}

const choices = (body: unknown): boolean => {
  const list = array(body, "choices")
  return (
    list.length > 0 &&
    list.every(
      (choice) =>
        isObject(get(choice, "message")) ||
        typeof get(choice, "text") === "string" ||
        isObject(get(choice, "delta")) ||
        filled(choice, "finish_reason")
    )
  )
}

/** Anthropic's `content` may be an empty list, if it says why it stopped. */
const message = (body: unknown): boolean =>
  Array.isArray(get(body, "content")) && (array(body, "content").length > 0 || filled(body, "stop_reason"))

const shapes: ReadonlyArray<(body: unknown) => boolean> = [
  choices,
  message,
  // Responses
  (body) => Array.isArray(get(body, "output")) && string(body, "status") !== "cancelled",
  // Gemini
  (body) => array(body, "candidates").some(isObject),
  // embeddings, images, lists of models
  (body) => array(body, "data").length > 0,
  (body) => present(get(body, "embedding")) || present(get(body, "embeddings")) || present(get(body, "predictions")),
  // Bedrock: Converse, Titan, Llama
  (body) => isObject(get(object(body, "output"), "message")) || array(body, "results").length > 0,
  (body) => typeof get(body, "generation") === "string" || typeof get(body, "generated_text") === "string",
  // Ollama and Cohere of their own
  (body) =>
    isObject(get(body, "message")) ||
    typeof get(body, "response") === "string" ||
    array(body, "generations").length > 0,
  // token counts
  (body) => typeof get(body, "input_tokens") === "number" || typeof get(body, "totalTokens") === "number"
]

/** Whether a body has what an answer of any dialect must have. */
export const isAnswer = (body: unknown): boolean =>
  Array.isArray(body)
    ? body.some((item) => !Array.isArray(item) && isAnswer(item))
    : isObject(body) && shapes.some((shape) => shape(body))
