import * as Policy from "@switchgear/core/Policy"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/TestClock"
import * as TestContext from "effect/TestContext"
import { describe, expect, it } from "vitest"
import * as contestants from "../src/contestants.js"
import { fills } from "../src/entries.js"
import * as HandWritten from "../src/handwritten.js"
import { figure, measure } from "../src/measure.js"
import { render, renderAim } from "../src/report.js"

describe("the hand-written breaker is one", () => {
  it("opens, rejects, probes once and closes", async () => {
    const program = Effect.gen(function* () {
      const breaker = yield* HandWritten.make({ failureThreshold: 2, cooldown: 100 })
      const seen: Array<string> = []
      const call = (self: Effect.Effect<string, string>) =>
        breaker.guard(self).pipe(
          Effect.catchAll((error) =>
            Effect.succeed(typeof error === "string" ? error : `refused for ${error.retryAfter}`)
          ),
          Effect.map((result) => seen.push(result))
        )
      yield* call(Effect.fail("down"))
      yield* call(Effect.succeed("up"))
      yield* call(Effect.fail("down"))
      yield* call(Effect.fail("down"))
      yield* TestClock.adjust(40)
      yield* call(Effect.succeed("up"))
      yield* TestClock.adjust(60)
      yield* call(Effect.succeed("up"))
      yield* call(Effect.succeed("up"))
      return seen
    })
    expect(await Effect.runPromise(Effect.provide(program, TestContext.TestContext))).toEqual([
      "down",
      "up",
      "down",
      "down",
      "refused for 60",
      "up",
      "up"
    ])
  })
})

describe("contestants", () => {
  it("make so many calls, and no breaker opens under the policies measured", async () => {
    const policy = Policy.consecutive({ failureThreshold: 1_000_000_000 })
    let calls = 0
    const counted = contestants.promised(
      "counted",
      async (kind) => {
        calls++
        return contestants.work[kind]()
      },
      "failure"
    )
    await counted.run(7)
    expect(calls).toBe(7)
    const guard = contestants.guard(policy)
    await contestants.promised("Guard", guard, "failure").run(100)
    expect(await guard("success")).toBe(1)
  })
})

describe("measure", () => {
  it("gives each contestant a figure, in their order", async () => {
    const spin = (turns: number) => (calls: number) => {
      let sum = 0
      for (let each = 0; each < calls * turns; each++) sum = (sum + Math.imul(each, 31)) | 0
      if (sum === 0.5) throw new Error("never")
    }
    const figures = await measure(
      [
        { name: "one", run: spin(1) },
        { name: "hundred", run: spin(100) }
      ],
      { rounds: 5, length: 1 }
    )
    expect(figures.map(({ name }) => name)).toEqual(["one", "hundred"])
    expect(figures.every(({ nanos }) => Number.isFinite(nanos))).toBe(true)
    expect(() => figure(figures, "two")).toThrow()
  })

  it("every filling fills", () => {
    for (const [name, fill] of Object.entries(fills)) expect(fill(3), name).toBeTruthy()
  })
})

describe("report", () => {
  it("aligns names to the left and figures to the right", () => {
    const text = render({
      title: "T",
      columns: ["", "ns"],
      rows: [
        ["a", "1"],
        ["long", "1000"]
      ]
    })
    expect(text).toBe("T\n        ns\n----  ----\na        1\nlong  1000\n")
  })

  it("says of an aim whether it was met", () => {
    expect(renderAim({ what: "x", value: 0.25, atMost: 0.25, unit: "x" })).toMatch(/^met/)
    expect(renderAim({ what: "x", value: 0.26, atMost: 0.25, unit: "x" })).toMatch(/^MISSED/)
    expect(renderAim({ what: "x", value: Number.NaN, atMost: 0.25, unit: "x" })).toMatch(/^MISSED/)
  })
})
