import { created, event, type Frames, type Said } from "./said.js"

const usage = (it: Said) => ({
  input_tokens: it.input,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: it.output,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: it.input + it.output
})

const textItem = (it: Said) => ({
  id: `msg_${it.id}`,
  type: "message",
  status: "completed",
  role: "assistant",
  content: [{ type: "output_text", text: it.parts.join(""), annotations: [] }]
})

const toolItem = (toolCall: Said["toolCalls"][number]) => ({
  id: `fc_${toolCall.id}`,
  type: "function_call",
  status: "completed",
  call_id: toolCall.id,
  name: toolCall.name,
  arguments: toolCall.arguments
})

const response = (it: Said, status: "in_progress" | "completed") => ({
  id: `resp_${it.id}`,
  object: "response",
  created_at: created,
  status,
  error: null,
  incomplete_details: null,
  model: it.model,
  output: status === "completed" ? [...(it.parts.length > 0 ? [textItem(it)] : []), ...it.toolCalls.map(toolItem)] : [],
  usage: status === "completed" ? usage(it) : null
})

export const responsesJson = (it: Said) => response(it, "completed")

export const responsesFrames = (it: Said): Frames => {
  let sequence = 0
  const next = (type: string, more: Readonly<Record<string, unknown>>) =>
    event({ type, sequence_number: sequence++, ...more })
  const opening = [
    next("response.created", { response: response(it, "in_progress") }),
    next("response.in_progress", { response: response(it, "in_progress") })
  ]
  const output: Array<string> = []
  if (it.parts.length > 0) {
    const at = { item_id: `msg_${it.id}`, output_index: 0, content_index: 0 }
    const part = { type: "output_text", text: "", annotations: [] }
    opening.push(
      next("response.output_item.added", {
        output_index: 0,
        item: { ...textItem(it), status: "in_progress", content: [] }
      }),
      next("response.content_part.added", { ...at, part })
    )
    output.push(...it.parts.map((delta) => next("response.output_text.delta", { ...at, delta })))
    output.push(
      next("response.output_text.done", { ...at, text: it.parts.join("") }),
      next("response.content_part.done", { ...at, part: textItem(it).content[0] }),
      next("response.output_item.done", { output_index: 0, item: textItem(it) })
    )
  }
  it.toolCalls.forEach((toolCall, index) => {
    const item = toolItem(toolCall)
    const at = { item_id: item.id, output_index: index + (it.parts.length > 0 ? 1 : 0) }
    output.push(
      next("response.output_item.added", {
        output_index: at.output_index,
        item: { ...item, status: "in_progress", arguments: "" }
      }),
      next("response.function_call_arguments.delta", { ...at, delta: toolCall.arguments }),
      next("response.function_call_arguments.done", { ...at, arguments: toolCall.arguments }),
      next("response.output_item.done", { output_index: at.output_index, item })
    )
  })
  return { opening, output, ending: [next("response.completed", { response: response(it, "completed") })] }
}
