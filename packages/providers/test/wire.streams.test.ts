import * as Wire from "@switchgear/providers/Wire"
import * as fc from "fast-check"
import { assert, describe, it } from "vitest"
import { bytes, chatAnswer, chatJson, chatStream, cut, json, places } from "./wireArbitrary.js"

const encoder = new TextEncoder()

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
