/**
 * Reports as one HTML page that needs nothing else: no script, no file, no network. For screens of any width, light and
 * dark, and for paper.
 *
 * @since 0.1.0
 */
import { cards } from "./internal/report/cards.js"
import { chart, sizes } from "./internal/report/chart.js"
import { facts } from "./internal/report/facts.js"
import { figuresTable } from "./internal/report/figuresTable.js"
import { Html, html, json } from "./internal/report/html.js"
import { log } from "./internal/report/log.js"
import { type Scales, scalesOf } from "./internal/report/scales.js"
import { patterns, style } from "./internal/report/style.js"
import { labels, verdict } from "./internal/report/verdict.js"
import { endings, stateLabel, states } from "./internal/report/words.js"
import type { RunReport } from "./RunReport.js"

const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Cpath d='M1 11h5l5-6' fill='none' stroke='%23c2341d' stroke-width='2'/%3E%3Cpath d='M11 11h4' stroke='%23c2341d' stroke-width='2'/%3E%3C/svg%3E"

const policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"

/** Columns that fit beside each other on a wide screen. */
const mostColumns = 6

const swatch = (fill: string): Html =>
  html`<svg viewBox="0 0 22 14" aria-hidden="true"><rect x=".5" y=".5" width="21" height="13" fill="${fill}" stroke="var(--muted)"/></svg>`

const legend = html`<ul class="legend">
${endings.map(({ label, meaning, name }) => html`<li>${swatch(`var(--fill-${name})`)}${label}: ${meaning}</li>`)}
<li>${swatch("var(--fill-sick)")}sick: what was really wrong with the provider</li>
${states.map(({ state }) => html`<li>${swatch(`var(--fill-${state})`)}breaker ${stateLabel(state)}</li>`)}
</ul>`

const timeline = (report: RunReport, index: number, label: string, scales: Scales, isOnly: boolean): Html =>
  html`<figure class="timeline" data-report="${index}"><figcaption><h3><bdi>${label}</bdi></h3></figcaption>
${sizes.map((size) => html`<div class="${size.name}">${new Html(chart(report, size, scales, `report-${index}`))}</div>`)}
${log(report, label, isOnly)}</figure>`

/**
 * A page that compares reports of one scenario under several policies, or shows a single one. Their exact data are in it
 * as JSON (`<script type="application/json" id="reports">`), and each figure's numbers are on its cell as `data-mean`,
 * `data-low`, `data-high` and `data-runs`. The same reports give the same bytes.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as ReportPage from "@switchgear/simulator/ReportPage"
 * import * as Scenario from "@switchgear/simulator/Scenario"
 * import * as Simulator from "@switchgear/simulator/Simulator"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function*() {
 *   const scenario = yield* Scenario.decode({
 *     name: "dead primary",
 *     description: "The only provider fails for a minute.",
 *     duration: "3 minutes",
 *     arrivals: { kind: "constant", rate: 1 },
 *     providers: [{ name: "openai", phases: [{ kind: "outage", from: "1 minute", to: "2 minutes" }] }],
 *     models: [{ name: "gpt-4o", provider: "openai" }]
 *   })
 *   const own = yield* Simulator.run(scenario)
 *   const without = yield* Simulator.run(scenario, { policy: Simulator.none })
 *   return ReportPage.render([without, own])
 * })
 * const page = await Effect.runPromise(program)
 * assert.ok(page.includes("<title>dead primary"))
 * ```
 *
 * @since 0.1.0
 * @category rendering
 */
export const render = (reports: readonly [RunReport, ...ReadonlyArray<RunReport>]): string => {
  const [first] = reports
  const names = labels(reports)
  const scales = scalesOf(reports)
  const title = `${first.scenario}: ${names.join(", ")}`
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>${title}</title>
<link rel="icon" href="${icon}">
<style>${new Html(style)}</style>
</head>
<body>
${new Html(patterns)}
<header>
<h1><bdi>${first.scenario}</bdi></h1>
<p class="about"><bdi>${first.description}</bdi></p>
<p class="facts">${facts(first)}</p>
<ul class="verdict">${verdict(reports).map((sentence) => html`<li>${sentence}</li>`)}</ul>
</header>
<main>
${cards(reports)}
<section aria-labelledby="over-time">
<h2 id="over-time">Over time</h2>
<p class="note">The first run (seed ${first.seed}). All charts have the same scales; shaded: a provider was sick.</p>
${legend}
${reports.map((report, index) => timeline(report, index, names[index] ?? "", scales, reports.length === 1))}
</section>
<section aria-labelledby="figures"${reports.length > mostColumns ? html` class="many"` : undefined}>
<h2 id="figures">All figures</h2>
${figuresTable(reports)}
</section>
</main>
<footer class="note">A simulation by Switchgear: its own router and breakers on a virtual clock, over scripted providers. The same scenario, policies and seeds give this page again, to the byte.</footer>
${json("reports", reports)}
</body>
</html>
`.markup
}
