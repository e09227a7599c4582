import Anthropic from "@anthropic-ai/sdk"
import { describe, it } from "@effect/vitest"
import * as Provider from "@switchgear/providers/Provider"
import * as ScriptedProvider from "@switchgear/providers/ScriptedProvider"
import * as Translated from "@switchgear/providers/Translated"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import OpenAI from "openai"
import { assert } from "vitest"

/** The official clients, whose transport is a provider of the other dialect with a translation in front. */

const scripted = (native: "chat.completions" | "messages", script: ScriptedProvider.Script) => {
  const upstream = ScriptedProvider.make("upstream", script, { kind: native === "messages" ? "anthropic" : "openai" })
  return { upstream, provider: Translated.make({ ...upstream, operations: [native] }) }
}

/** As a gateway would: the provider's answer as HTTP, its error with the status and body it has. */
const fetchOver =
  (provider: Provider.Provider, operation: Provider.Operation): typeof fetch =>
  async (_, init) => {
    const body = JSON.parse(String(init?.body))
    const exit = await Effect.runPromiseExit(provider.call(Provider.request(operation, body)))
    if (Exit.isSuccess(exit)) {
      const { headers, status } = exit.value
      if (exit.value._tag === "Json") return new Response(Buffer.from(exit.value.body), { status, headers })
      const stream = exit.value.body
      const iterator = stream[Symbol.asyncIterator]()
      const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
        const next = await iterator.next()
        if (next.done === true) controller.close()
        else controller.enqueue(next.value)
      }
      return new Response(new ReadableStream({ pull }), { status, headers })
    }
    const cause = exit.cause
    if (cause._tag !== "Fail" || cause.error.response === undefined) throw new Error("no response to show")
    const { headers, status, body: said } = cause.error.response
    return new Response(Buffer.from(said), { status, headers: { ...headers } })
  }

const openai = (provider: Provider.Provider) =>
  new OpenAI({ apiKey: "k", maxRetries: 0, fetch: fetchOver(provider, "chat.completions") })
const anthropic = (provider: Provider.Provider) =>
  new Anthropic({ apiKey: "k", maxRetries: 0, fetch: fetchOver(provider, "messages") })

const answer = (body: unknown) => ScriptedProvider.status(200, { body: JSON.stringify(body) })
const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`
const event = (type: string, more: object) => `event: ${type}\n${data({ type, ...more })}`

const message = {
  id: "msg_1",
  type: "message",
  role: "assistant",
  model: "claude",
  content: [
    { type: "text", text: "Looking." },
    { type: "tool_use", id: "toolu_1", name: "weather", input: { city: "Rome" } },
    { type: "tool_use", id: "toolu_2", name: "weather", input: {} }
  ],
  stop_reason: "tool_use",
  stop_sequence: null,
  usage: { input_tokens: 10, cache_read_input_tokens: 4, cache_creation_input_tokens: 0, output_tokens: 6 }
}

const messageStream = [
  event("message_start", {
    message: { ...message, content: [], stop_reason: null, usage: { ...message.usage, output_tokens: 1 } }
  }),
  event("content_block_start", { index: 0, content_block: { type: "text", text: "" } }),
  event("ping", {}),
  event("content_block_delta", { index: 0, delta: { type: "text_delta", text: "Look" } }),
  event("content_block_delta", { index: 0, delta: { type: "text_delta", text: "ing." } }),
  event("content_block_stop", { index: 0 }),
  event("content_block_start", {
    index: 1,
    content_block: { type: "tool_use", id: "toolu_1", name: "weather", input: {} }
  }),
  event("content_block_delta", { index: 1, delta: { type: "input_json_delta", partial_json: '{"city":' } }),
  event("content_block_delta", { index: 1, delta: { type: "input_json_delta", partial_json: '"Rome"}' } }),
  event("content_block_stop", { index: 1 }),
  event("content_block_start", {
    index: 2,
    content_block: { type: "tool_use", id: "toolu_2", name: "weather", input: {} }
  }),
  event("content_block_stop", { index: 2 }),
  event("message_delta", { delta: { stop_reason: "tool_use", stop_sequence: null }, usage: { output_tokens: 6 } }),
  event("message_stop", {})
]

const calls = [
  { id: "call_1", type: "function", function: { name: "weather", arguments: '{"city":"Rome"}' } },
  { id: "call_2", type: "function", function: { name: "weather", arguments: "{}" } }
]
const completion = {
  id: "chatcmpl-1",
  object: "chat.completion",
  created: 1,
  model: "gpt",
  choices: [
    { index: 0, message: { role: "assistant", content: "Looking.", tool_calls: calls }, finish_reason: "tool_calls" }
  ],
  usage: { prompt_tokens: 14, completion_tokens: 6, total_tokens: 20, prompt_tokens_details: { cached_tokens: 4 } }
}
const chunk = (delta: unknown, finish_reason: string | null = null) =>
  data({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1,
    model: "gpt",
    choices: [{ index: 0, delta, finish_reason }]
  })
const completionStream = [
  chunk({ role: "assistant", content: "" }),
  chunk({ content: "Look" }),
  chunk({ content: "ing." }),
  ...calls.flatMap(({ function: { arguments: args, name }, id }, index) => [
    chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }),
    chunk({ tool_calls: [{ index, function: { arguments: args.slice(0, 5) } }] }),
    chunk({ tool_calls: [{ index, function: { arguments: args.slice(5) } }] })
  ]),
  chunk({}, "tool_calls"),
  data({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1,
    model: "gpt",
    choices: [],
    usage: completion.usage
  }),
  "data: [DONE]\n\n"
]

const weather = {
  name: "weather",
  description: "Weather",
  parameters: { type: "object", properties: { city: { type: "string" } } }
}
const chatRequest = {
  model: "claude",
  messages: [{ role: "user", content: "Weather?" }],
  tools: [{ type: "function", function: weather }]
} satisfies OpenAI.ChatCompletionCreateParamsNonStreaming
const messagesRequest = {
  model: "gpt",
  max_tokens: 100,
  messages: [{ role: "user", content: "Weather?" }],
  tools: [{ name: "weather", input_schema: { type: "object" } }]
} satisfies Anthropic.MessageCreateParamsNonStreaming

const caught = async (run: () => PromiseLike<unknown>): Promise<unknown> => {
  try {
    await run()
  } catch (error) {
    return error
  }
  return assert.fail("it did not fail")
}

describe("the openai client before a Messages provider", () => {
  it("completes a chat with tool calls", async () => {
    const { provider, upstream } = scripted("messages", [answer(message)])
    const got = await openai(provider).chat.completions.create(chatRequest)
    assert.deepStrictEqual(got.choices[0]?.message, {
      role: "assistant",
      content: "Looking.",
      refusal: null,
      tool_calls: calls.map((call, index) => ({ ...call, id: `toolu_${index + 1}` }))
    } as (typeof got.choices)[0]["message"])
    assert.strictEqual(got.choices[0]?.finish_reason, "tool_calls")
    assert.deepInclude(got.usage, { prompt_tokens: 14, completion_tokens: 6, total_tokens: 20 })
    const [asked] = await Effect.runPromise(upstream.requests)
    assert.strictEqual(asked?.operation, "messages")
  })

  it("streams it to the same", async () => {
    const { provider } = scripted("messages", [ScriptedProvider.stream(messageStream)])
    const stream = openai(provider).chat.completions.stream({ ...chatRequest, stream_options: { include_usage: true } })
    const got = await stream.finalChatCompletion()
    assert.strictEqual(got.choices[0]?.message.content, "Looking.")
    const args = got.choices[0]?.message.tool_calls?.map((call) => call.type === "function" && call.function.arguments)
    assert.deepStrictEqual(args, ['{"city":"Rome"}', "{}"])
    assert.strictEqual(got.choices[0]?.finish_reason, "tool_calls")
    assert.deepInclude(await stream.totalUsage(), { prompt_tokens: 14, completion_tokens: 6 })
  })

  it("goes on with what the tools said, and with a conversation that came from here", async () => {
    const { provider, upstream } = scripted("messages", [answer(message), ScriptedProvider.ok("Sun.")])
    const client = openai(provider)
    const first = await client.chat.completions.create(chatRequest)
    const said = first.choices[0]?.message
    assert.isDefined(said)
    const results = (said?.tool_calls ?? []).map(({ id }) => ({
      role: "tool" as const,
      tool_call_id: id,
      content: "sun"
    }))
    const messages = [...chatRequest.messages, ...(said === undefined ? [] : [said]), ...results]
    const then = await client.chat.completions.create({ ...chatRequest, messages })
    assert.strictEqual(then.choices[0]?.message.content, "Sun.")
    const [, asked] = await Effect.runPromise(upstream.requests)
    const body = JSON.parse(Buffer.from(asked?.body ?? []).toString())
    assert.deepStrictEqual(body.messages.slice(1), [
      { role: "assistant", content: message.content },
      {
        role: "user",
        content: ["toolu_1", "toolu_2"].map((id) => ({
          type: "tool_result",
          tool_use_id: id,
          content: [{ type: "text", text: "sun" }]
        }))
      }
    ])
  })

  it("raises its own errors", async () => {
    const error = (status: number, type: string) => ScriptedProvider.status(status, { type, message: `said ${status}` })
    const { provider } = scripted("messages", [
      error(429, "rate_limit_error"),
      error(401, "authentication_error"),
      error(400, "invalid_request_error"),
      error(404, "not_found_error"),
      error(529, "overloaded_error"),
      ScriptedProvider.status(502, { body: "<html>Bad gateway</html>" })
    ])
    const client = openai(provider)
    const of = () => caught(() => client.chat.completions.create(chatRequest))
    const rate = await of()
    assert.ok(
      rate instanceof OpenAI.RateLimitError && rate.code === "rate_limit_exceeded" && rate.message === "429 said 429"
    )
    assert.ok((await of()) instanceof OpenAI.AuthenticationError)
    assert.ok((await of()) instanceof OpenAI.BadRequestError)
    assert.ok((await of()) instanceof OpenAI.NotFoundError)
    const busy = await of()
    assert.ok(busy instanceof OpenAI.InternalServerError && busy.status === 529)
    const page = await of()
    assert.ok(page instanceof OpenAI.InternalServerError && !page.message.includes("<html>"))
  })
})

describe("the Anthropic client before a Chat Completions provider", () => {
  it("completes a message with tool calls", async () => {
    const { provider } = scripted("chat.completions", [answer(completion)])
    const got = await anthropic(provider).messages.create(messagesRequest)
    assert.deepStrictEqual<unknown>(got.content, [
      { type: "text", text: "Looking." },
      { type: "tool_use", id: "call_1", name: "weather", input: { city: "Rome" } },
      { type: "tool_use", id: "call_2", name: "weather", input: {} }
    ])
    assert.strictEqual(got.stop_reason, "tool_use")
    assert.deepInclude(got.usage, { input_tokens: 10, cache_read_input_tokens: 4, output_tokens: 6 })
  })

  it("streams it to the same", async () => {
    const { provider } = scripted("chat.completions", [answer(completion), ScriptedProvider.stream(completionStream)])
    const client = anthropic(provider)
    const whole = await client.messages.create(messagesRequest)
    const streamed = await client.messages.stream(messagesRequest).finalMessage()
    for (const field of ["content", "id", "model", "role", "stop_reason", "usage"] as const) {
      assert.deepStrictEqual<unknown>(streamed[field], whole[field], field)
    }
  })

  it("raises its own errors", async () => {
    const error = (status: number, type: string) => ScriptedProvider.status(status, { type, message: `said ${status}` })
    const { provider } = scripted("chat.completions", [
      error(429, "requests"),
      error(401, "invalid_request_error"),
      error(400, "invalid_request_error"),
      error(404, "invalid_request_error"),
      error(500, "server_error")
    ])
    const client = anthropic(provider)
    const of = () => caught(() => client.messages.create(messagesRequest))
    const rate = await of()
    assert.ok(rate instanceof Anthropic.RateLimitError && rate.type === "rate_limit_error")
    const auth = await of()
    assert.ok(auth instanceof Anthropic.AuthenticationError && auth.type === "authentication_error")
    assert.ok((await of()) instanceof Anthropic.BadRequestError)
    assert.ok((await of()) instanceof Anthropic.NotFoundError)
    const broken = await of()
    assert.ok(broken instanceof Anthropic.InternalServerError && broken.type === "api_error")
  })
})

describe("Translated", () => {
  const request = (operation: Provider.Operation, more: object = {}) =>
    Provider.request(operation, { model: "m", max_tokens: 9, messages: [{ role: "user", content: "x" }], ...more })

  it("a failure keeps its kind, scope, status and Retry-After; only its words are the client's", async () => {
    const busy = ScriptedProvider.status(429, { headers: { "retry-after": "7" }, type: "rate_limit_error" })
    const { provider, upstream } = scripted("messages", [busy])
    const ours = await Effect.runPromise(Effect.flip(provider.call(request("chat.completions"))))
    const theirs = await Effect.runPromise(Effect.flip(upstream.call(request("messages"))))
    assert.deepStrictEqual(ours.failure, theirs.failure)
    assert.strictEqual(ours.failure.retryAfter, 7000)
    assert.strictEqual(ours.response?.headers["retry-after"], "7")
  })

  it("an error in a 200 stream before its output is a body of the client's dialect", async () => {
    const { provider } = scripted("chat.completions", [
      ScriptedProvider.errorFrame([], { type: "server_error", message: "no" })
    ])
    const error = await Effect.runPromise(Effect.flip(provider.call(request("messages", { stream: true }))))
    const body: unknown = JSON.parse(Buffer.from(error.response?.body ?? []).toString())
    assert.deepStrictEqual(body, { type: "error", error: { type: "api_error", message: "no" } })
  })

  it("what cannot be carried is known before a call, and is a client_fault with a code when called", async () => {
    const { provider, upstream } = scripted("messages", [ScriptedProvider.ok()])
    const unfit = request("chat.completions", { seed: 1, n: 3 })
    assert.deepStrictEqual(provider.cannotCarry?.(unfit), ["n", "seed"])
    assert.strictEqual(Provider.obstacle(provider, unfit), "it cannot carry n, seed")
    assert.isUndefined(Provider.obstacle(provider, request("messages", { seed: 1 })))
    assert.strictEqual(Provider.obstacle(provider, request("embeddings")), "it does not speak embeddings")
    const error = await Effect.runPromise(Effect.flip(provider.call(unfit)))
    assert.deepInclude(error.failure, { kind: "client_fault", scope: "none", code: "untranslatable" })
    assert.strictEqual(await Effect.runPromise(upstream.calls), 0)
  })

  it("its own dialect passes byte for byte, with all its fields; headers of the other are not sent along", async () => {
    const { provider, upstream } = scripted("messages", [ScriptedProvider.ok()])
    const own = request("messages", { top_k: 5 })
    await Effect.runPromise(provider.call(own))
    const headers = { "openai-organization": "o", "x-trace": "t" }
    await Effect.runPromise(provider.call({ ...request("chat.completions"), headers }))
    const [first, second] = await Effect.runPromise(upstream.requests)
    assert.strictEqual(first?.body, own.body)
    assert.deepStrictEqual(second?.headers, { "x-trace": "t" })
  })

  it("a stream that breaks after output fails as it did, with no end in the client's dialect", async () => {
    const { provider } = scripted("messages", [ScriptedProvider.cut(["a", "b"])])
    const answer = await Effect.runPromise(provider.call(request("chat.completions", { stream: true })))
    assert.ok(answer._tag === "Stream")
    let text = ""
    const error = await caught(async () => {
      for await (const chunk of answer.body) text += Buffer.from(chunk).toString()
    })
    assert.ok(error instanceof Provider.ProviderError && error.failure.kind === "network_error")
    assert.include(text, '"content":"b"')
    assert.notInclude(text, "[DONE]")
  })

  it("a stream that ends well in the wrong dialect is no answer, and not an empty one", async () => {
    const { provider } = scripted("chat.completions", [ScriptedProvider.stream(messageStream)])
    const answer = await Effect.runPromise(provider.call(request("messages", { stream: true })))
    assert.ok(answer._tag === "Stream")
    const error = await caught(async () => {
      for await (const chunk of answer.body) assert.fail(`it said ${Buffer.from(chunk)}`)
    })
    assert.ok(error instanceof Provider.ProviderError)
    assert.deepInclude(error.failure, { kind: "server_error", code: "untranslatable_answer" })
  })

  it("who leaves a translated stream leaves the original, at once, even while waiting", async () => {
    let left = 0
    const body: AsyncIterableIterator<Uint8Array> = {
      next: () => new Promise(() => {}),
      return: () => {
        left += 1
        return Promise.resolve({ done: true, value: undefined })
      },
      [Symbol.asyncIterator]: () => body
    }
    const stream: Provider.Answer = { _tag: "Stream", status: 200, headers: {}, body }
    const provider = Translated.make({ name: "p", operations: ["messages"], call: () => Effect.succeed(stream) })
    const answer = await Effect.runPromise(provider.call(request("chat.completions", { stream: true })))
    assert.ok(answer._tag === "Stream")
    const iterator = answer.body[Symbol.asyncIterator]()
    void iterator.next()
    await iterator.return?.()
    assert.strictEqual(left, 1)
  })
})
