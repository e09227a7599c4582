import * as Wire from "@switchgear/providers/Wire"
import * as fc from "fast-check"
import { assert, describe, it } from "vitest"
import { bytes, chatRequest, json } from "./wireArbitrary.js"

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
