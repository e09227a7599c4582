import * as fc from "fast-check"

type Json = Readonly<Record<string, unknown>>

const encoder = new TextEncoder()
const decoder = new TextDecoder()

export const bytes = (value: unknown): Uint8Array => encoder.encode(JSON.stringify(value))
export const json = (body: Uint8Array | undefined): unknown => JSON.parse(decoder.decode(body))

/** Text that both take: not blank. */
const text = fc
  .oneof(
    fc.constantFrom("Hi", "a\nb", "\u{1f600} \\u2028\u2028", 'data: x\n\n"}'),
    fc.fullUnicodeString({ minLength: 1, maxLength: 12 })
  )
  .filter((it) => it.trim() !== "")
const word = fc.stringMatching(/^[a-zA-Z0-9_-]{1,12}$/)
const value = fc.oneof(
  fc.string({ maxLength: 6 }),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.constant([1, "x", {}])
)
const object = fc.dictionary(
  word.filter((it) => it !== "__proto__"),
  value,
  { maxKeys: 3 }
)

const image = fc.constantFrom(
  { type: "image_url", image_url: { url: "https://pictures.example/a.png?b=c" } },
  { type: "image_url", image_url: { url: "data:image/png;base64,aGVsbG8=" } }
)
const part = fc.oneof(
  text.map((text) => ({ type: "text", text })),
  image
)
const several = fc.array(
  text.map((text) => ({ type: "text", text })),
  { minLength: 2, maxLength: 3 }
)
const words = fc.oneof(text, several)
const user = fc
  .oneof(
    text,
    fc.tuple(image, fc.array(part, { maxLength: 2 })).map(([first, rest]) => [first, ...rest])
  )
  .map((content) => ({ role: "user", content }))

const call = fc.record({ id: word, name: word, args: object }).map(({ args, id, name }) => ({
  id,
  type: "function",
  function: { name, arguments: JSON.stringify(args) }
}))

/** What an assistant says, and what the tools it called answer. */
const turn = fc.oneof(
  words.map((content) => [{ role: "assistant", content }]),
  fc
    .tuple(fc.option(words, { nil: null }), fc.array(call, { minLength: 1, maxLength: 3 }), text)
    .map(([content, tool_calls, result]) => [
      { role: "assistant", content, tool_calls },
      ...tool_calls.map(({ id }, index) => ({ role: "tool", tool_call_id: id, content: index === 1 ? "" : result }))
    ])
)
const system = words.map((content) => ({ role: "system", content }))

const messages = fc
  .tuple(fc.option(system), fc.array(fc.tuple(user, turn, fc.option(system, { freq: 9 })), { maxLength: 3 }), user)
  .map(
    ([first, turns, last]): ReadonlyArray<Json> => [
      ...(first === null ? [] : [first]),
      // a system message stands behind what a tool or an assistant said
      ...turns.flatMap(
        ([asked, said, then]): ReadonlyArray<Json> => [asked, ...said, ...(then === null ? [] : [then])]
      ),
      last
    ]
  )

const tool = fc
  .record({
    name: word,
    description: fc.option(text, { nil: undefined }),
    strict: fc.constantFrom(true, undefined),
    schema: object
  })
  .map(({ description, name, schema, strict }) => ({
    type: "function",
    function: { name, description, parameters: { type: "object", properties: schema }, strict }
  }))

const toolFields = fc.record(
  {
    tools: fc.array(tool, { minLength: 1, maxLength: 3 }),
    tool_choice: fc.constantFrom("none", "required", { type: "function", function: { name: "x" } }, undefined),
    parallel_tool_calls: fc.constantFrom(false, undefined)
  },
  { requiredKeys: ["tools"] }
)

const sampling = fc.record(
  { temperature: fc.double({ min: 0, max: 1, noNaN: true }).map((it) => it + 0), top_p: fc.constantFrom(0, 0.1, 1) },
  { requiredKeys: [] }
)
const reasoning = fc.record({ reasoning_effort: fc.constantFrom("low", "medium", "high", "xhigh") })

/** A Chat Completions request of all that both can say, in the words the translation back has for it. */
export const chatRequest: fc.Arbitrary<Json> = fc
  .tuple(
    messages,
    fc.option(toolFields),
    fc.oneof(sampling, reasoning, fc.constant({ reasoning_effort: "none" })),
    fc.record(
      {
        stop: fc.array(word, { minLength: 1, maxLength: 4 }),
        user: word,
        service_tier: fc.constantFrom("auto", "default"),
        response_format: object.map((properties) => ({
          type: "json_schema",
          json_schema: { name: "response", schema: { type: "object", properties }, strict: true }
        })),
        stream: fc.constant(true)
      },
      { requiredKeys: [] }
    ),
    fc.integer({ min: 1, max: 100_000 })
  )
  .map(([messages, tools, model, more, max_completion_tokens]) => {
    // thinking lets no tool be forced
    const forced = "reasoning_effort" in model && model.reasoning_effort !== "none" ? { tool_choice: "none" } : {}
    const request = {
      model: "m",
      messages,
      ...model,
      ...more,
      ...(tools !== null && { ...tools, ...("tool_choice" in tools && forced) }),
      max_completion_tokens,
      ...(more.stream === true && { stream_options: { include_usage: true } })
    }
    // with no call allowed there is none beside another; `undefined` is no JSON
    const none = "tool_choice" in request && request.tool_choice === "none"
    return JSON.parse(JSON.stringify(none ? { ...request, parallel_tool_calls: undefined } : request))
  })

const usage = fc
  .record({
    input: fc.nat(999),
    read: fc.nat(99),
    write: fc.nat(99),
    output: fc.integer({ min: 9, max: 999 }),
    reasoning: fc.nat(9)
  })
  .map(({ input, output, read, reasoning, write }) => ({
    prompt_tokens: input + read + write,
    completion_tokens: output,
    total_tokens: input + read + write + output,
    prompt_tokens_details: { cached_tokens: read, ...(write > 0 && { cache_write_tokens: write }) },
    completion_tokens_details: { reasoning_tokens: reasoning }
  }))

export interface ChatAnswer {
  readonly id: string
  readonly model: string
  readonly text: string
  readonly calls: ReadonlyArray<{ readonly id: string; readonly name: string; readonly args: string }>
  readonly finish: string
  readonly usage: Json
}

/** An answer, from which both its JSON and its stream are made. */
export const chatAnswer: fc.Arbitrary<ChatAnswer> = fc
  .record({
    id: word,
    model: word,
    text: fc.oneof(fc.constant(""), text),
    calls: fc.uniqueArray(fc.record({ id: word, name: word, args: object.map((it) => JSON.stringify(it)) }), {
      maxLength: 3,
      selector: ({ id }) => id
    }),
    finish: fc.constantFrom("stop", "length", "content_filter"),
    usage
  })
  .map((it) => (it.calls.length > 0 && it.finish === "stop" ? { ...it, finish: "tool_calls" } : it))

export const chatJson = ({ calls, finish, id, model, text, usage }: ChatAnswer): Json => ({
  id,
  object: "chat.completion",
  created: 0,
  model,
  choices: [
    {
      index: 0,
      message: {
        role: "assistant",
        content: text === "" && calls.length > 0 ? null : text,
        refusal: null,
        ...(calls.length > 0 && {
          tool_calls: calls.map(({ args, id, name }) => ({ id, type: "function", function: { name, arguments: args } }))
        })
      },
      logprobs: null,
      finish_reason: finish
    }
  ],
  usage
})

const pieces = (text: string, size: number): ReadonlyArray<string> => {
  const points = [...text]
  const count = Math.ceil(points.length / size)
  return Array.from({ length: count }, (_, at) => points.slice(at * size, (at + 1) * size).join(""))
}

const frame = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`

/** The same as a stream; the calls' arguments one after the other, or in turn. */
export const chatStream = (answer: ChatAnswer, size: number, inTurn: boolean): string => {
  const { calls, finish, id, model, text, usage } = answer
  const chunk = (delta: unknown, finish_reason: string | null = null) =>
    frame({
      id,
      object: "chat.completion.chunk",
      created: 0,
      model,
      choices: [{ index: 0, delta, finish_reason }],
      usage: null
    })
  const part = (index: number, piece: string) => chunk({ tool_calls: [{ index, function: { arguments: piece } }] })
  const begin = calls.map(({ id, name }, index) =>
    chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] })
  )
  const args = calls.map((call, index) => pieces(call.args, size).map((piece) => part(index, piece)))
  const longest = Math.max(0, ...args.map((list) => list.length))
  const turns = Array.from({ length: longest }, (_, at) => args.flatMap((list) => list.slice(at, at + 1)))
  const spoken = inTurn ? [...begin, ...turns.flat()] : begin.flatMap((first, index) => [first, ...(args[index] ?? [])])
  return [
    chunk({ role: "assistant", content: "" }),
    ...pieces(text, size).map((content) => chunk({ content })),
    ...spoken,
    chunk({}, finish),
    frame({ id, object: "chat.completion.chunk", created: 0, model, choices: [], usage }),
    "data: [DONE]\n\n"
  ].join("")
}

/** The same bytes, cut at these places. */
export const cut = (all: Uint8Array, places: ReadonlyArray<number>): ReadonlyArray<Uint8Array> => {
  const sorted = [0, ...places.map((place) => Math.floor(place * all.length)).sort((a, b) => a - b), all.length]
  return sorted.slice(1).map((to, at) => all.subarray(sorted[at], to))
}

export const places = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 12 })
