import * as Classifier from "@switchgear/failures/Classifier"
import * as StreamClassifier from "@switchgear/failures/StreamClassifier"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { isOrdinaryDelta } from "../src/internal/fastPath.js"

interface Event {
  readonly event?: string
  readonly data: string
}

const text = fc.oneof(
  fc.string(),
  fc.fullUnicodeString(),
  fc.constantFrom(
    "",
    '"error"',
    '{"error":{}}',
    '"finish_reason":"stop"',
    "\u0065rror",
    "Exception",
    "[DONE]",
    'a","error":{"x":1},"b":"',
    "\n",
    "\\",
    "é"
  )
)
const maybe = <A>(arbitrary: fc.Arbitrary<A>) => fc.option(arbitrary, { nil: undefined })
const finish = fc.constantFrom(null, null, null, "stop", "length", "content_filter", "error", "")
const chatDelta = fc.record(
  {
    role: fc.constant("assistant"),
    content: fc.oneof(text, fc.constant(null)),
    reasoning_content: fc.oneof(text, fc.constant(null)),
    reasoning: text,
    refusal: fc.oneof(text, fc.constant(null)),
    tool_calls: fc.array(
      fc.record({ index: fc.nat(3), id: maybe(text), function: fc.record({ name: maybe(text), arguments: text }) }),
      { maxLength: 2 }
    )
  },
  { requiredKeys: [] }
)
const choice = fc.record(
  {
    index: fc.nat(2),
    delta: chatDelta,
    finish_reason: finish,
    error: fc.constantFrom(null, { code: 502, message: "x" })
  },
  { requiredKeys: ["index", "delta"] }
)
const chat = fc.record(
  {
    id: fc.constant("chatcmpl-1"),
    object: fc.constantFrom("chat.completion.chunk", "error"),
    model: text,
    usage: fc.constantFrom(null, { total_tokens: 3 }),
    choices: fc.oneof({ weight: 6, arbitrary: fc.tuple(choice) }, fc.array(choice, { maxLength: 3 })),
    error: fc.constantFrom(null, { message: "The server had an error", type: "server_error" }, "gone"),
    promptFeedback: fc.constant({ blockReason: "SAFETY" }),
    fooException: fc.constant({ message: "x" })
  },
  { requiredKeys: ["choices"] }
)
const anthropic = fc.oneof(
  fc.record({
    type: fc.constant("content_block_delta"),
    index: fc.nat(3),
    delta: fc.oneof(
      fc.record({ type: fc.constant("text_delta"), text }),
      fc.record({ type: fc.constant("thinking_delta"), thinking: text }),
      fc.record({ type: fc.constant("input_json_delta"), partial_json: text }),
      fc.record({ type: fc.constant("signature_delta"), signature: text })
    ),
    error: maybe(fc.constant({ type: "api_error" }))
  }),
  fc.constantFrom<object>(
    { type: "ping" },
    { type: "message_stop" },
    { type: "message_delta", delta: { stop_reason: "end_turn" } },
    { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }
  ),
  fc.record({
    type: fc.constant("content_block_start"),
    index: fc.nat(3),
    content_block: fc.constantFrom<object>(
      { type: "text", text: "" },
      { type: "tool_use", id: "t", name: "f", input: {} },
      { type: "thinking", thinking: "" }
    )
  })
)
const responses = fc.oneof(
  fc.record({
    type: fc.constantFrom(
      "response.output_text.delta",
      "response.function_call_arguments.delta",
      "response.reasoning_summary_text.delta"
    ),
    sequence_number: fc.nat(),
    item_id: fc.constant("i"),
    output_index: fc.nat(3),
    delta: text
  }),
  fc.constantFrom<object>(
    { type: "response.created", response: { id: "r", error: null } },
    { type: "response.completed", response: { id: "r", error: null, output: [] } },
    { type: "response.failed", response: { id: "r", status: "failed", error: { code: "server_error", message: "x" } } },
    { type: "error", code: "rate_limit_exceeded", message: "x" }
  )
)
const gemini = fc.record(
  {
    candidates: fc.array(
      fc.record(
        {
          content: fc.record({
            parts: fc.array(fc.record({ text, thought: fc.boolean() }, { requiredKeys: [] }), { maxLength: 2 }),
            role: fc.constant("model")
          }),
          finishReason: fc.constantFrom("STOP", "SAFETY", "")
        },
        { requiredKeys: ["content"] }
      ),
      { maxLength: 2 }
    ),
    usageMetadata: fc.constant({ totalTokenCount: 3 }),
    error: fc.constant({ code: 503, status: "UNAVAILABLE", message: "x" }),
    promptFeedback: fc.constant({ blockReason: "SAFETY" })
  },
  { requiredKeys: [] }
)
/** Compact, with a space after each sign as Python writes, or with everything outside ASCII escaped. */
const written = fc
  .tuple(fc.oneof(chat, anthropic, responses, gemini), fc.constantFrom(0, 1, 2))
  .map(([value, style]) => {
    const compact = JSON.stringify(value)
    if (style === 1) return JSON.stringify(value, undefined, 1).replace(/\n */g, "")
    return style === 2
      ? compact.replace(/[^ -~]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`)
      : compact
  })
const event: fc.Arbitrary<Event> = fc.record(
  {
    event: fc.constantFrom("message", "content_block_delta", "response.output_text.delta", "error"),
    data: fc.oneof({ weight: 8, arbitrary: written }, { weight: 1, arbitrary: fc.constant("[DONE]") })
  },
  { requiredKeys: ["data"] }
)
const garbled: fc.Arbitrary<Event> = fc.tuple(event, fc.nat(), fc.string({ maxLength: 6 })).map(([one, at, noise]) => {
  const cut = at % (one.data.length + 1)
  return { ...one, data: one.data.slice(0, cut) + noise + one.data.slice(cut) }
})

const told = (step: StreamClassifier.Step) => ({
  output: step.output,
  terminal: step.terminal,
  last: step.last,
  failure: step.failure
})

const alreadyAnswering = StreamClassifier.step(
  StreamClassifier.initial("openai"),
  undefined,
  `{"choices":[{"index":0,"delta":{"content":"Hi"}}]}`,
  0
).state

describe("the shortcut for ordinary deltas", () => {
  it("says of every event what the full reading says", () => {
    fc.assert(
      fc.property(event, ({ event, data }) => {
        expect(told(StreamClassifier.step(alreadyAnswering, event, data, 0))).toEqual(
          told(StreamClassifier.stepParsed(alreadyAnswering, event, data, 0))
        )
      }),
      { numRuns: 4_000 }
    )
  })

  it("never misses an error or an end, in garbled events either", () => {
    fc.assert(
      fc.property(garbled, ({ event, data }) => {
        const short = StreamClassifier.step(alreadyAnswering, event, data, 0)
        const full = StreamClassifier.stepParsed(alreadyAnswering, event, data, 0)
        expect({ terminal: short.terminal, failure: short.failure }).toEqual({
          terminal: full.terminal,
          failure: full.failure
        })
      }),
      { numRuns: 4_000 }
    )
  })

  it.each([
    `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"gpt-4o","system_fingerprint":null,"choices":[{"index":0,"delta":{"content":" there"},"logprobs":null,"finish_reason":null}]}`,
    `{"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [{"index": 0, "delta": {"content": "x"}, "finish_reason": null}]}`,
    `{"id":"gen-1","provider":"X","model":"y/z","object":"chat.completion.chunk","created":1,"choices":[{"index":0,"delta":{"role":"assistant","content":"","reasoning":"Hm"},"finish_reason":null,"native_finish_reason":null,"logprobs":null}]}`,
    `{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\\"a"}}]},"finish_reason":null}]}`,
    `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}             }`,
    `{"type":"response.output_text.delta","sequence_number":4,"item_id":"msg_1","output_index":0,"content_index":0,"delta":"Hi","logprobs":[],"obfuscation":"x"}`,
    `{"candidates": [{"content": {"parts": [{"text": "Hi"}],"role": "model"},"index": 0}],"usageMetadata": {"promptTokenCount": 3},"modelVersion": "gemini-2.5-pro"}`
  ])("takes what vendors really send: %s", (data) => {
    expect(isOrdinaryDelta(undefined, data)).toBe(true)
    expect(StreamClassifier.stepParsed(alreadyAnswering, undefined, data, 0).output).toBe(true)
  })
})

describe("a stream", () => {
  const sse = (events: ReadonlyArray<Event>, line: string): string =>
    events
      .map(
        ({ event, data }) =>
          `${event === undefined ? "" : `event: ${event}${line}`}${data
            .split(/\r\n|\n|\r/)
            .map((part) => `data: ${part}`)
            .join(line)}${line}${line}`
      )
      .join("")

  it("means the same event by event and as a whole body, with any line ends", () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 8 }), fc.constantFrom("\n", "\r\n", "\r"), (events, line) => {
        let state = StreamClassifier.initial("openai")
        let last = false
        for (const { event, data } of events) {
          if (last || state.failure !== undefined) break
          const step = StreamClassifier.step(state, event, data, 0)
          state = step.state
          last = step.last
        }
        const end = StreamClassifier.end(state)
        const whole = Classifier.classify({
          provider: "openai",
          status: 200,
          headers: { "content-type": "text/event-stream" },
          asked: "stream",
          body: sse(events, line),
          now: 0
        })
        expect(whole).toEqual(end._tag === "Complete" ? { _tag: "Success" } : { ...end, beforeOutput: !state.output })
      }),
      { numRuns: 2000 }
    )
  })

  it("is judged by its events alone: comments, pings and empty lines between them change nothing", () => {
    fc.assert(
      fc.property(
        fc.array(event, { minLength: 1, maxLength: 6 }),
        fc.array(fc.constantFrom(": keep-alive\n\n", "\n", 'event: ping\ndata: {"type":"ping"}\n\n', "id: 3\n\n"), {
          maxLength: 6
        }),
        (events, noise) => {
          const whole = (body: string) =>
            Classifier.classify({
              provider: "anthropic",
              status: 200,
              headers: { "content-type": "text/event-stream" },
              asked: "stream",
              body,
              now: 0
            })
          expect(whole(events.map((one, index) => (noise[index] ?? "") + sse([one], "\n")).join(""))).toEqual(
            whole(sse(events, "\n"))
          )
        }
      ),
      { numRuns: 1000 }
    )
  })

  it("that was cut before its end is never complete: every prefix of a stream without a terminal event is a network error", () => {
    const frames = ["Hel", "lo"].map((content) =>
      JSON.stringify({ choices: [{ index: 0, delta: { content }, finish_reason: null }] })
    )
    for (let count = 0; count <= frames.length; count++) {
      let state = StreamClassifier.initial("mistral")
      for (const data of frames.slice(0, count)) state = StreamClassifier.step(state, undefined, data, 0).state
      expect(StreamClassifier.end(state)).toMatchObject({
        _tag: "Failure",
        failure: { kind: "network_error", scope: "host" }
      })
    }
  })

  it("does not change what it was: a step leaves its state alone", () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 5 }), (events) => {
        const start = StreamClassifier.initial("openai")
        const run = () =>
          events.reduce<StreamClassifier.State>(
            (state, one) => StreamClassifier.step(state, one.event, one.data, 0).state,
            start
          )
        const [first, second] = [run(), run()]
        expect(StreamClassifier.end(first)).toEqual(StreamClassifier.end(second))
        expect([first.output, first.complete]).toEqual([second.output, second.complete])
        expect([start.output, start.complete, start.failure]).toEqual([false, false, undefined])
      }),
      { numRuns: 500 }
    )
  })

  it("keeps the failure it had: nothing after an error revives it", () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 4 }), (events) => {
        let state = StreamClassifier.step(alreadyAnswering, "error", "{}", 0).state
        const failure = state.failure
        for (const one of events) state = StreamClassifier.step(state, one.event, one.data, 0).state
        expect(state.failure).toBe(failure)
        expect(StreamClassifier.end(state)).toEqual({ _tag: "Failure", failure })
      }),
      { numRuns: 300 }
    )
  })
})

describe("meaningful output (DESIGN 4)", () => {
  const output = (data: object | string, event?: string) =>
    StreamClassifier.step(
      StreamClassifier.initial("openai"),
      event,
      typeof data === "string" ? data : JSON.stringify(data),
      0
    ).output
  const chatFrame = (delta: object) => ({ choices: [{ index: 0, delta, finish_reason: null }] })
  it.each<readonly [string, object, boolean]>([
    ["text", chatFrame({ content: "a" }), true],
    ["white space", chatFrame({ content: " " }), true],
    ["reasoning", chatFrame({ reasoning_content: "a" }), true],
    ["OpenRouter's reasoning", chatFrame({ reasoning: "a", content: "" }), true],
    ["a refusal", chatFrame({ refusal: "no" }), true],
    [
      "a tool call's name",
      chatFrame({ tool_calls: [{ index: 0, id: "c", function: { name: "f", arguments: "" } }] }),
      true
    ],
    ["audio", chatFrame({ audio: { data: "AA" } }), true],
    [
      "Mistral's list of parts",
      chatFrame({ content: [{ type: "thinking", thinking: [{ type: "text", text: "a" }] }] }),
      true
    ],
    ["a role alone", chatFrame({ role: "assistant" }), false],
    ["a role with empty text", chatFrame({ role: "assistant", content: "" }), false],
    ["an empty delta", chatFrame({}), false],
    ["a null content", chatFrame({ content: null }), false],
    ["an empty piece of a tool call", chatFrame({ tool_calls: [{ index: 0, function: { arguments: "" } }] }), false],
    ["an audio's id alone", chatFrame({ audio: { id: "a" } }), false],
    ["usage", { choices: [], usage: { total_tokens: 3 } }, false],
    ["a filter preamble", { choices: [], prompt_filter_results: [{}] }, false],
    ["a ping", { type: "ping" }, false],
    ["message_start", { type: "message_start", message: { content: [] } }, false],
    ["an empty text block", { type: "content_block_start", content_block: { type: "text", text: "" } }, false],
    ["a tool block", { type: "content_block_start", content_block: { type: "tool_use", id: "t", name: "f" } }, true],
    ["a signature", { type: "content_block_delta", delta: { type: "signature_delta", signature: "x" } }, false],
    ["response.created", { type: "response.created", response: { error: null } }, false],
    ["an item that begins", { type: "response.output_item.added", item: { type: "message", content: [] } }, false],
    [
      "a function call that begins",
      { type: "response.output_item.added", item: { type: "function_call", name: "f" } },
      true
    ],
    ["Responses text", { type: "response.output_text.delta", delta: "a" }, true],
    ["empty Responses text", { type: "response.output_text.delta", delta: "" }, false],
    ["Gemini text", { candidates: [{ content: { parts: [{ text: "a" }] } }] }, true],
    ["a Gemini function call", { candidates: [{ content: { parts: [{ functionCall: { name: "f" } }] } }] }, true],
    ["Gemini usage", { candidates: [{ content: { parts: [] } }], usageMetadata: {} }, false]
  ])("%s: %#", (_, data, expected) => {
    expect(output(data)).toBe(expected)
  })
  it("an event takes its type from its name if its data has none", () => {
    expect(output({ delta: { type: "text_delta", text: "a" } }, "content_block_delta")).toBe(true)
  })
})
