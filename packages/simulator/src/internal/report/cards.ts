import * as Figure from "../../Figure.js"
import type { RunReport } from "../../RunReport.js"
import { amount, interval, mean } from "./amounts.js"
import { mark } from "./figuresTable.js"
import { type Html, html } from "./html.js"
import { labels } from "./verdict.js"
import { endings } from "./words.js"

const told: ReadonlyArray<Figure.FigureName> = ["failed", "wasted", "addedLatencyP99", "timeToOpen", "timeToRecover"]

const total = (numbers: ReadonlyArray<number>): number => numbers.reduce((sum, value) => sum + value, 0)

/** How the calls of the first run ended, as shares of one bar. */
const stack = ({ timeline }: RunReport): Html => {
  const parts = endings.map(({ label, name }) => ({ label, name, number: total(timeline[name]) }))
  const all = Math.max(1, total(parts.map(({ number }) => number)))
  const said = parts
    .filter(({ number }) => number > 0)
    .map(({ label, number }) => `${amount("calls", number)} ${label}`)
    .join(", ")
  let x = 0
  const rects = parts.map(({ name, number }) => {
    const width = (number / all) * 240
    const rect = html`<rect x="${x.toFixed(2)}" width="${width.toFixed(2)}" height="16" fill="var(--fill-${name})"/>`
    x += width
    return rect
  })
  return html`<svg class="stack" viewBox="0 0 240 16" preserveAspectRatio="none" role="img" aria-label="${said}"><title>${said}</title>${rects}</svg>`
}

const card = (reports: ReadonlyArray<RunReport>, index: number): Html => {
  const report = reports[index]
  const [availability] = Figure.all
  if (report === undefined || availability === undefined) return html``
  const estimate = report.figures.availability
  const between = interval(availability, estimate)
  const rows = Figure.all
    .filter(({ name }) => told.includes(name))
    .map((figure) => html`<dt>${figure.label}</dt><dd>${mean(figure, report.figures[figure.name])}</dd>`)
  return html`<li class="card"><h3><bdi>${labels(reports)[index]}</bdi>${mark(availability, reports, index)}</h3>
<p class="big">${mean(availability, estimate)}<small>of calls answered${between === undefined ? "" : `, ${between}`}</small></p>
${stack(report)}
<dl>${rows}</dl></li>`
}

/** The reports at a glance. */
export const cards = (reports: ReadonlyArray<RunReport>): Html =>
  html`<ul class="cards">${reports.map((_, index) => card(reports, index))}</ul>`
