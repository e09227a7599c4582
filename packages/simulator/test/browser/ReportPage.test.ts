import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import * as Policy from "@switchgear/core/Policy"
import { type Browser, chromium, type Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { shown } from "../../src/internal/report/words.js"
import * as ReportPage from "../../src/ReportPage.js"
import type { RunReport } from "../../src/RunReport.js"
import * as Simulator from "../../src/Simulator.js"
import { calm, hostile } from "../report/reports.js"
import { scenario, simulate } from "../support.js"

let browser: Browser
let reports: readonly [RunReport, ...ReadonlyArray<RunReport>]
const folder = mkdtempSync(join(tmpdir(), "switchgear-report-"))

beforeAll(async () => {
  browser = await chromium.launch({
    executablePath: "/usr/bin/chromium",
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync"
    ]
  })
  const of = scenario({ replicas: 2 })
  const quick = { name: "quick", policy: Policy.consecutive({ failureThreshold: 3 }) }
  const under = (policy: Simulator.NamedPolicy) => simulate(of, { policy, runs: 2 })
  reports = [await under(Simulator.none), await under(Simulator.ownPolicy(of)), await under(quick)]
}, 120_000)

afterAll(async () => {
  await browser?.close()
  rmSync(folder, { recursive: true, force: true })
})

const media = [
  ["light", { media: "screen", colorScheme: "light" }],
  ["dark", { media: "screen", colorScheme: "dark" }],
  ["print", { media: "print", colorScheme: "dark" }]
] as const

const open = async (
  given: readonly [RunReport, ...ReadonlyArray<RunReport>],
  width: number,
  how: (typeof media)[number][1],
  read: (page: Page) => Promise<void>
): Promise<void> => {
  const path = join(folder, "report.html")
  writeFileSync(path, ReportPage.render(given))
  const context = await browser.newContext({ viewport: { width, height: 900 }, ...how, javaScriptEnabled: true })
  const page = await context.newPage()
  await page.emulateMedia(how)
  const heard: Array<string> = []
  const asked: Array<string> = []
  page.on("console", (message) => heard.push(message.text()))
  page.on("pageerror", (error) => heard.push(error.message))
  page.on("request", (request) => asked.push(request.url()))
  await page.goto(pathToFileURL(path).href)
  await read(page)
  expect(heard).toEqual([])
  expect(asked.filter((address) => !address.startsWith("data:"))).toEqual([pathToFileURL(path).href])
  await context.close()
}

const numbers = `Array.from(document.querySelectorAll("[data-figure]"), (row) => ({
  figure: row.dataset.figure,
  cells: Array.from(row.querySelectorAll("[data-report]"), ({ dataset: { mean, low, high, runs } }) =>
    mean === "" ? null : { mean: Number(mean), low: Number(low), high: Number(high), runs: Number(runs) })
}))`

describe.each(media)("a page in %s", (name, how) => {
  it.each([390, 1280])("at %d pixels: no error, no scrolling sideways, and the numbers of the JSON", async (width) => {
    await open(reports, width, how, async (page) => {
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width)
      const embedded = await page.evaluate('JSON.parse(document.getElementById("reports").textContent)')
      expect(embedded).toEqual(JSON.parse(JSON.stringify(reports)))
      const [first] = reports
      const names = Object.keys(first.figures) as ReadonlyArray<keyof typeof first.figures>
      expect(await page.evaluate(numbers)).toEqual(
        names.map((figure) => ({ figure, cells: reports.map(({ figures }) => figures[figure]) }))
      )
      // One chart a report, in the size that suits.
      const charts = `Array.from(document.querySelectorAll(".timeline svg")).filter((svg) => svg.getBoundingClientRect().width > 0).length`
      expect(await page.evaluate(charts)).toBe(reports.length)
    })
  })

  it("stands on the colour it is made for", async () => {
    await open(reports, 1280, how, async (page) => {
      const ground = await page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
      expect(ground).toBe(name === "dark" ? "rgb(20, 24, 29)" : "rgb(255, 255, 255)")
    })
  })
})

describe("a page", () => {
  it("keeps each text in a chart within the chart", async () => {
    for (const width of [390, 1280]) {
      await open(reports, width, media[0][1], async (page) => {
        const outside = `Array.from(document.querySelectorAll(".timeline svg")).flatMap((svg) => {
          const box = svg.getBoundingClientRect()
          return Array.from(svg.querySelectorAll("text")).filter((text) => {
            const { left, right, top, bottom } = text.getBoundingClientRect()
            return left < box.left - 1 || right > box.right + 1 || top < box.top - 1 || bottom > box.bottom + 1
          }).map(({ textContent }) => textContent)
        })`
        expect(await page.evaluate(outside)).toEqual([])
      })
    }
  })

  it.each([390, 1280])(
    "at %d pixels shows names that are no names, and many of them, and obeys none",
    async (width) => {
      const base = calm()
      const given = hostile.map((name): RunReport => {
        const providers = base.timeline.providers.map((provider) => ({
          ...provider,
          name,
          phases: provider.phases.map((phase) => ({ ...phase, phase: name, sick: true })),
          bands: provider.bands.map((band) => ({ ...band, breaker: name }))
        }))
        return calm({ description: name, policy: name, timeline: { ...base.timeline, providers } })
      })
      const [first = base, ...others] = given
      await open([first, ...others], width, media[0][1], async (page) => {
        expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width)
        expect(await page.evaluate("document.scripts.length")).toBe(1)
        expect(await page.evaluate("document.images.length")).toBe(0)
        const headings = `Array.from(document.querySelectorAll(".card h3 bdi"), ({ textContent }) => textContent)`
        expect(await page.evaluate(headings)).toEqual(hostile.map(shown))
        expect(await page.evaluate('document.querySelector(".about").textContent')).toBe(shown(first.description))
      })
    }
  )
})
