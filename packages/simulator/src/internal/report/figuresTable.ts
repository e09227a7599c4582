import * as Figure from "../../Figure.js"
import type { Estimate, RunReport } from "../../RunReport.js"
import { coverage, interval, mean } from "./amounts.js"
import { type Html, html } from "./html.js"
import { labels, standing } from "./verdict.js"

const percent = (part: number): string => `${Number((Math.min(1, Math.max(0, part)) * 100).toFixed(2))}%`

const bar = (estimate: Estimate, top: number): Html => {
  const start = percent(estimate.low / top)
  const width = percent((estimate.high - Math.max(0, estimate.low)) / top)
  const spread =
    estimate.low === estimate.high ? undefined : html`<b style="inset-inline-start:${start};width:${width}"></b>`
  return html`<span class="bar" aria-hidden="true"><i style="width:${percent(estimate.mean / top)}"></i>${spread}</span>`
}

/** Says who leads, where somebody is behind. */
export const mark = (figure: Figure.Figure, reports: ReadonlyArray<RunReport>, index: number): Html | undefined => {
  const stands = standing(figure, reports, index)
  if (stands === undefined) return undefined
  return stands === "level" ? html` <span class="best">≈ level</span>` : html` <span class="best">✓ ${stands}</span>`
}

/** A figure of one report, its exact numbers in attributes. */
const cell = (figure: Figure.Figure, reports: ReadonlyArray<RunReport>, index: number): Html => {
  const report = reports[index]
  const estimate = report?.figures[figure.name] ?? null
  const label = labels(reports)[index] ?? ""
  const top =
    figure.unit === "share" ? 1 : Math.max(0, ...reports.map(({ figures }) => figures[figure.name]?.high ?? 0))
  const runs = coverage(estimate, report?.runs ?? 0)
  const between = interval(figure, estimate)
  const contents = html`<span class="mean">${mean(figure, estimate)}</span>${mark(figure, reports, index)}${
    between === undefined ? undefined : html`<span class="interval">${between}</span>`
  }${runs === undefined ? undefined : html`<span class="interval">${runs}</span>`}${
    estimate === null || top === 0 ? undefined : bar(estimate, top)
  }`
  const data =
    estimate === null
      ? html`data-mean=""`
      : html`data-mean="${estimate.mean}" data-low="${estimate.low}" data-high="${estimate.high}" data-runs="${estimate.runs}"`
  return html`<td role="cell" data-report="${index}" data-label="${label}" ${data}>${contents}</td>`
}

/** A row a figure, a column a report. */
export const figuresTable = (reports: ReadonlyArray<RunReport>): Html => {
  const several = reports.some(({ runs }) => runs > 1)
  return html`<table class="figures" role="table">
<caption>${
    several
      ? "Means over all runs; below each its 95 % confidence interval, unless all runs agree."
      : "One run: more runs give confidence intervals."
  }${reports.length > 1 ? " A tick marks the leader where another is behind; level with it are those whose intervals meet its own." : ""}</caption>
<thead role="rowgroup"><tr role="row"><th scope="col" role="columnheader">Figure</th>${labels(reports).map(
    (label) => html`<th scope="col" role="columnheader"><bdi>${label}</bdi></th>`
  )}</tr></thead>
<tbody role="rowgroup">
${Figure.all.map(
  (figure) =>
    html`<tr role="row" data-figure="${figure.name}"><th scope="row" role="rowheader">${figure.label}<small>${figure.meaning}</small></th>${reports.map(
      (_, index) => cell(figure, reports, index)
    )}</tr>`
)}
</tbody></table>`
}
