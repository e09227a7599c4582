import { createParser } from "eventsource-parser"
import * as fc from "fast-check"
import { assert, describe, it } from "vitest"
import { Blocks, firstEnd, lastEnd } from "../src/internal/blocks.js"

const newline = fc.constantFrom("\n", "\r", "\r\n")
const line = fc.oneof(
  fc.constantFrom("data: x", "data:", "event: ping", ": comment", "id: 1", "nonsense", "data: é✓", ""),
  fc.string({ maxLength: 6 }).map((text) => `data: ${text.replace(/[\r\n]/g, "")}`)
)
const text = fc
  .array(fc.tuple(line, newline), { maxLength: 12 })
  .map((lines) => lines.map(([content, end]) => content + end).join(""))

const split = (bytes: Buffer, cuts: ReadonlyArray<number>): ReadonlyArray<Buffer> => {
  const at = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b)
  return [...at, bytes.length].map((end, index) => bytes.subarray(at[index - 1] ?? 0, end))
}

const eventsOf = (chunks: ReadonlyArray<string>): ReadonlyArray<string> => {
  const events: Array<string> = []
  const parser = createParser({ onEvent: (event) => events.push(`${event.event ?? ""}|${event.data}`) })
  for (const chunk of chunks) parser.feed(chunk)
  return events
}

const pass = (bytes: Buffer, cuts: ReadonlyArray<number>) => {
  const blocks = new Blocks()
  const passed = split(bytes, cuts).flatMap((chunk) => blocks.push(Buffer.from(chunk)) ?? [])
  return { passed, tail: blocks.tail() }
}

describe("Blocks", () => {
  it("passes every byte once, in order, however the stream is split", () =>
    fc.assert(
      fc.property(text, fc.array(fc.nat()), (text, cuts) => {
        const bytes = Buffer.from(text)
        const { passed, tail } = pass(bytes, cuts)
        assert.deepStrictEqual(Buffer.concat([...passed, tail]), bytes)
      })
    ))

  it("passes whole blocks only, and keeps none back that is whole", () =>
    fc.assert(
      fc.property(text, fc.array(fc.nat()), (text, cuts) => {
        const { passed, tail } = pass(Buffer.from(text), cuts)
        for (const piece of passed) assert.strictEqual(lastEnd(piece), piece.length)
        // A CR that ends all may yet become a CR LF, so a block that ends in it may wait.
        if (!text.endsWith("\r")) assert.isBelow(lastEnd(tail), 1)
      })
    ))

  it("loses no event: a parser hears the same from the pieces as from the whole", () =>
    fc.assert(
      fc.property(text, fc.array(fc.nat()), (text, cuts) => {
        const whole = Buffer.from(`${text}\n\n`)
        const { passed } = pass(whole, cuts)
        const pieces = passed.map((piece) => (piece.at(-1) === 13 ? `${piece.toString()}\n` : piece.toString()))
        assert.deepStrictEqual(eventsOf(pieces), eventsOf([whole.toString()]))
      })
    ))

  it("finds the same last end from the front as from the back", () =>
    fc.assert(
      fc.property(text, (text) => {
        const bytes = Buffer.from(`data: a\n${text}`)
        let last = -1
        for (let end = firstEnd(bytes, 0); end >= 0; end = firstEnd(bytes, end)) last = end
        assert.strictEqual(lastEnd(bytes), last)
      })
    ))

  it("copies a block that drips in byte by byte no more than a few times over", () => {
    const blocks = new Blocks()
    const block = Buffer.from(`data: ${"x".repeat(200_000)}\n\n`)
    for (let at = 0; at < block.length - 1; at++) assert.isUndefined(blocks.push(block.subarray(at, at + 1)))
    assert.deepStrictEqual(blocks.push(block.subarray(-1)), block)
  })
})
