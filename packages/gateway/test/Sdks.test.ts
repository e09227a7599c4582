import Anthropic from "@anthropic-ai/sdk"
import { describe, it } from "@effect/vitest"
import * as Upstream from "@switchgear/testing/Upstream"
import * as Effect from "effect/Effect"
import OpenAI from "openai"
import { expect } from "vitest"
import { canary, type Fixture, fixture } from "./support.js"

// The vendors' own clients, as their users hold them, against the gateway before either vendor's wire.

const weather = { name: "get_weather", arguments: { city: "Bern", days: 3 } }
const schema = { type: "object" as const, properties: { city: { type: "string" }, days: { type: "number" } } }

/** No secret of ours, and none of the clients' own keys goes up. */
const clientKey = "sk-client-own-key-0123456789"

const openAi = ({ url }: Fixture) => new OpenAI({ baseURL: `${url}/v1`, apiKey: clientKey, maxRetries: 0 })
const anthropic = ({ url }: Fixture) => new Anthropic({ baseURL: url, apiKey: clientKey, maxRetries: 0 })

const tools = [{ type: "function" as const, function: { name: weather.name, parameters: schema } }]
const hello = [{ role: "user" as const, content: "What is the weather?" }]

/** What a client saw: text, tool calls, why it ended. */
interface Seen {
  readonly text: string
  readonly calls: ReadonlyArray<{ readonly name: string; readonly arguments: unknown }>
  readonly tokens: number
}

const attempt = <A>(run: () => Promise<A>) => Effect.promise(run)

const chatOnce = (client: OpenAI) =>
  attempt(async (): Promise<Seen> => {
    const { choices, usage } = await client.chat.completions.create({ model: "main", messages: hello, tools })
    const message = choices[0]?.message
    return {
      text: message?.content ?? "",
      calls: (message?.tool_calls ?? []).flatMap((call) =>
        call.type === "function" ? [{ name: call.function.name, arguments: JSON.parse(call.function.arguments) }] : []
      ),
      tokens: usage?.completion_tokens ?? 0
    }
  })

const chatStream = (client: OpenAI) =>
  attempt(async (): Promise<Seen> => {
    const stream = client.chat.completions.stream({
      model: "main",
      messages: hello,
      tools,
      stream_options: { include_usage: true }
    })
    const { choices, usage } = await stream.finalChatCompletion()
    const message = choices[0]?.message
    return {
      text: message?.content ?? "",
      calls: (message?.tool_calls ?? []).map((call) => ({
        name: call.function.name,
        arguments: JSON.parse(call.function.arguments)
      })),
      tokens: usage?.completion_tokens ?? 0
    }
  })

const messageTools = [{ name: weather.name, input_schema: schema }]

const seenOf = ({ content, usage }: Anthropic.Message): Seen => ({
  text: content.map((block) => (block.type === "text" ? block.text : "")).join(""),
  calls: content.flatMap((block) => (block.type === "tool_use" ? [{ name: block.name, arguments: block.input }] : [])),
  tokens: usage.output_tokens
})

const request = { model: "main", max_tokens: 100, messages: hello, tools: messageTools }
const messageOnce = (client: Anthropic) => attempt(async () => seenOf(await client.messages.create(request)))
const messageStream = (client: Anthropic) =>
  attempt(async () => seenOf(await client.messages.stream(request).finalMessage()))

const asked: Readonly<Record<string, (gateway: Fixture) => Effect.Effect<Seen>>> = {
  "openai, JSON": (gateway) => chatOnce(openAi(gateway)),
  "openai, a stream": (gateway) => chatStream(openAi(gateway)),
  "@anthropic-ai/sdk, JSON": (gateway) => messageOnce(anthropic(gateway)),
  "@anthropic-ai/sdk, a stream": (gateway) => messageStream(anthropic(gateway))
}

const said: Upstream.Reply = {
  parts: ["It ", "is ", "sunny."],
  toolCalls: [weather],
  usage: { input: 11, output: 5 }
}

for (const kind of ["openai", "anthropic"]) {
  describe(`before ${kind}`, () => {
    it.scopedLive.each(Object.keys(asked))("%s: text, a tool call, tokens", (client) =>
      Effect.gen(function* () {
        const gateway = yield* fixture({ kinds: [kind, kind], primary: [Upstream.ok(said)] })
        const seen = yield* asked[client]?.(gateway) ?? Effect.dieMessage("no such client")
        expect(seen).toEqual({ text: "It is sunny.", calls: [weather], tokens: 5 })
        const call = yield* gateway.primary.call(0)
        expect(JSON.stringify(call.headers)).toContain(canary)
        expect(JSON.stringify(call.headers)).not.toContain(clientKey)
        expect(call.endpoint).toBe(kind === "openai" ? "chat.completions" : "messages")
        expect(call.model).toBe("main-2024-08-06")
      })
    )

    it.scopedLive("a conversation with a tool's result goes up", () =>
      Effect.gen(function* () {
        const gateway = yield* fixture({ kinds: [kind, kind], primary: [Upstream.ok()] })
        const viaOpenAi = yield* attempt(() =>
          openAi(gateway).chat.completions.create({
            model: "main",
            tools,
            messages: [
              { role: "system", content: "Be brief." },
              ...hello,
              {
                role: "assistant",
                content: null,
                tool_calls: [
                  {
                    id: "call_1",
                    type: "function",
                    function: { name: weather.name, arguments: JSON.stringify(weather.arguments) }
                  }
                ]
              },
              { role: "tool", tool_call_id: "call_1", content: "sunny" }
            ]
          })
        )
        expect(viaOpenAi.choices[0]?.message.content).toBe("Hello there")
        const viaAnthropic = yield* attempt(() =>
          anthropic(gateway).messages.create({
            ...request,
            system: "Be brief.",
            messages: [
              ...hello,
              {
                role: "assistant",
                content: [{ type: "tool_use", id: "toolu_1", name: weather.name, input: weather.arguments }]
              },
              { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_1", content: "sunny" }] }
            ]
          })
        )
        expect(seenOf(viaAnthropic).text).toBe("Hello there")
        const bodies = (yield* gateway.primary.calls).map(({ body }) => Buffer.from(body).toString())
        for (const body of bodies) {
          for (const part of ["Be brief.", "What is the weather?", weather.name, "Bern", "sunny"]) {
            expect(body).toContain(part)
          }
        }
      })
    )

    it.scopedLive("a failure is raised as the client's own typed error, before and after output", () =>
      Effect.gen(function* () {
        const gateway = yield* fixture({ kinds: [kind, kind] })
        const cases = [
          [Upstream.status(429), OpenAI.RateLimitError, Anthropic.RateLimitError],
          [Upstream.status(500), OpenAI.InternalServerError, Anthropic.InternalServerError],
          [Upstream.status(529), OpenAI.InternalServerError, Anthropic.InternalServerError],
          [Upstream.status(400), OpenAI.BadRequestError, Anthropic.BadRequestError],
          [Upstream.contextLength, OpenAI.BadRequestError, Anthropic.BadRequestError],
          [Upstream.status(404), OpenAI.NotFoundError, Anthropic.NotFoundError],
          [Upstream.status(422), OpenAI.UnprocessableEntityError, Anthropic.UnprocessableEntityError],
          [Upstream.hangBeforeHeaders, OpenAI.InternalServerError, Anthropic.InternalServerError]
        ] as const
        for (const [upstream, fromOpenAi, fromAnthropic] of cases) {
          yield* gateway.primary.setScript([upstream])
          const single = { ...request, model: "single" }
          const chat = { model: "single", messages: hello }
          for (const stream of [false, true]) {
            const a = yield* attempt(() =>
              openAi(gateway)
                .chat.completions.create({ ...chat, stream })
                .then(
                  () => undefined,
                  (error: unknown) => error
                )
            )
            expect([upstream.name, a]).toEqual([upstream.name, expect.any(fromOpenAi)])
            const b = yield* attempt(() =>
              anthropic(gateway)
                .messages.create({ ...single, stream })
                .then(
                  () => undefined,
                  (error: unknown) => error
                )
            )
            expect([upstream.name, b]).toEqual([upstream.name, expect.any(fromAnthropic)])
            expect(String(a) + String(b)).not.toContain(canary)
            if (b instanceof Anthropic.APIError) expect(b.requestID).toMatch(/^[\w-]{8,}/)
          }
        }
        yield* gateway.primary.setScript([Upstream.failAfter(1, 500)])
        const late = yield* attempt(async () => {
          const seen: Array<unknown> = []
          await chatStreamFails(openAi(gateway), seen)
          await messageStreamFails(anthropic(gateway), seen)
          return seen
        })
        expect(late).toEqual([expect.any(OpenAI.APIError), expect.any(Anthropic.APIError)])
      })
    )
  })
}

const chatStreamFails = async (client: OpenAI, seen: Array<unknown>): Promise<void> => {
  const stream = await client.chat.completions.create({ model: "main", messages: hello, stream: true })
  let parts = 0
  try {
    for await (const chunk of stream) if (chunk.choices[0]?.delta.content) parts++
  } catch (error) {
    seen.push(parts > 0 ? error : "no part before the error")
  }
}

const messageStreamFails = async (client: Anthropic, seen: Array<unknown>): Promise<void> => {
  const stream = await client.messages.create({ ...request, stream: true })
  let parts = 0
  try {
    for await (const event of stream) if (event.type === "content_block_delta") parts++
  } catch (error) {
    seen.push(parts > 0 ? error : "no part before the error")
  }
}

describe("what OpenAI's client has besides", () => {
  it.scopedLive("responses: JSON, a stream, a failure after output; embeddings; the models", () =>
    Effect.gen(function* () {
      const gateway = yield* fixture({ kinds: ["openai", "openai"], primary: [Upstream.ok(said)] })
      const client = openAi(gateway)
      const once = yield* attempt(() => client.responses.create({ model: "main", input: "Hi" }))
      expect(once.output_text).toBe("It is sunny.")
      const streamed = yield* attempt(() => client.responses.stream({ model: "main", input: "Hi" }).finalResponse())
      expect(JSON.stringify(streamed.output)).toContain("It is sunny.")
      expect(streamed.status).toBe("completed")
      const embedded = yield* attempt(() => client.embeddings.create({ model: "main", input: ["a", "b"] }))
      expect(embedded.data).toHaveLength(2)
      const models = yield* attempt(async () => (await client.models.list()).data.map(({ id }) => id))
      expect(models).toEqual(["main", "spare", "single"])
      yield* gateway.primary.setScript([Upstream.failAfter(1, 500)])
      const late = yield* attempt(async () => {
        try {
          for await (const _ of await client.responses.create({ model: "main", input: "Hi", stream: true }));
        } catch (error) {
          return error
        }
      })
      expect(late).toBeInstanceOf(OpenAI.APIError)
    })
  )

  it.scopedLive("Anthropic's client lists the models too", () =>
    Effect.gen(function* () {
      const gateway = yield* fixture({ kinds: ["anthropic", "anthropic"] })
      const models = yield* attempt(async () => (await anthropic(gateway).models.list()).data.map(({ id }) => id))
      expect(models).toEqual(["main", "spare", "single"])
    })
  )
})
