import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Figure from "../../src/Figure.js"
import { coverage, interval, mean } from "../../src/internal/report/amounts.js"
import * as ReportPage from "../../src/ReportPage.js"
import type { RunReport } from "../../src/RunReport.js"
import { calm, hostile, reports } from "./reports.js"

const rows = (page: string): ReadonlyMap<string, string> =>
  new Map(
    [...page.matchAll(/<tr role="row" data-figure="(\w+)">(.*?)<\/tr>/gs)].map(([, name = "", row = ""]) => [name, row])
  )

const cells = (row: string): ReadonlyArray<string> => row.split("<td ").slice(1)

const attribute = (cell: string, name: string): string | undefined => new RegExp(` ${name}="([^"]*)"`).exec(cell)?.[1]

const embedded = (page: string): unknown =>
  JSON.parse(/<script type="application\/json" id="reports">(.*?)<\/script>/s.exec(page)?.[1] ?? "")

const isTag = /^<(?:!doctype html|\/?[a-zA-Z][a-zA-Z0-9]*(?: [a-zA-Z][a-zA-Z0-9-]*(?:="[^"<>]*")?)* ?\/?)>$/

const known = new Set(
  [
    "html head meta title link style body script header main section footer h1 h2 h3 p ul li bdi small span i b dl dt dd",
    "table caption thead tbody tr th td figure figcaption details summary div",
    "svg defs pattern rect circle g path text desc line"
  ].flatMap((names) => names.split(" "))
)

describe("a page", () => {
  it("has the same bytes each time, whichever objects the report is made of", () => {
    fc.assert(
      fc.property(reports, (given) => {
        expect(ReportPage.render(structuredClone(given))).toBe(ReportPage.render(given))
      }),
      { numRuns: 8 }
    )
  })

  it("tells every figure of every report: in words, and exactly in attributes", () => {
    fc.assert(
      fc.property(reports, (given) => {
        const found = rows(ReportPage.render(given))
        expect([...found.keys()]).toEqual(Figure.all.map(({ name }) => name))
        for (const figure of Figure.all) {
          const row = cells(found.get(figure.name) ?? "")
          expect(row).toHaveLength(given.length)
          for (const [index, { figures, runs }] of given.entries()) {
            const cell = row[index] ?? ""
            const estimate = figures[figure.name]
            expect(attribute(cell, "data-report")).toBe(String(index))
            expect(cell).toContain(`>${mean(figure, estimate)}<`)
            expect(cell).toContain(interval(figure, estimate) ?? "")
            expect(cell).toContain(coverage(estimate, runs) ?? "")
            for (const part of ["mean", "low", "high", "runs"] as const) {
              const said = attribute(cell, `data-${part}`)
              if (estimate === null) expect(said ?? "").toBe("")
              else expect(Number(said)).toBe(estimate[part] + 0)
            }
          }
        }
      }),
      { numRuns: 8 }
    )
  })

  it("has all of the reports in it as data", () => {
    fc.assert(
      fc.property(reports, (given) => {
        expect(embedded(ReportPage.render(given))).toEqual(JSON.parse(JSON.stringify(given)))
      }),
      { numRuns: 8 }
    )
  })

  it("takes no name for markup, whatever it holds", () => {
    fc.assert(
      fc.property(reports, (given) => {
        const page = ReportPage.render(given)
        // biome-ignore lint/suspicious/noControlCharactersInRegex: none must be left
        expect(page).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/)
        expect(page).not.toMatch(/\p{Cs}/u)
        const outside = page.replace(/<style>.*?<\/style>/s, "")
        for (const tag of outside.match(/<[^>]*>/g) ?? []) {
          expect(tag).toMatch(isTag)
          expect(known).toContain(/\w+/.exec(tag.replace("!doctype ", ""))?.[0])
        }
        expect(outside.match(/<script/g)).toHaveLength(1)
        // what stands in quotes is a value, whatever it looks like
        for (const tag of outside.match(/<[^>]*>/g) ?? []) expect(tag.replaceAll(/"[^"]*"/g, "")).not.toMatch(/ on\w+=/)
      }),
      { numRuns: 8 }
    )
  })

  it("asks for nothing from elsewhere", () => {
    const page = ReportPage.render([calm()])
    const addresses = [...page.matchAll(/(?:href|src)="([^"]*)"|url\(([^)]*)\)|@import/g)].map(
      ([, link, url]) => link ?? url
    )
    for (const address of addresses) expect(address).toMatch(/^(data:image\/svg\+xml,|#\w+$)/)
  })

  it.each(hostile)("keeps the name %j to itself", (name) => {
    const given: RunReport = calm({ scenario: name, description: name, policy: name })
    const page = ReportPage.render([given, given])
    expect(embedded(page)).toMatchObject([
      { scenario: name.replace(/[\ud800-\udbff](?![\udc00-\udfff])/, "\ud83d") },
      {}
    ])
    expect(page.match(/<script/g)).toHaveLength(1)
    expect(page).not.toContain("<img")
  })

  it("names the providers, what ailed them and what their breakers did, without a script", () => {
    const base = calm()
    const [openai] = base.timeline.providers
    if (openai === undefined) throw new Error("calm has a provider")
    const given = calm({
      timeline: {
        ...base.timeline,
        providers: [
          {
            ...openai,
            phases: [
              { from: 0, to: 20_000, phase: "healthy", sick: false },
              { from: 20_000, to: 40_000, phase: "brown-out", sick: true },
              { from: 40_000, to: 60_000, phase: "healthy", sick: false }
            ],
            bands: [
              { breaker: "openai", replica: 0, from: 0, to: 25_000, state: "Closed", reason: null },
              {
                breaker: "openai",
                replica: 0,
                from: 25_000,
                to: 60_000,
                state: "Open",
                reason: { rule: "P1", by: "streak", kind: "overloaded", failures: 5, threshold: 5 }
              }
            ]
          }
        ]
      },
      transitions: [
        {
          at: 25_000,
          provider: "openai",
          breaker: "openai",
          replica: 0,
          from: "Closed",
          to: "Open",
          reason: { rule: "P1", by: "streak", kind: "overloaded", failures: 5, threshold: 5 }
        }
      ]
    })
    const page = ReportPage.render([given])
    expect(page).toContain("brown-out 0:20 to 0:40")
    expect(page).toContain(
      "open, 0:25.0 to 1:00.0 (35 s): 5 failures in a row, the last one overloaded; 5 open it (P1)"
    )
    expect(page).toMatch(
      /0:20\.0<\/th>.*brown-out begins.*0:25\.0<\/th>.*breaker opens.*0:40\.0<\/th>.*is healthy again/s
    )
    expect(page).toContain("60 calls: 60 served, 0 rescued, 0 aborted, 0 refused, 0 failed.")
  })

  it("of many providers, replicas and changes stays small enough to send", () => {
    const states = ["Closed", "Open", "HalfOpen"] as const
    const bands = Array.from({ length: 20 }, (_, replica) =>
      Array.from({ length: 3_000 }, (_, index) => ({
        breaker: "openai",
        replica,
        from: index * 20,
        to: index * 20 + 20,
        state: states[index % 3] ?? "Closed",
        reason: null
      }))
    ).flat()
    const base = calm()
    const providers = base.timeline.providers.map((provider) => ({ ...provider, bands }))
    const given = calm({ timeline: { ...base.timeline, providers } })
    const page = ReportPage.render([given])
    expect(page.length - JSON.stringify(given).length).toBeLessThan(1_500_000)
  })
})
