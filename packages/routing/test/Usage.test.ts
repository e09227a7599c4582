import { assert, describe, it } from "@effect/vitest"
import * as Usage from "@switchgear/routing/Usage"
import * as fc from "fast-check"
import { ofJson, StreamUsage } from "../src/internal/usageOf.js"

const bytes = (text: string) => new TextEncoder().encode(text)

const openai = [
  `data: {"id":"1","choices":[{"delta":{"role":"assistant"}}],"usage":null}`,
  `data: {"id":"1","choices":[{"delta":{"content":"say \\"usage\\": {\\"prompt_tokens\\": 9000}"}}],"usage":null}`,
  `data: {"id":"1","choices":[],"usage":{"prompt_tokens":12,"completion_tokens":34,"total_tokens":46}}`,
  `data: [DONE]`,
  ``
].join("\n\n")

const anthropic = [
  `event: message_start\ndata: {"type":"message_start","message":{"id":"m","usage":{"input_tokens":12,"cache_read_input_tokens":100,"output_tokens":1}}}`,
  `event: content_block_delta\ndata: {"type":"content_block_delta","delta":{"type":"text_delta","text":"hi"}}`,
  `event: message_delta\ndata: {"type":"message_delta","delta":{},"usage":{"output_tokens":34}}`,
  `event: message_stop\ndata: {"type":"message_stop"}`,
  ``
].join("\n\n")

const responses = [
  `event: response.output_text.delta\ndata: {"type":"response.output_text.delta","delta":"hi"}`,
  `event: response.completed\ndata: {"type":"response.completed","response":{"usage":{"input_tokens":12,"output_tokens":34}}}`,
  ``
].join("\n\n")

describe("Usage (S3)", () => {
  it("streams: the last usage frame counts, however the bytes are cut", () => {
    const streams = [
      { text: openai, input: 12 },
      { text: anthropic, input: 112 },
      { text: responses, input: 12 }
    ]
    fc.assert(
      fc.property(fc.constantFrom(...streams), fc.array(fc.nat(400), { maxLength: 12 }), ({ input, text }, cuts) => {
        const all = bytes(text)
        const reader = new StreamUsage()
        const places = [0, ...cuts.map((cut) => cut % all.length).sort((a, b) => a - b), all.length]
        for (const [index, end] of places.entries()) {
          if (index > 0) reader.chunk(all.subarray(places[index - 1], end))
        }
        const said = reader.said()
        assert.deepStrictEqual([said.input, said.output], [input, 34])
      })
    )
  })

  it("streams without usage are counted by their frames", () => {
    const reader = new StreamUsage()
    reader.chunk(bytes(`data: {"a":1}\n\ndata: {"a":2}\n\n`))
    reader.chunk(bytes(`data: {"a":3}\n\n`))
    assert.deepStrictEqual(reader.said(), { input: undefined, output: undefined, frames: 3 })
  })

  it("any bytes are read to an end without throwing, and little of them is kept", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 60 }), { maxLength: 20 }), (chunks) => {
        const reader = new StreamUsage()
        for (const chunk of chunks) reader.chunk(chunk)
        const { frames } = reader.said()
        assert.isAtLeast(frames, 0)
        for (const chunk of chunks) ofJson(chunk)
      })
    )
  })

  it("JSON of every dialect, small and large", () => {
    for (const pad of ["", "x".repeat(20_000)]) {
      const of = (usage: unknown) => ofJson(bytes(JSON.stringify({ pad, choices: [{ usage: 1 }], usage })))
      assert.deepStrictEqual(of({ prompt_tokens: 3, completion_tokens: 4 }), { input: 3, output: 4 })
      assert.deepStrictEqual(of({ prompt_tokens: 3, total_tokens: 3 }), { input: 3, output: 0 })
      assert.deepStrictEqual(of({ input_tokens: 3, cache_creation_input_tokens: 5, output_tokens: 4 }), {
        input: 8,
        output: 4
      })
      for (const nothing of [null, "3", {}, { prompt_tokens: -1 }]) assert.strictEqual(of(nothing), undefined)
    }
  })

  it("a dated name has the price of the longest name it begins with; others have none", () => {
    const one = { input: 1_000_000, output: 0 }
    assert.strictEqual(Usage.costOf(Usage.prices, "gpt-4o-mini-2024-07-18", one), 0.15)
    assert.strictEqual(Usage.costOf(Usage.prices, "gpt-4o-2024-08-06", one), 2.5)
    assert.strictEqual(Usage.costOf(Usage.prices, "gpt-4ominous", one), undefined)
    assert.strictEqual(Usage.costOf(Usage.prices, "constructor", one), undefined)
  })
})
