import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { jsonPlace } from "../src/JsonPlace.js"

const at = (text: string) => {
  const { line, column } = jsonPlace(text)
  return [line, column]
}

describe("where a text stops being JSON (ROUTING W5)", () => {
  it.each([
    ["", 1, 1],
    ["{", 1, 2],
    ['{"a": 1,}', 1, 9],
    ['{"a" 1}', 1, 6],
    ['{\n  "a": tru\n}', 2, 8],
    ['{"a": "unfinished', 1, 18],
    ['{"a": "bad \\x escape"}', 1, 13],
    ['{"a": "\\u12g4"}', 1, 10],
    ['{"a": "line\nbreak"}', 1, 12],
    ["[1, 2,, 3]", 1, 7],
    ['{"a": [1, {"b": 2}}', 1, 19],
    ["[01]", 1, 3],
    ["{} {}", 1, 4],
    ["<html>", 1, 1]
  ])("%j stops at line %i, column %i", (text, line, column) => {
    expect(at(text)).toEqual([line, column])
  })

  it("a text that JSON.parse refuses has a place inside it, and a valid one is read to its end", () => {
    fc.assert(
      fc.property(
        fc.json({ maxDepth: 3 }),
        fc.nat(),
        fc.constantFrom("", "}", '"', ",", "\\", "x", "[", "\n"),
        (json, seed, cut) => {
          const where = seed % (json.length + 1)
          const text = json.slice(0, where) + cut + json.slice(where + (seed % 3))
          const { line, column, found } = jsonPlace(text)
          const lines = text.split("\n")
          const offset = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0) + column - 1
          let valid = true
          try {
            JSON.parse(text)
          } catch {
            valid = false
          }
          if (valid) expect([offset, found]).toEqual([text.length, "the end of the text"])
          else expect(offset).toBeLessThanOrEqual(text.length)
          // What stands before the place is not what is wrong: some ending makes it JSON, so another first place cannot come earlier.
          if (!valid) expect(jsonPlace(text.slice(0, offset))).toMatchObject({ line, column })
        }
      )
    )
  })

  it("reads ten megabytes of nesting and of text without running out of stack", () => {
    expect(at("[".repeat(1_000_000))).toEqual([1, 1_000_001])
    expect(at(`"${"a".repeat(10_000_000)}`)).toEqual([1, 10_000_002])
  })
})
