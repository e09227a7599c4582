import { chatFrames, chatJson } from "./chat.js"
import { messagesFrames, messagesJson } from "./messages.js"
import type { Call, Endpoint, Reply } from "./model.js"
import { responsesFrames, responsesJson } from "./responses.js"
import { type Frames, type Said, said } from "./said.js"

const endings: ReadonlyArray<readonly [suffix: string, endpoint: Endpoint]> = [
  ["/chat/completions", "chat.completions"],
  ["/responses", "responses"],
  ["/embeddings", "embeddings"],
  ["/messages", "messages"]
]

/** Whatever stands before it: a version, a deployment, a proxy's prefix. */
export const endpointOf = (path: string): Endpoint => {
  const bare = path.split("?", 1)[0] ?? path
  return endings.find(([suffix]) => bare.endsWith(suffix))?.[1] ?? "unknown"
}

const embeddingsJson = (it: Said, inputs: number) => ({
  object: "list",
  data: Array.from({ length: inputs }, (_, index) => ({ object: "embedding", index, embedding: [0.25, -0.5, 0.125] })),
  model: it.model,
  usage: { prompt_tokens: it.input, total_tokens: it.input }
})

const field = (call: Call, name: string): unknown =>
  typeof call.json === "object" && call.json !== null ? Reflect.get(call.json, name) : undefined

const wantsUsage = (call: Call): boolean => {
  const options = field(call, "stream_options")
  return typeof options === "object" && options !== null && Reflect.get(options, "include_usage") === true
}

/** The whole reply as one JSON body. */
export const jsonOf = (call: Call, reply: Reply): unknown => {
  const it = said(call, reply)
  switch (call.endpoint) {
    case "messages":
      return messagesJson(it)
    case "responses":
      return responsesJson(it)
    case "embeddings": {
      const input = field(call, "input")
      return embeddingsJson(it, Array.isArray(input) ? input.length : 1)
    }
    default:
      return chatJson(it)
  }
}

/** The reply as the frames of a stream. */
export const framesOf = (call: Call, reply: Reply): Frames => {
  const it = said(call, reply)
  switch (call.endpoint) {
    case "messages":
      return messagesFrames(it)
    case "responses":
      return responsesFrames(it)
    default:
      return chatFrames(it, wantsUsage(call))
  }
}

/** What keeps a connection alive and says nothing. */
export const pingOf = (call: Call): string =>
  call.endpoint === "messages" ? 'event: ping\ndata: {"type":"ping"}\n\n' : ": keep-alive\n\n"
