import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import { compile } from "../src/internal/glob.js"

const name = fc.string({ unit: fc.constantFrom("a", "b", "-", "."), maxLength: 8 })
const pattern = fc.string({ unit: fc.constantFrom("a", "b", "-", ".", "*", "?"), maxLength: 8 })

/** The same by a regular expression, which is slow for hostile patterns and right. */
const naive = (pattern: string) =>
  new RegExp(`^${pattern.replace(/[.-]/g, "\\$&").replace(/\*+/g, ".*").replace(/\?/g, ".")}$`, "s")

describe("glob", () => {
  it("fits what a regular expression of the same meaning fits", () => {
    fc.assert(
      fc.property(pattern, name, (pattern, name) => {
        assert.strictEqual(compile(pattern)(name), naive(pattern).test(name))
      })
    )
  })

  it("a hostile pattern takes no time", () => {
    assert.isFalse(compile(`${"*a".repeat(50)}c`)("a".repeat(5_000)))
  })
})
