import { created, data, type Frames, type Said } from "./said.js"

const chatUsage = (it: Said) => ({
  prompt_tokens: it.input,
  completion_tokens: it.output,
  total_tokens: it.input + it.output
})

export const chatJson = (it: Said) => ({
  id: `chatcmpl-${it.id}`,
  object: "chat.completion",
  created,
  model: it.model,
  choices: [
    {
      index: 0,
      message: {
        role: "assistant",
        content: it.parts.length > 0 ? it.parts.join("") : null,
        refusal: null,
        ...(it.toolCalls.length > 0 && {
          tool_calls: it.toolCalls.map((toolCall) => ({
            id: toolCall.id,
            type: "function",
            function: { name: toolCall.name, arguments: toolCall.arguments }
          }))
        })
      },
      logprobs: null,
      finish_reason: it.toolCalls.length > 0 ? "tool_calls" : "stop"
    }
  ],
  usage: chatUsage(it),
  system_fingerprint: "fp_upstream"
})

export const chatFrames = (it: Said, includeUsage: boolean): Frames => {
  const frame = (delta: unknown, finish: string | null = null) =>
    data({
      id: `chatcmpl-${it.id}`,
      object: "chat.completion.chunk",
      created,
      model: it.model,
      choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }]
    })
  const tools = it.toolCalls.flatMap((toolCall, index) => [
    frame({
      tool_calls: [{ index, id: toolCall.id, type: "function", function: { name: toolCall.name, arguments: "" } }]
    }),
    frame({ tool_calls: [{ index, function: { arguments: toolCall.arguments } }] })
  ])
  const usage = data({
    id: `chatcmpl-${it.id}`,
    object: "chat.completion.chunk",
    created,
    model: it.model,
    choices: [],
    usage: chatUsage(it)
  })
  return {
    opening: [frame({ role: "assistant", content: "", refusal: null })],
    output: [...it.parts.map((content) => frame({ content })), ...tools],
    ending: [
      frame({}, it.toolCalls.length > 0 ? "tool_calls" : "stop"),
      ...(includeUsage ? [usage] : []),
      "data: [DONE]\n\n"
    ]
  }
}
