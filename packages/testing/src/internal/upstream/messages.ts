import { event, type Frames, type Said } from "./said.js"

export const messagesJson = (it: Said) => ({
  id: `msg_${it.id}`,
  type: "message",
  role: "assistant",
  model: it.model,
  content: [
    ...(it.parts.length > 0 ? [{ type: "text", text: it.parts.join("") }] : []),
    ...it.toolCalls.map((toolCall) => ({
      type: "tool_use",
      id: toolCall.id,
      name: toolCall.name,
      input: JSON.parse(toolCall.arguments)
    }))
  ],
  stop_reason: it.toolCalls.length > 0 ? "tool_use" : "end_turn",
  stop_sequence: null,
  usage: { input_tokens: it.input, output_tokens: it.output }
})

export const messagesFrames = (it: Said): Frames => {
  const text = it.parts.length > 0
  const delta = (index: number, of: unknown) => event({ type: "content_block_delta", index, delta: of })
  const opening = [
    event({
      type: "message_start",
      message: {
        ...messagesJson(it),
        content: [],
        stop_reason: null,
        usage: { input_tokens: it.input, output_tokens: 1 }
      }
    }),
    ...(text ? [event({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } })] : []),
    event({ type: "ping" })
  ]
  const tools = it.toolCalls.flatMap((toolCall, at) => {
    const index = at + (text ? 1 : 0)
    return [
      event({
        type: "content_block_start",
        index,
        content_block: { type: "tool_use", id: toolCall.id, name: toolCall.name, input: {} }
      }),
      delta(index, { type: "input_json_delta", partial_json: toolCall.arguments }),
      event({ type: "content_block_stop", index })
    ]
  })
  return {
    opening,
    output: [
      ...it.parts.map((part) => delta(0, { type: "text_delta", text: part })),
      ...(text ? [event({ type: "content_block_stop", index: 0 })] : []),
      ...tools
    ],
    ending: [
      event({
        type: "message_delta",
        delta: { stop_reason: it.toolCalls.length > 0 ? "tool_use" : "end_turn", stop_sequence: null },
        usage: { output_tokens: it.output }
      }),
      event({ type: "message_stop" })
    ]
  }
}
