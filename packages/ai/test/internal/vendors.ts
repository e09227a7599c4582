import * as AnthropicClient from "@effect/ai-anthropic/AnthropicClient"
import * as AnthropicLanguageModel from "@effect/ai-anthropic/AnthropicLanguageModel"
import * as OpenAiClient from "@effect/ai-openai/OpenAiClient"
import * as OpenAiLanguageModel from "@effect/ai-openai/OpenAiLanguageModel"
import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import type * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"

export type Vendor = "openai" | "anthropic"

/** What the upstream does with a request. */
export type Behaviour = (
  request: HttpClientRequest.HttpClientRequest
) => Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError>

/** An `HttpClient` without a network. */
export const http = (behave: (vendor: Vendor) => Behaviour): Layer.Layer<HttpClient.HttpClient> =>
  Layer.succeed(
    HttpClient.HttpClient,
    HttpClient.make((request) => behave(request.url.includes("anthropic") ? "anthropic" : "openai")(request))
  )

/** The vendors' own models, with these keys. */
export const openai = (key: string) =>
  Layer.provide(
    OpenAiLanguageModel.layer({ model: "gpt-4o" }),
    OpenAiClient.layer({ apiKey: Redacted.make(key), organizationId: Redacted.make(`org-${key}`) })
  )
export const anthropic = (key: string) =>
  Layer.provide(
    AnthropicLanguageModel.layer({ model: "claude-sonnet-4-5" }),
    AnthropicClient.layer({ apiKey: Redacted.make(key) })
  )

const answer =
  (body: string | ReadableStream<Uint8Array>, init: ResponseInit): Behaviour =>
  (request) =>
    Effect.sync(() => HttpClientResponse.fromWeb(request, new Response(body, init)))

export const json = (body: unknown, status = 200, headers: Record<string, string> = {}): Behaviour =>
  answer(JSON.stringify(body), { status, headers: { "content-type": "application/json", ...headers } })

export const raw = (body: string, type: string, status = 200): Behaviour =>
  answer(body, { status, headers: { "content-type": type } })

const frames = (events: ReadonlyArray<object>): ReadonlyArray<Uint8Array> =>
  events.map((event) =>
    new TextEncoder().encode(`event: ${Reflect.get(event, "type")}\ndata: ${JSON.stringify(event)}\n\n`)
  )

/** Events, then the end, or a connection that breaks. */
export const sse =
  (events: ReadonlyArray<object>, end: "close" | "reset" = "close"): Behaviour =>
  (request) =>
    Effect.suspend(() => {
      const chunks = [...frames(events)]
      const body = new ReadableStream<Uint8Array>({
        pull(controller) {
          const chunk = chunks.shift()
          if (chunk !== undefined) controller.enqueue(chunk)
          else if (end === "close") controller.close()
          else controller.error(Object.assign(new Error("terminated"), { code: "UND_ERR_SOCKET" }))
        }
      })
      return answer(body, { status: 200, headers: { "content-type": "text/event-stream" } })(request)
    })

/** As `fetch` fails. */
export const unreachable =
  (words = "fetch failed"): Behaviour =>
  (request) =>
    Effect.fail(
      new HttpClientError.RequestError({
        request,
        reason: "Transport",
        cause: new TypeError(words, { cause: Object.assign(new Error("connect"), { code: "ECONNREFUSED" }) })
      })
    )

const usage = {
  input_tokens: 1,
  input_tokens_details: { cached_tokens: 0 },
  output_tokens: 1,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 2
}

export const openaiResponse = (text: string, more: object = {}) => ({
  id: "resp_1",
  object: "response",
  status: "completed",
  created_at: 1,
  error: null,
  incomplete_details: null,
  output: [
    {
      type: "message",
      id: "msg_1",
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text, annotations: [], logprobs: [] }]
    }
  ],
  instructions: null,
  parallel_tool_calls: true,
  model: "gpt-4o",
  tools: [],
  tool_choice: "auto",
  metadata: {},
  temperature: 1,
  top_p: 1,
  usage,
  ...more
})

const openaiStart = {
  type: "response.created",
  sequence_number: 0,
  response: openaiResponse("", { output: [], usage: null, status: "in_progress" })
}

const openaiText = (text: string) => [
  {
    type: "response.output_item.added",
    sequence_number: 1,
    output_index: 0,
    item: { type: "message", id: "msg_1", role: "assistant", status: "in_progress", content: [] }
  },
  {
    type: "response.output_text.delta",
    sequence_number: 2,
    item_id: "msg_1",
    output_index: 0,
    content_index: 0,
    delta: text,
    logprobs: []
  }
]

export const anthropicMessage = (text: string) => ({
  id: "msg_1",
  type: "message",
  role: "assistant",
  content: text === "" ? [] : [{ type: "text", text, citations: null }],
  model: "claude-sonnet-4-5",
  stop_reason: text === "" ? null : "end_turn",
  stop_sequence: null,
  container: null,
  context_management: null,
  usage: {
    input_tokens: 1,
    output_tokens: 1,
    cache_creation: null,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    server_tool_use: null,
    service_tier: "standard"
  }
})

const anthropicStart = { type: "message_start", message: anthropicMessage("") }
const anthropicText = (text: string) => [
  { type: "content_block_start", index: 0, content_block: { type: "text", text: "", citations: null } },
  { type: "ping" },
  { type: "content_block_delta", index: 0, delta: { type: "text_delta", text } }
]

export const start = (vendor: Vendor): object => (vendor === "openai" ? openaiStart : anthropicStart)
export const text = (vendor: Vendor, words: string): ReadonlyArray<object> =>
  vendor === "openai" ? openaiText(words) : anthropicText(words)
export const end = (vendor: Vendor): ReadonlyArray<object> =>
  vendor === "openai"
    ? [{ type: "response.completed", sequence_number: 3, response: openaiResponse("x") }]
    : [
        { type: "content_block_stop", index: 0 },
        {
          type: "message_delta",
          delta: { stop_reason: "end_turn", stop_sequence: null },
          usage: {
            input_tokens: 1,
            output_tokens: 1,
            cache_creation_input_tokens: 0,
            cache_read_input_tokens: 0,
            server_tool_use: null
          },
          context_management: null
        },
        { type: "message_stop" }
      ]

/** An error inside a stream, in the vendor's own words. */
export const errorFrame = (vendor: Vendor, message: string): object =>
  vendor === "openai"
    ? { type: "error", sequence_number: 9, code: "rate_limit_exceeded", message, param: null }
    : { type: "error", error: { type: "overloaded_error", message } }

/** A vendor's refusal of a request, in its own words. */
export const refusal = (vendor: Vendor, message: string) =>
  vendor === "openai"
    ? { error: { message, type: "invalid_request_error", code: "invalid_api_key", param: null } }
    : { type: "error", error: { type: "authentication_error", message }, request_id: "req_1" }

/** A whole answer, in the form that was asked for. */
export const healthy =
  (vendor: Vendor, words: string): Behaviour =>
  (request) => {
    const body = request.body._tag === "Uint8Array" ? new TextDecoder().decode(request.body.body) : ""
    return JSON.parse(body).stream === true
      ? sse([start(vendor), ...text(vendor, words), ...end(vendor)])(request)
      : json(vendor === "openai" ? openaiResponse(words) : anthropicMessage(words))(request)
  }
