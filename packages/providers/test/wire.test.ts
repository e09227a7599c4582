import * as Wire from "@switchgear/providers/Wire"
import * as fc from "fast-check"
import { assert, describe, it } from "vitest"
import { bytes, chatAnswer, chatJson, chatRequest, chatStream, cut, json, places } from "./wireArbitrary.js"

const encoder = new TextEncoder()

const translated = (from: Wire.Dialect, body: unknown, settings?: Wire.Settings): unknown => {
  const result = Wire.request(from, bytes(body), settings)
  if (result._tag === "Untranslatable") return assert.fail(`cannot carry ${result.fields.join(", ")}`)
  return json(result.body)
}

const unfit = (from: Wire.Dialect, body: unknown): ReadonlyArray<string> => {
  const result = Wire.request(from, bytes(body))
  return result._tag === "Untranslatable" ? result.fields : []
}

const through = (stream: Wire.StreamTranslator, chunks: ReadonlyArray<Uint8Array>): Buffer =>
  Buffer.concat([...chunks.map((chunk) => stream.push(chunk)), stream.end()])

/** What is in a frame, as far as the tests look at it. */
interface Frame {
  readonly type: string
  readonly index: number
  readonly message: Message
  readonly content_block: Block
  readonly delta: { readonly type?: string; readonly text?: string; readonly partial_json?: string }
  readonly usage: object | null
  readonly choices: ReadonlyArray<{ readonly delta: Delta; readonly finish_reason: string | null }>
}

interface Delta {
  readonly content?: string
  readonly tool_calls?: ReadonlyArray<{
    readonly index: number
    readonly id?: string
    readonly function: { readonly name: string; readonly arguments: string }
  }>
}

interface Block {
  readonly type: string
  readonly id?: string
  readonly text?: string
  readonly input?: unknown
}

interface Message {
  readonly content: ReadonlyArray<Block>
  readonly stop_reason: string | null
  readonly usage: object
}

const frames = (text: string): ReadonlyArray<Frame> =>
  text
    .split("\n")
    .filter((line) => line.startsWith("data: ") && line !== "data: [DONE]")
    .map((line) => JSON.parse(line.slice(6)))

/** A Messages stream put together by hand, as its documentation says. */
const assembled = (text: string): Message | undefined => {
  let message: Message | undefined
  const content: Array<Block> = []
  const args = new Map<number, string>()
  for (const frame of frames(text)) {
    const block = content[frame.index]
    if (frame.type === "message_start") message = frame.message
    else if (frame.type === "content_block_start") content[frame.index] = frame.content_block
    else if (frame.type === "content_block_delta" && block?.type === "text")
      content[frame.index] = { ...block, text: `${block.text}${frame.delta.text}` }
    else if (frame.type === "content_block_delta")
      args.set(frame.index, (args.get(frame.index) ?? "") + frame.delta.partial_json)
    else if (frame.type === "content_block_stop" && block?.type === "tool_use")
      content[frame.index] = { ...block, input: JSON.parse(args.get(frame.index) || "{}") }
    else if (frame.type === "message_delta" && message !== undefined)
      message = { ...message, ...frame.delta, usage: { ...message.usage, ...frame.usage } }
  }
  return message === undefined ? undefined : { ...message, content }
}

describe("requests", () => {
  it("W6: there and back a request keeps all that both can say", () => {
    fc.assert(
      fc.property(chatRequest, (request) => {
        assert.deepStrictEqual(translated("messages", translated("chat.completions", request)), request)
      }),
      { numRuns: 400 }
    )
  })

  it("Messages there and back: results first, hints left out, thinking of earlier turns left out", () => {
    const request = {
      model: "m",
      max_tokens: 5,
      system: [{ type: "text", text: "be brief", cache_control: { type: "ephemeral" } }],
      thinking: { type: "adaptive" },
      output_config: { effort: "low" },
      messages: [
        { role: "user", content: [{ type: "text", text: "weather?" }] },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "hm", signature: "s" },
            { type: "text", text: "looking" },
            { type: "tool_use", id: "t1", name: "w", input: { at: "Rome" } },
            { type: "tool_use", id: "t2", name: "w", input: {} }
          ]
        },
        {
          role: "user",
          content: [
            { type: "tool_result", tool_use_id: "t1", content: [{ type: "text", text: "sun" }] },
            { type: "tool_result", tool_use_id: "t2", content: [] },
            { type: "image", source: { type: "base64", media_type: "image/png", data: "aa" } }
          ]
        }
      ],
      tools: [{ name: "w", description: "d", input_schema: { type: "object", properties: {} } }],
      tool_choice: { type: "auto", disable_parallel_tool_use: true },
      metadata: { user_id: "u" }
    }
    const result = Wire.request("messages", bytes(request))
    assert.ok(result._tag === "Translated")
    assert.deepStrictEqual([...result.omitted].sort(), ["cache_control", "thinking blocks"])
    const back = translated("chat.completions", json(result.body))
    const [asked, said, results] = request.messages
    assert.deepStrictEqual(back, {
      ...request,
      system: [{ type: "text", text: "be brief" }],
      messages: [asked, { role: "assistant", content: (said?.content ?? []).slice(1) }, results]
    })
  })

  it("images, tools and choices, word for word", () => {
    const chat = {
      model: "m",
      max_tokens: 7,
      messages: [
        { role: "developer", content: "be brief" },
        {
          role: "user",
          content: [
            { type: "text", text: "see" },
            { type: "image_url", image_url: { url: "https://a.example/b.png", detail: "auto" } },
            { type: "image_url", image_url: { url: "data:image/jpeg;base64,/9j=" } }
          ]
        }
      ],
      tools: [{ type: "function", function: { name: "f" } }],
      tool_choice: "required",
      parallel_tool_calls: false
    }
    assert.deepStrictEqual(translated("chat.completions", chat), {
      model: "m",
      max_tokens: 7,
      system: [{ type: "text", text: "be brief" }],
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "see" },
            { type: "image", source: { type: "url", url: "https://a.example/b.png" } },
            { type: "image", source: { type: "base64", media_type: "image/jpeg", data: "/9j=" } }
          ]
        }
      ],
      tools: [{ name: "f", input_schema: { type: "object", properties: {} } }],
      tool_choice: { type: "any", disable_parallel_tool_use: true }
    })
  })

  it("settings: max_tokens where there is none, and the older name of the limit", () => {
    const messages = [{ role: "user", content: "x" }]
    const to = translated("chat.completions", { model: "m", messages }, { defaultMaxTokens: 99 })
    assert.propertyVal(to, "max_tokens", 99)
    const back = translated("messages", { model: "m", messages, max_tokens: 5 }, { maxTokensField: "max_tokens" })
    assert.deepStrictEqual(back, { model: "m", messages, max_tokens: 5 })
  })

  const chat = { model: "m", messages: [{ role: "user", content: "x" }] }
  const message = (content: unknown, role = "user") => ({
    messages: [
      { role, content },
      { role: "user", content: "x" }
    ]
  })
  const fn = (name: string, args: string) => ({ id: "c", type: "function", function: { name, arguments: args } })
  const chatCases: ReadonlyArray<readonly [object, ReadonlyArray<string>]> = [
    [{ seed: 1 }, ["seed"]],
    [{ n: 2 }, ["n"]],
    [{ n: 1, logprobs: false, store: false, logit_bias: {}, frequency_penalty: 0, modalities: ["text"] }, []],
    [{ logprobs: true, top_logprobs: 3 }, ["logprobs", "top_logprobs"]],
    [{ frequency_penalty: 0.5, presence_penalty: -1 }, ["frequency_penalty", "presence_penalty"]],
    [{ logit_bias: { 5: 1 } }, ["logit_bias"]],
    [{ store: true }, ["store"]],
    [{ temperature: 1.5 }, ["temperature"]],
    [{ temperature: "hot" }, ["temperature"]],
    [{ temperature: null, seed: null, response_format: { type: "text" } }, []],
    [{ stop: "\n" }, ["stop"]],
    [{ response_format: { type: "json_object" } }, ["response_format.type"]],
    [
      { response_format: { type: "json_schema", json_schema: { name: "n", schema: {} } } },
      ["response_format.json_schema.strict"]
    ],
    [{ reasoning_effort: "minimal" }, ["reasoning_effort"]],
    [{ reasoning_effort: "high", temperature: 0.2, top_p: 0.5 }, ["temperature", "top_p"]],
    [{ audio: { voice: "x" } }, ["audio"]],
    [{ web_search_options: {} }, ["web_search_options"]],
    [{ functions: [{ name: "f" }] }, ["functions"]],
    [{ service_tier: "flex" }, ["service_tier"]],
    [{ made_up: 1 }, ["made_up"]],
    [{ user: "u", metadata: { a: "b" }, prompt_cache_key: "k", stream_options: { include_obfuscation: false } }, []],
    [{ tools: [{ type: "custom", custom: { name: "c" } }] }, ["tools[0].type"]],
    [
      { tools: [{ type: "function", function: { name: "f", parameters: { type: "array" } } }] },
      ["tools[0].function.parameters.type"]
    ],
    [
      { tools: [{ type: "function", function: { name: "f", parameters: { maximum: 1e20 } } }] },
      ["tools[0].function.parameters", "tools[0].function.parameters.type"]
    ],
    [
      { tool_choice: { type: "allowed_tools", allowed_tools: {} } },
      ["tool_choice.type", "tool_choice.allowed_tools", "tool_choice"]
    ],
    [message([{ type: "input_audio", input_audio: {} }]), ["messages[0].content[0].type"]],
    [
      message([{ type: "image_url", image_url: { url: "https://x.example", detail: "high" } }]),
      ["messages[0].content[0].image_url.detail"]
    ],
    [
      message([{ type: "image_url", image_url: { url: "data:image/tiff;base64,aa" } }]),
      ["messages[0].content[0].image_url.url"]
    ],
    [
      message([{ type: "image_url", image_url: { url: "file:///etc/passwd" } }]),
      ["messages[0].content[0].image_url.url"]
    ],
    [message("x", "function"), ["messages[0].role"]],
    [message(" \n "), ["messages (one of them is empty)"]],
    [{ messages: [{ role: "user", name: "bob", content: "x" }] }, ["messages[0].name"]],
    [
      { messages: [...chat.messages, { role: "assistant", content: "and" }] },
      ["messages (the last one is the assistant's)"]
    ],
    [
      { messages: [{ role: "assistant", content: null, tool_calls: [fn("f", "[1]")] }, ...chat.messages] },
      ["messages[0].tool_calls[0].function.arguments"]
    ],
    [
      {
        messages: [
          { role: "assistant", content: null, tool_calls: [fn("f", '{"n":12345678901234567890}')] },
          ...chat.messages
        ]
      },
      ["messages[0].tool_calls[0].function.arguments"]
    ],
    [
      {
        messages: [
          { role: "assistant", content: "a", refusal: null, annotations: [], reasoning_content: "r" },
          ...chat.messages
        ]
      },
      []
    ],
    [{ messages: "x" }, ["messages"]]
  ]
  it.each(chatCases)("Chat Completions with %j: Messages cannot say %j", (more, fields) => {
    assert.deepStrictEqual(unfit("chat.completions", { ...chat, ...more }), fields)
  })

  const block = (...content: ReadonlyArray<unknown>) => message(content)
  const messagesCases: ReadonlyArray<readonly [object, ReadonlyArray<string>]> = [
    [{ top_k: 3 }, ["top_k"]],
    [{ thinking: { type: "enabled", budget_tokens: 2000 } }, ["thinking.budget_tokens", "thinking.type"]],
    [{ thinking: { type: "adaptive", display: "summarized" } }, ["thinking.display"]],
    [{ output_config: { effort: "max" } }, ["output_config.effort"]],
    [{ stop_sequences: ["a", "b", "c", "d", "e"] }, ["stop_sequences"]],
    [{ mcp_servers: [] }, ["mcp_servers"]],
    [{ container: "c" }, ["container"]],
    [{ inference_geo: "us" }, ["inference_geo"]],
    [{ speed: "fast" }, ["speed"]],
    [{ speed: "standard", cache_control: { type: "ephemeral" } }, []],
    [{ tools: [{ type: "web_search_20250305", name: "web_search" }] }, ["tools[0].type"]],
    [{ tools: [{ name: "f", input_schema: { type: "object" }, input_examples: [{}] }] }, ["tools[0].input_examples"]],
    [{ tools: [{ name: "n".repeat(65), input_schema: { type: "object" } }] }, ["tools[0].name"]],
    [block({ type: "document", source: {} }), ["messages[0].content[0].type"]],
    [block({ type: "image", source: { type: "file", file_id: "f" } }), ["messages[0].content[0].source"]],
    [block({ type: "text", text: "x" }, { type: "tool_result", tool_use_id: "t" }), ["messages[0].content[1].type"]],
    [block({ type: "tool_result", tool_use_id: "t", is_error: true }), ["messages[0].content[0].is_error"]],
    [
      block({ type: "tool_result", tool_use_id: "t", content: [{ type: "image", source: {} }] }),
      ["messages[0].content[0].content[0].type"]
    ],
    [
      message(
        [
          { type: "tool_use", id: "t", name: "n", input: {} },
          { type: "text", text: "x" }
        ],
        "assistant"
      ),
      ["messages[0].content[1].type"]
    ]
  ]
  it.each(messagesCases)("Messages with %j: Chat Completions cannot say %j", (more, fields) => {
    assert.deepStrictEqual(unfit("messages", { ...chat, max_tokens: 1, ...more }), fields)
  })

  it("any JSON, any bytes: a translation or the names of fields, 16 at most, each a path", () => {
    const dialect = fc.constantFrom<Wire.Dialect>("chat.completions", "messages")
    const broken = fc.tuple(chatRequest, fc.jsonValue({ maxDepth: 3 }), fc.nat(11)).map(([request, junk, at]) => {
      const key = Object.keys(request)[at % Object.keys(request).length] ?? "model"
      return bytes({ ...request, [key]: junk })
    })
    const any = fc.oneof(broken, fc.jsonValue().map(bytes), fc.uint8Array({ maxLength: 30 }))
    fc.assert(
      fc.property(dialect, any, (from, body) => {
        const result = Wire.request(from, body)
        if (result._tag === "Translated") json(result.body)
        else assert.isTrue(result.fields.length > 0 && result.fields.length <= 16)
      }),
      { numRuns: 400 }
    )
  })

  it("nesting as deep as a body can be is refused, not a crash", () => {
    const deep = `${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}`
    for (const part of [
      `"tools":[{"type":"function","function":{"name":"f","parameters":${deep}}}]`,
      `"logit_bias":${deep}`,
      `"x":${deep}`
    ]) {
      const body = encoder.encode(`{"model":"m","messages":[{"role":"user","content":"x"}],${part}}`)
      assert.strictEqual(Wire.request("chat.completions", body)._tag, "Untranslatable")
    }
    const call = `{"id":"c","type":"function","function":{"name":"f","arguments":${JSON.stringify(deep)}}}`
    const body = `{"choices":[{"message":{"tool_calls":[${call}]}}]}`
    assert.isUndefined(Wire.answer("chat.completions", encoder.encode(body), 0))
    const input = `{"content":[{"type":"tool_use","id":"c","name":"f","input":${deep}}]}`
    assert.isUndefined(Wire.answer("messages", encoder.encode(input), 0))
  })
})

describe("answers", () => {
  it("W6: there and back an answer keeps its text, calls, finish reason and tokens", () => {
    fc.assert(
      fc.property(chatAnswer, (answer) => {
        const chat = chatJson(answer)
        const there = Wire.answer("chat.completions", bytes(chat), 0)
        assert.isDefined(there)
        assert.deepStrictEqual(json(Wire.answer("messages", there ?? new Uint8Array(), 0)), chat)
      }),
      { numRuns: 300 }
    )
  })

  it("arguments that are no object have no place in Messages", () => {
    const tool_calls = [{ id: "c", type: "function", function: { name: "f", arguments: '{"a":' } }]
    const answer = { id: "c", choices: [{ message: { content: null, tool_calls }, finish_reason: "length" }] }
    assert.isUndefined(Wire.answer("chat.completions", bytes(answer), 0))
  })

  it("a refusal is said and called one; thinking is shown to those who can show it", () => {
    const refused = { id: "c", choices: [{ message: { content: null, refusal: "no" }, finish_reason: "stop" }] }
    const there = json(Wire.answer("chat.completions", bytes(refused), 0))
    assert.deepInclude(there, { content: [{ type: "text", text: "no" }], stop_reason: "refusal" })
    const content = [
      { type: "thinking", thinking: "hm", signature: "s" },
      { type: "redacted_thinking", data: "x" },
      { type: "text", text: "yes" }
    ]
    const answer = { id: "m", content, stop_reason: "stop_sequence", stop_sequence: "E" }
    assert.deepStrictEqual(json(Wire.answer("messages", bytes(answer), 7)), {
      id: "m",
      object: "chat.completion",
      created: 7,
      model: "",
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: "yes", refusal: null, reasoning_content: "hm" },
          logprobs: null,
          finish_reason: "stop"
        }
      ]
    })
  })
})

describe("streams", () => {
  const size = fc.integer({ min: 1, max: 5 })

  it("W6: event by event means the same as the whole answer, however the bytes are cut and the calls interleave", () => {
    fc.assert(
      fc.property(chatAnswer, size, fc.boolean(), places, (answer, size, inTurn, places) => {
        const chunks = cut(encoder.encode(chatStream(answer, size, inTurn)), places)
        const out = through(Wire.stream("chat.completions", { usage: true, created: 0 }), chunks).toString()
        const whole = json(Wire.answer("chat.completions", bytes(chatJson(answer)), 0))
        assert.deepStrictEqual(assembled(out), whole)
        assert.match(out, /event: message_stop\ndata: \{"type":"message_stop"\}\n\n$/)
      }),
      { numRuns: 300 }
    )
  })

  it("W6: there and back a stream says the same, cut anywhere on both ways", () => {
    fc.assert(
      fc.property(chatAnswer, size, fc.boolean(), places, fc.boolean(), (answer, size, inTurn, places, usage) => {
        const there = through(
          Wire.stream("chat.completions", { usage: true, created: 0 }),
          cut(encoder.encode(chatStream(answer, size, inTurn)), places)
        )
        const back = through(Wire.stream("messages", { usage, created: 0 }), cut(there, places)).toString()
        const all = frames(back)
        const choices = all.flatMap((frame) => frame.choices)
        const calls: Array<{ id: string; name: string; args: string }> = []
        for (const call of choices.flatMap(({ delta }) => delta.tool_calls ?? [])) {
          const known = calls[call.index]
          const args = (known?.args ?? "") + call.function.arguments
          calls[call.index] = { id: call.id ?? known?.id ?? "", name: call.function.name ?? known?.name ?? "", args }
        }
        assert.strictEqual(choices.map(({ delta }) => delta.content ?? "").join(""), answer.text)
        assert.deepStrictEqual(calls, answer.calls)
        const finishes = choices.map((choice) => choice.finish_reason).filter((finish) => finish !== null)
        assert.deepStrictEqual(finishes, [answer.finish])
        const told = all.map((frame) => frame.usage ?? null).filter((one) => one !== null)
        assert.deepStrictEqual(told, usage ? [answer.usage] : [])
        assert.isTrue(back.endsWith("data: [DONE]\n\n"))
      }),
      { numRuns: 200 }
    )
  })

  it("a stream that was cut is given no end", () => {
    fc.assert(
      fc.property(chatAnswer, fc.double({ min: 0, max: 1, noNaN: true }), (answer, at) => {
        const all = chatStream(answer, 3, false)
        const upTo = all.slice(0, Math.floor(at * all.lastIndexOf('"finish_reason":"')))
        const out = through(Wire.stream("chat.completions", { usage: true, created: 0 }), [
          encoder.encode(upTo)
        ]).toString()
        assert.notInclude(out, "message_stop")
        assert.notInclude(out, "message_delta")
      })
    )
  })

  it("any bytes, cut anywhere: never a throw, always whole events of JSON", () => {
    const piece = fc.oneof(
      fc
        .constantFrom(
          'data: {"choices":[{"delta":{"content":"x"}}]}\n\n',
          'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{"}}]}}]}\n\n',
          'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"b","function":{"name":"g"}}, null, 5]}}]}\r\n\r\n',
          'data: {"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":-1}}\n\n',
          "data: [DONE]\n\n",
          'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"m"}}\n\n',
          'data: {"type":"message_start","message":{"id":"m","usage":{"input_tokens":5}}}\n\n',
          'event: content_block_start\ndata: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"n","input":{"a":1}}}\n\n',
          'data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{}"}}\n\n',
          'data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":null}\n\n',
          'data: {"type":"message_stop"}\n\n',
          "data: null\n\n",
          "\r",
          "\ufeff"
        )
        .map((text) => encoder.encode(text)),
      fc.uint8Array({ maxLength: 20 })
    )
    fc.assert(
      fc.property(
        fc.constantFrom<Wire.Dialect>("chat.completions", "messages"),
        fc.array(piece, { maxLength: 8 }),
        places,
        (from, pieces, places) => {
          const all = Buffer.concat(pieces)
          const out = through(Wire.stream(from, { usage: true, created: 0 }), cut(all, places)).toString()
          frames(out)
          assert.isTrue(out === "" || out.endsWith("\n\n"))
          const once = through(Wire.stream(from, { usage: true, created: 0 }), [all]).toString()
          assert.strictEqual(out, once)
        }
      ),
      { numRuns: 400 }
    )
  })

  it("reasoning is a sign of life to Messages and `reasoning_content` to Chat Completions", () => {
    const chunk = 'data: {"id":"c","model":"m","choices":[{"delta":{"reasoning_content":"hm"}}]}\n\n'
    const there = through(Wire.stream("chat.completions", { usage: true, created: 0 }), [
      encoder.encode(chunk)
    ]).toString()
    assert.match(there, /event: message_start[\s\S]*event: ping\n/)
    const event =
      'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}\n\n'
    const back = through(Wire.stream("messages", { usage: true, created: 0 }), [encoder.encode(event)]).toString()
    assert.include(back, '"delta":{"reasoning_content":"hm"}')
  })

  it("calls that are all numbered 0 are as many calls as they have ids", () => {
    const call = (id: string) =>
      `data: {"id":"c","choices":[{"delta":{"tool_calls":[{"index":0,"id":"${id}","function":{"name":"f","arguments":"{}"}}]}}]}\n\n`
    const stream = `${call("a")}${call("b")}data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n`
    const out = assembled(
      through(Wire.stream("chat.completions", { usage: true, created: 0 }), [encoder.encode(stream)]).toString()
    )
    assert.deepStrictEqual(
      out?.content.map((block) => block.id),
      ["a", "b"]
    )
    assert.strictEqual(out?.stop_reason, "tool_use")
  })
})
