import type { Operation } from "../Provider.js"

/** A stream in the stretches between which a script may break it off. */
export interface Frames {
  readonly opening: string
  readonly output: ReadonlyArray<string>
  readonly ending: string
}

const data = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`
const event = (type: string, more: Readonly<Record<string, unknown>>): string =>
  `event: ${type}\n${data({ type, ...more })}`

/** A good answer that says `text`, as JSON. */
export const json = (operation: Operation, model: string, text: string): string => {
  switch (operation) {
    case "messages":
      return JSON.stringify({
        id: "msg_scripted",
        type: "message",
        role: "assistant",
        model,
        content: [{ type: "text", text }],
        stop_reason: "end_turn",
        stop_sequence: null,
        usage: { input_tokens: 1, output_tokens: 1 }
      })
    case "responses":
      return JSON.stringify(response(model, "completed", text))
    case "embeddings":
      return JSON.stringify({
        object: "list",
        model,
        data: [{ object: "embedding", index: 0, embedding: [0.5] }],
        usage: { prompt_tokens: 1, total_tokens: 1 }
      })
    case "chat.completions":
      return JSON.stringify({
        id: "chatcmpl-scripted",
        object: "chat.completion",
        created: 0,
        model,
        choices: [{ index: 0, message: { role: "assistant", content: text }, finish_reason: "stop" }],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
      })
  }
}

const response = (model: string, status: string, text: string) => ({
  id: "resp_scripted",
  object: "response",
  created_at: 0,
  status,
  error: null,
  model,
  output: [
    {
      id: "msg_scripted",
      type: "message",
      status,
      role: "assistant",
      content: [{ type: "output_text", text, annotations: [] }]
    }
  ],
  usage: { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
})

/** The same as a stream, a part at a time. */
export const frames = (operation: Operation, model: string, parts: ReadonlyArray<string>): Frames => {
  switch (operation) {
    case "messages":
      return {
        opening:
          event("message_start", {
            message: {
              id: "msg_scripted",
              type: "message",
              role: "assistant",
              model,
              content: [],
              stop_reason: null,
              usage: { input_tokens: 1, output_tokens: 1 }
            }
          }) + event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
        output: parts.map((text) => event("content_block_delta", { index: 0, delta: { type: "text_delta", text } })),
        ending:
          event("content_block_stop", { index: 0 }) +
          event("message_delta", {
            delta: { stop_reason: "end_turn", stop_sequence: null },
            usage: { output_tokens: 1 }
          }) +
          event("message_stop", {})
      }
    case "responses":
      return {
        opening: event("response.created", { response: { ...response(model, "in_progress", ""), output: [] } }),
        output: parts.map((delta) =>
          event("response.output_text.delta", { item_id: "msg_scripted", output_index: 0, content_index: 0, delta })
        ),
        ending: event("response.completed", { response: response(model, "completed", parts.join("")) })
      }
    default: {
      const chunk = (delta: unknown, finish: string | null) =>
        data({
          id: "chatcmpl-scripted",
          object: "chat.completion.chunk",
          created: 0,
          model,
          choices: [{ index: 0, delta, finish_reason: finish }]
        })
      return {
        opening: chunk({ role: "assistant", content: "" }, null),
        output: parts.map((content) => chunk({ content }, null)),
        ending: `${chunk({}, "stop")}data: [DONE]\n\n`
      }
    }
  }
}

/** An error as the dialect words it. */
export const error = (operation: Operation, type: string | undefined, message: string): string =>
  JSON.stringify(
    operation === "messages" ? { type: "error", error: { type, message } } : { error: { message, type, code: null } }
  )

/** The same inside a stream. */
export const errorFrame = (operation: Operation, type: string, message: string): string =>
  operation === "messages" || operation === "responses"
    ? `event: error\ndata: ${error(operation, type, message).replace(/^\{(?!"type":"error")/, '{"type":"error",')}\n\n`
    : `data: ${error(operation, type, message)}\n\n`
