import { countAt, get, isObject, type Json, listAt, stringAt } from "./json.js"
import { type Answer, type Call, type Reply, type Stop, settled, type Usage } from "./model.js"

const stops: ReadonlyMap<unknown, Stop> = new Map([
  ["stop", "end"],
  ["length", "length"],
  ["tool_calls", "tools"],
  ["function_call", "tools"],
  ["content_filter", "filter"]
])

/** A reason that is not known ends a turn as well as any. */
export const stopOf = (reason: unknown): Stop => stops.get(reason) ?? "end"

export const reasonOf: { readonly [S in Stop]: string } = {
  end: "stop",
  sequence: "stop",
  length: "length",
  tools: "tool_calls",
  filter: "content_filter"
}

export const usageOf = (usage: unknown): Usage | undefined => {
  if (!isObject(usage)) return undefined
  const prompt = countAt(usage, "prompt_tokens") ?? 0
  const details = get(usage, "prompt_tokens_details")
  const cacheRead = Math.min(prompt, countAt(details, "cached_tokens") ?? 0)
  const cacheWrite = Math.min(prompt - cacheRead, countAt(details, "cache_write_tokens") ?? 0)
  const output = countAt(usage, "completion_tokens") ?? 0
  const reasoning = Math.min(output, countAt(get(usage, "completion_tokens_details"), "reasoning_tokens") ?? 0)
  return { input: prompt - cacheRead - cacheWrite, cacheRead, cacheWrite, output, reasoning }
}

/** Tokens written to a cache have no word of OpenAI's own; this one is OpenRouter's. */
export const writeUsage = ({ cacheRead, cacheWrite, input, output, reasoning }: Usage) => ({
  prompt_tokens: input + cacheRead + cacheWrite,
  completion_tokens: output,
  total_tokens: input + cacheRead + cacheWrite + output,
  prompt_tokens_details: { cached_tokens: cacheRead, ...(cacheWrite > 0 && { cache_write_tokens: cacheWrite }) },
  completion_tokens_details: { reasoning_tokens: reasoning }
})

/** By its names among those who let it be seen: vLLM, DeepSeek, OpenRouter. */
export const reasoningOf = (message: unknown): string =>
  stringAt(message, "reasoning_content") ?? stringAt(message, "reasoning") ?? ""

/** Text, some servers' parts of text included. */
export const textOf = (message: unknown): string => {
  const content = get(message, "content")
  if (typeof content === "string") return content
  return listAt(message, "content")
    .map((part) => (stringAt(part, "type") === "text" ? (stringAt(part, "text") ?? "") : ""))
    .join("")
}

const callOf = (call: unknown, index: number): Call | undefined => {
  const inside = get(call, "function")
  const name = stringAt(inside, "name")
  if (name === undefined) return undefined
  return { id: stringAt(call, "id") ?? `call_${index}`, name, args: stringAt(inside, "arguments") || "{}" }
}

/** `undefined` for what is no answer. */
export const read = (answer: Json): Answer | undefined => {
  const [choice] = listAt(answer, "choices")
  const message = get(choice, "message")
  if (!isObject(message)) return undefined
  const calls = listAt(message, "tool_calls").map(callOf)
  const known = calls.filter((call) => call !== undefined)
  if (known.length < calls.length) return undefined
  const refusal = stringAt(message, "refusal") ?? ""
  const stop = refusal === "" ? stopOf(get(choice, "finish_reason")) : "filter"
  return {
    id: stringAt(answer, "id") ?? "",
    model: stringAt(answer, "model") ?? "",
    reasoning: reasoningOf(message),
    text: textOf(message) + refusal,
    calls: known,
    stop: settled(stop, known.length > 0),
    sequence: undefined,
    usage: usageOf(get(answer, "usage"))
  }
}

export const write = ({ calls, id, model, reasoning, stop, text, usage }: Answer, { created }: Reply): Json => ({
  id,
  object: "chat.completion",
  created,
  model,
  choices: [
    {
      index: 0,
      message: {
        role: "assistant",
        content: text === "" && calls.length > 0 ? null : text,
        refusal: null,
        ...(reasoning !== "" && { reasoning_content: reasoning }),
        ...(calls.length > 0 && {
          tool_calls: calls.map(({ args, id, name }) => ({
            id,
            type: "function",
            function: { name, arguments: args }
          }))
        })
      },
      logprobs: null,
      finish_reason: reasonOf[stop]
    }
  ],
  ...(usage !== undefined && { usage: writeUsage(usage) })
})
