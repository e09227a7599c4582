import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Figure from "../../src/Figure.js"
import { coverage, interval, mean } from "../../src/internal/report/amounts.js"
import { columns } from "../../src/internal/report/terminal.js"
import * as ReportTable from "../../src/ReportTable.js"
import { calm, reports } from "./reports.js"

const width = fc.integer({ min: 40, max: 240 })

/** Units of time are shorter in a table, and what does not fit on one line is on two. */
const squeezed = (text: string): string => text.replace(/min/g, "m").replace(/\s/g, "")

/** The figures alone, without the lines above and below them. */
const figuresOf = (text: string): string => {
  const lines = text.split("\n")
  const first = lines.findIndex((line) => line.startsWith(Figure.all[0]?.label ?? "?"))
  return lines.slice(first).join("\n")
}

describe("a table", () => {
  it("has the same bytes each time", () => {
    fc.assert(
      fc.property(reports, width, (given, width) => {
        expect(ReportTable.render(structuredClone(given), { width })).toBe(ReportTable.render(given, { width }))
      }),
      { numRuns: 30 }
    )
  })

  it("keeps to its width, and sends the terminal nothing but text, whatever the names hold", () => {
    fc.assert(
      fc.property(reports, width, (given, width) => {
        const text = ReportTable.render(given, { width })
        // biome-ignore lint/suspicious/noControlCharactersInRegex: none must be left
        expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/)
        for (const line of text.split("\n")) expect(columns(line)).toBeLessThanOrEqual(width)
      }),
      { numRuns: 100 }
    )
  })

  it("tells every figure of every report, in every width", () => {
    fc.assert(
      fc.property(reports, width, (given, width) => {
        const text = figuresOf(ReportTable.render(given, { width, timeline: false }))
        const inRows = squeezed(text)
        // Beside each other the two lines of a cell are apart: look for both ends.
        for (const figure of Figure.all) {
          expect(text).toContain(figure.label)
          for (const { figures, runs } of given) {
            const estimate = figures[figure.name]
            const ends = interval(figure, estimate)?.split(" to ") ?? []
            for (const part of [mean(figure, estimate), ...ends, coverage(estimate, runs) ?? ""]) {
              expect(inRows).toContain(squeezed(part))
            }
          }
        }
      }),
      { numRuns: 100 }
    )
  })

  it("tells nothing by colour alone", () => {
    fc.assert(
      fc.property(reports, width, (given, width) => {
        const coloured = ReportTable.render(given, { width, colours: true })
        // biome-ignore lint/suspicious/noControlCharactersInRegex: the escape character is what this is about
        const stripped = coloured.replace(/\u001b\[\d+m/g, "")
        const trimmed = (text: string): string => text.replace(/ +$/gm, "")
        expect(trimmed(stripped)).toBe(trimmed(ReportTable.render(given, { width })))
      }),
      { numRuns: 30 }
    )
  })

  it("shows what happened, as letters and heights", () => {
    const base = calm()
    const [openai] = base.timeline.providers
    if (openai === undefined) throw new Error("calm has a provider")
    const given = calm({
      timeline: {
        ...base.timeline,
        served: [10, 10, 0, 0, 10, 10],
        failed: [0, 0, 10, 0, 0, 0],
        rejected: [0, 0, 0, 10, 0, 0],
        providers: [
          {
            ...openai,
            phases: [
              { from: 0, to: 20_000, phase: "healthy", sick: false },
              { from: 20_000, to: 40_000, phase: "outage", sick: true },
              { from: 40_000, to: 60_000, phase: "healthy", sick: false }
            ],
            bands: [
              { breaker: "openai", replica: 0, from: 0, to: 25_000, state: "Closed", reason: null },
              { breaker: "openai", replica: 0, from: 25_000, to: 40_000, state: "Open", reason: null },
              { breaker: "openai", replica: 0, from: 40_000, to: 45_000, state: "HalfOpen", reason: null },
              { breaker: "openai", replica: 0, from: 45_000, to: 50_000, state: "Degraded", reason: null },
              { breaker: "openai", replica: 0, from: 50_000, to: 60_000, state: "Closed", reason: null }
            ],
            calls: [10, 10, 5, 0, 10, 10]
          }
        ]
      }
    })
    const text = ReportTable.render([given], { width: 74 })
    const timeline = text.slice(text.indexOf("\nhosted\n") + 1)
    const at = (parts: ReadonlyArray<readonly [text: string, times: number]>): string =>
      parts
        .map(([text, times]) => text.repeat(times))
        .join("")
        .trimEnd()
    expect(timeline.split("\n").map((line) => line.replace(/^.{14}/, ""))).toEqual(
      [
        "hosted",
        "              0:00           0:15           0:30           0:45",
        `calls ≤1/s    ${at([["█", 60]])}`,
        `  served      ${at([
          ["█", 20],
          [" ", 20],
          ["█", 20]
        ])}`,
        `  refused     ${at([
          [" ", 30],
          ["█", 10]
        ])}`,
        `  failed      ${at([
          [" ", 20],
          ["█", 10]
        ])}`,
        "openai  outage 0:20 to 0:40",
        `  condition   ${at([
          ["─", 20],
          ["│outage", 1],
          ["▒", 13],
          ["─", 20]
        ])}`,
        `  breaker     ${at([
          ["·", 25],
          ["O", 15],
          ["H", 5],
          ["D", 5],
          ["·", 10]
        ])}`,
        `  ≤1/s        ${at([
          ["█", 20],
          ["▄", 10],
          [" ", 10],
          ["█", 20]
        ])}`,
        "",
        "· closed  D degraded  O open  H half-open  ▒ sick",
        ""
      ].map((line) => line.replace(/^.{14}/, ""))
    )
  })
})
