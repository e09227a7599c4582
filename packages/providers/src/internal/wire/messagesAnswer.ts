import { countAt, get, isObject, isShallow, type Json, parseObject, stringAt } from "./json.js"
import { type Answer, type Call, type Stop, settled, type Usage } from "./model.js"

const stops: ReadonlyMap<unknown, Stop> = new Map([
  ["end_turn", "end"],
  ["pause_turn", "end"],
  ["stop_sequence", "sequence"],
  ["max_tokens", "length"],
  ["model_context_window_exceeded", "length"],
  ["tool_use", "tools"],
  ["refusal", "filter"]
])

/** A reason that is not known ends a turn as well as any. */
export const stopOf = (reason: unknown): Stop => stops.get(reason) ?? "end"

export const reasonOf: { readonly [S in Stop]: string } = {
  end: "end_turn",
  sequence: "stop_sequence",
  length: "max_tokens",
  tools: "tool_use",
  filter: "refusal"
}

export const none: Usage = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0, reasoning: 0 }

/** What is not said anew stays as it was: a stream tells its usage in two parts. */
export const usageOf = (usage: unknown, before: Usage = none): Usage => ({
  input: countAt(usage, "input_tokens") ?? before.input,
  cacheRead: countAt(usage, "cache_read_input_tokens") ?? before.cacheRead,
  cacheWrite: countAt(usage, "cache_creation_input_tokens") ?? before.cacheWrite,
  output: countAt(usage, "output_tokens") ?? before.output,
  reasoning: countAt(get(usage, "output_tokens_details"), "thinking_tokens") ?? before.reasoning
})

export const writeUsage = ({ cacheRead, cacheWrite, input, output, reasoning }: Usage) => ({
  input_tokens: input,
  cache_creation_input_tokens: cacheWrite,
  cache_read_input_tokens: cacheRead,
  output_tokens: output,
  ...(reasoning > 0 && { output_tokens_details: { thinking_tokens: reasoning } })
})

/** `undefined` for what is no answer. */
export const read = (answer: Json): Answer | undefined => {
  const content = get(answer, "content")
  if (!Array.isArray(content)) return undefined
  let text = ""
  let reasoning = ""
  const calls: Array<Call> = []
  for (const block of content) {
    const type = stringAt(block, "type")
    if (type === "text") text += stringAt(block, "text") ?? ""
    else if (type === "thinking") reasoning += stringAt(block, "thinking") ?? ""
    else if (type === "tool_use") {
      const [id, name, input] = [stringAt(block, "id"), stringAt(block, "name"), get(block, "input")]
      if (id === undefined || name === undefined || !isObject(input) || !isShallow(input)) return undefined
      calls.push({ id, name, args: JSON.stringify(input) })
    }
  }
  const usage = get(answer, "usage")
  return {
    id: stringAt(answer, "id") ?? "",
    model: stringAt(answer, "model") ?? "",
    reasoning,
    text,
    calls,
    stop: settled(stopOf(get(answer, "stop_reason")), calls.length > 0),
    sequence: stringAt(answer, "stop_sequence"),
    usage: isObject(usage) ? usageOf(usage) : undefined
  }
}

/** `undefined` if the model wrote arguments that are no object: Messages has no place for them. */
export const write = ({ calls, id, model, sequence, stop, text, usage }: Answer): Json | undefined => {
  const blocks: Array<Json> = text === "" ? [] : [{ type: "text", text }]
  for (const call of calls) {
    const input = parseObject(call.args)
    if (input === undefined || !isShallow(input)) return undefined
    blocks.push({ type: "tool_use", id: call.id, name: call.name, input })
  }
  return {
    id,
    type: "message",
    role: "assistant",
    model,
    content: blocks,
    stop_reason: reasonOf[stop],
    stop_sequence: sequence ?? null,
    usage: writeUsage(usage ?? none)
  }
}
