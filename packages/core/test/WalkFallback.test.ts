import * as Fallback from "@switchgear/core/Fallback"
import * as fc from "fast-check"
import { assert, describe, it } from "vitest"
import * as arb from "./walkArbitrary.js"

const paths = (input: unknown): ReadonlyArray<string> => {
  const decoded = Fallback.decode(input)
  return decoded._tag === "Failure" ? decoded.faults.map((fault) => fault.path) : []
}

describe("Fallback", () => {
  it("F4: settings are plain data: printed as JSON and decoded they are themselves", () => {
    for (const preset of Object.values(Fallback.presets)) {
      assert.deepStrictEqual(Fallback.decode(JSON.parse(JSON.stringify(preset))), { _tag: "Success", value: preset })
    }
    fc.assert(
      fc.property(arb.settings, (settings) => {
        assert.deepStrictEqual(Fallback.decode(JSON.parse(JSON.stringify(settings))), {
          _tag: "Success",
          value: settings
        })
      })
    )
  })

  it("decoding is total, and what it accepts it accepts again", () => {
    fc.assert(
      fc.property(fc.anything(), (input) => {
        const decoded = Fallback.decode(input)
        if (decoded._tag === "Success") assert.deepStrictEqual(Fallback.decode(decoded.value), decoded)
        else for (const fault of decoded.faults) assert(fault.message.length > 0)
        Fallback.decodeChain(input)
      })
    )
  })

  it("all faults are named at once, each with its path", () => {
    const faults = paths({
      preset: "omni",
      on: ["server_eror", 503, "5xx", "6xx", "cancelled"],
      never: "4xx",
      maxDepth: Number.NaN,
      depthCounts: "hops",
      surface: "first",
      reorderByHealth: 1,
      preferHealthyState: "yes",
      lastResort: true,
      budget: 1.5,
      depth: 3
    })
    const expected = [
      "depth",
      "preset",
      "on.0",
      "on.3",
      "on.4",
      "never",
      "maxDepth",
      "depthCounts",
      "surface",
      "reorderByHealth",
      "preferHealthyState",
      "lastResort",
      "budget"
    ]
    assert.deepStrictEqual(faults, expected)
  })

  it("a bad depth never becomes a default", () => {
    for (const maxDepth of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "2", null]) {
      assert.deepStrictEqual(paths({ maxDepth }), ["maxDepth"])
    }
  })

  it("a trigger that is in never too is refused", () => {
    assert.deepStrictEqual(paths({ on: ["timeout"], never: ["timeout"] }), ["on"])
  })

  it("F2: a chain of nine is refused with the fix, one of eight is not", () => {
    const chain = Array.from({ length: 9 }, (_, index) => `model-${index}`)
    const nine = Fallback.decodeChain(chain)
    assert(nine._tag === "Failure")
    assert.match(nine.faults[0]?.message ?? "", /holds 9 entries: shorten it to the 8/)
    assert.deepStrictEqual(Fallback.decodeChain(chain.slice(1)), { _tag: "Success", value: chain.slice(1) })
  })

  it("F2: what is no name is refused by its place", () => {
    const decoded = Fallback.decodeChain(["a", 3, null])
    assert.deepStrictEqual(decoded._tag === "Failure" && decoded.faults.map((fault) => fault.path), ["1", "2"])
  })

  it("make throws one error that names every fault", () => {
    try {
      Fallback.make({ maxDepth: 0, budget: 2 })
      assert.fail("made")
    } catch (error) {
      assert(error instanceof Fallback.FallbackError)
      assert.deepStrictEqual(
        error.faults.map((fault) => fault.path),
        ["maxDepth", "budget"]
      )
      assert.match(error.message, /maxDepth: must be .*\nbudget: must be /)
    }
  })

  it("F4: status and class decide where the kind does not, and never is stronger", () => {
    const settings = Fallback.make({ on: ["5xx", "429", "timeout"], never: [501] })
    assert.isTrue(Fallback.movesOn(settings, { kind: "unknown", status: 599 }))
    assert.isTrue(Fallback.movesOn(settings, { kind: "rate_limit", status: 429 }))
    assert.isTrue(Fallback.movesOn(settings, { kind: "timeout" }))
    assert.isFalse(Fallback.movesOn(settings, { kind: "server_error", status: 501 }))
    assert.isFalse(Fallback.movesOn(settings, { kind: "server_error" }))
  })
})
