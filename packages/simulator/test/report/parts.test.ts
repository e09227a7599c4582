import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Figure from "../../src/Figure.js"
import { amount, clock, duration } from "../../src/internal/report/amounts.js"
import { ratesOf, severity, statesOf } from "../../src/internal/report/cells.js"
import { type Colour, dark, light } from "../../src/internal/report/style.js"
import { columns, cut, padded, wrapped } from "../../src/internal/report/terminal.js"
import { roundUp, timeTicks } from "../../src/internal/report/ticks.js"
import { ranking, standing, verdict } from "../../src/internal/report/verdict.js"
import { shown } from "../../src/internal/report/words.js"
import type { Band, Estimate, RunReport } from "../../src/RunReport.js"
import { calm, hostile } from "./reports.js"

describe("an amount", () => {
  it.each([
    ["share", 1, "100 %"],
    ["share", 0.99996, "99.996 %"],
    ["share", 0.9121, "91.21 %"],
    ["share", 0, "0 %"],
    ["calls", 12_526, "12,526"],
    ["calls", 76.2, "76.2"],
    ["calls", 1234.4, "1,234"],
    ["calls", -1.5, "-1.5"],
    ["calls", 0.001, "0.001"],
    ["trips", 2, "2"],
    ["ms", 0, "0 ms"],
    ["ms", 0.25, "0.3 ms"],
    ["ms", 217, "217 ms"],
    ["ms", 999.6, "1 s"],
    ["ms", 4634.4, "4.6 s"],
    ["ms", 59_990, "1 min"],
    ["ms", 71_359, "1 min 11 s"],
    ["ms", 7_260_000, "2 h 1 min"],
    ["ms", -3_081, "-3.1 s"],
    ["usd", 28.954, "$28.95"],
    ["usd", 0.00042, "$0.00042"],
    ["usd", -12, "-$12.00"],
    ["perSecond", 268.2, "268 /s"]
  ] as const)("of unit %s: %d is %s", (unit, value, text) => {
    expect(amount(unit, value)).toBe(text)
  })

  it("a time of the run is as a clock shows it", () => {
    expect([clock(187_000, 900_000), clock(187_040, 900_000, 1), clock(3_787_000, 7_200_000)]).toEqual([
      "3:07",
      "3:07.0",
      "1:03:07"
    ])
    expect(clock(59_990, 900_000, 1)).toBe("1:00.0")
  })

  it("a longer duration is never said to be shorter", () => {
    const unit = { ms: 1, s: 1_000, min: 60_000, h: 3_600_000, d: 86_400_000 }
    const back = (text: string): number =>
      [...text.matchAll(/([\d.,]+) (ms|s|min|h|d)/g)].reduce(
        (sum, [, value = "", of]) => sum + Number(value.replace(/,/g, "")) * unit[of as keyof typeof unit],
        0
      )
    const ms = fc.double({ min: 0, max: 1e9, noNaN: true })
    fc.assert(
      fc.property(ms, ms, (a, b) => {
        expect(back(duration(Math.min(a, b)))).toBeLessThanOrEqual(back(duration(Math.max(a, b))))
      })
    )
  })
})

describe("parts of a run", () => {
  const bins = fc.array(fc.nat({ max: 1_000 }), { minLength: 1, maxLength: 50 })

  it("have as many calls between them as the bins", () => {
    fc.assert(
      fc.property(bins, fc.integer({ min: 1, max: 200 }), fc.integer({ min: 1, max: 100 }), (calls, cells, last) => {
        const durationMs = (calls.length - 1) * 100 + last
        const rates = ratesOf(calls, 100, cells, durationMs)
        const total = rates.reduce((sum, rate) => sum + (rate * durationMs) / cells / 1000, 0)
        expect(total).toBeCloseTo(
          calls.reduce((sum, value) => sum + value, 0),
          4
        )
      })
    )
  })

  it("show the worst state in them, so that none is overlooked", () => {
    const cuts = fc.uniqueArray(fc.integer({ min: 1, max: 999 }), { maxLength: 30 })
    const states = fc.array(fc.constantFrom<Array<Band["state"]>>("Closed", "Degraded", "HalfOpen", "Open"), {
      minLength: 31,
      maxLength: 31
    })
    fc.assert(
      fc.property(cuts, states, fc.integer({ min: 1, max: 300 }), (cuts, states, cells) => {
        const ends = [0, ...cuts.sort((a, b) => a - b), 1000]
        const bands = ends.slice(1).map((to, index): Band => {
          const state = states[index] ?? "Closed"
          return { breaker: "a", replica: 0, from: ends[index] ?? 0, to, state, reason: null }
        })
        const shown = statesOf(bands, cells, 1000)
        for (const [cell, state] of shown.entries()) {
          const touching = bands.filter(
            ({ from, to }) => from < ((cell + 1) * 1000) / cells - 1e-6 && to > (cell * 1000) / cells + 1e-6
          )
          const worst = Math.max(...touching.map((band) => severity[band.state]))
          expect(severity[state]).toBeGreaterThanOrEqual(worst)
        }
        for (const { state } of bands)
          expect(Math.max(...shown.map((one) => severity[one]))).toBeGreaterThanOrEqual(severity[state])
      })
    )
  })
})

describe("an axis", () => {
  it("has few ticks, from the beginning on, all within the run", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1e9 }), fc.integer({ min: 1, max: 20 }), (durationMs, most) => {
        const ticks = timeTicks(durationMs, most)
        expect(ticks[0]).toBe(0)
        expect(ticks.length).toBeLessThanOrEqual(most + 1)
        expect(ticks.at(-1)).toBeLessThanOrEqual(durationMs)
      })
    )
  })

  it("ends at a round number that is not below the greatest value, nor far above it", () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-3, max: 1e9, noNaN: true }), (value) => {
        expect(roundUp(value)).toBeGreaterThanOrEqual(value * (1 - 1e-9))
        expect(roundUp(value)).toBeLessThan(value * 2.51)
      })
    )
    expect([roundUp(0), roundUp(0.3), roundUp(31), roundUp(100)]).toEqual([1, 0.5, 50, 100])
  })
})

describe("a verdict", () => {
  const estimate = (mean: number, half: number): Estimate => ({ mean, low: mean - half, high: mean + half, runs: 5 })
  const of = (policy: string, availability: Estimate, wasted = estimate(5, 0)): RunReport => {
    const base = calm()
    return calm({ policy, runs: 5, figures: { ...base.figures, availability, wasted } })
  }
  const [availability] = Figure.all

  it("tells who leads, who is level and who is behind", () => {
    const given = [of("a", estimate(0.9, 0.01)), of("b", estimate(0.99, 0.01)), of("c", estimate(0.985, 0.01))]
    if (availability === undefined) throw new Error("there is an availability")
    expect(ranking(availability, given)).toEqual({ leader: 1, level: [2], behind: [0] })
    expect(given.map((_, index) => standing(availability, given, index))).toEqual([undefined, "highest", "level"])
    expect(verdict(given)[0]).toBe(
      "b answered most calls: 99.00 %; c (98.50 %) is level with it; a (90.00 %) is behind."
    )
  })

  it("sees no difference where all intervals meet", () => {
    const given = [of("a", estimate(0.9, 0.1)), of("none", estimate(0.95, 0.1))]
    expect(verdict(given)[0]).toBe("No clear difference in the calls answered: a (90.00 %) and no breaker (95.00 %).")
    expect(verdict(given)[2]).toBe("No difference in wasted calls: 5 under each.")
  })

  it("warns of a single run, and of a single report says only what it is", () => {
    const single = calm({ figures: { ...calm().figures, availability: { mean: 0.5, low: 0.5, high: 0.5, runs: 1 } } })
    expect(verdict([single, calm()]).at(-1)).toMatch(/single run/)
    expect(verdict([single])).toEqual(["50.00 % of the calls were answered in the end."])
  })

  it("puts nobody before a leader who is behind nobody", () => {
    const mean = fc.double({ min: 0, max: 1, noNaN: true })
    const some = fc.array(fc.tuple(mean, mean), { minLength: 2, maxLength: 5 })
    fc.assert(
      fc.property(some, (pairs) => {
        if (availability === undefined) return
        const given = pairs.map(([mean, half], index) => of(String(index), estimate(mean, half)))
        const ranks = ranking(availability, given)
        const all = [ranks?.leader ?? -1, ...(ranks?.level ?? []), ...(ranks?.behind ?? [])]
        expect(all.sort((a, b) => a - b)).toEqual([...given.keys()])
        const leader = given[ranks?.leader ?? -1]?.figures.availability
        for (const index of ranks?.behind ?? []) {
          expect(given[index]?.figures.availability?.high).toBeLessThan(leader?.low ?? Number.NaN)
        }
      })
    )
  })
})

describe("a name", () => {
  it.each([
    ["plain", "plain"],
    ["日本 👩‍👩‍👧", "日本 👩‍👩‍👧"],
    ["a\r\n\tb", "a b"],
    ["\u001b[31m", "\ufffd[31m"],
    ["\u0000\u009b\u202e\u2028", "\ufffd".repeat(4)],
    ["half \ud83d", "half \ufffd"]
  ])("%j is shown as %j", (name, expected) => {
    expect(shown(name)).toBe(expected)
  })
})

describe("a terminal", () => {
  const text = fc.oneof(fc.constantFrom(...hostile), fc.string({ unit: "grapheme" }))

  it("gets what fits", () => {
    fc.assert(
      fc.property(text, fc.integer({ min: 2, max: 60 }), (text, width) => {
        expect(columns(cut(text, width))).toBeLessThanOrEqual(width)
        expect(columns(padded(text, width))).toBe(width)
        for (const line of wrapped(text, width)) expect(columns(line)).toBeLessThanOrEqual(width)
      })
    )
  })

  it("counts the columns of wide and of combining characters", () => {
    expect(["abc", "日本", "e\u0301", "👍"].map(columns)).toEqual([3, 4, 1, 2])
  })
})

describe.each([
  ["light", light],
  ["dark", dark]
])("the %s colours", (_, colours: Readonly<Record<Colour, string>>) => {
  /** WCAG 2: relative luminance. */
  const luminance = (hex: string): number => {
    const [r = 0, g = 0, b = 0] = [1, 3, 5].map((from) => {
      const channel = Number.parseInt(hex.slice(from, from + 2), 16) / 255
      return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const contrast = (a: Colour, b: Colour): number => {
    const [high, low] = [luminance(colours[a]), luminance(colours[b])].sort((x, y) => y - x)
    return ((high ?? 0) + 0.05) / ((low ?? 0) + 0.05)
  }

  it.each([
    ["ink", "bg"],
    ["ink", "panel"],
    ["ink", "shade"],
    ["muted", "bg"],
    ["muted", "panel"],
    ["muted", "shade"],
    ["best", "bg"],
    ["on-Open", "Open"]
  ] as const)("%s can be read on %s", (text, ground) => {
    expect(contrast(text, ground)).toBeGreaterThanOrEqual(4.5)
  })

  it.each([
    "served",
    "rescued",
    "aborted",
    "rejected",
    "failed",
    "Closed",
    "Degraded",
    "HalfOpen",
    "Open",
    "calls"
  ] as const)("%s can be seen on the page and where it is shaded", (graphic) => {
    expect(contrast(graphic, "bg")).toBeGreaterThanOrEqual(3)
    expect(contrast(graphic, "shade")).toBeGreaterThanOrEqual(2.7)
  })
})
