import type { RunReport } from "../../RunReport.js"
import { clock } from "./amounts.js"
import { type Happening, happenings } from "./happened.js"
import { type Html, html } from "./html.js"

/** A log of more rows than this is folded up; of one that is longer still, only the beginning is in the page. */
const open = 24
const most = 400

const row = ({ at, provider, what, who, why }: Happening, durationMs: number): Html =>
  html`<tr role="row" class="${who}"><th scope="row" role="rowheader" class="at">${clock(at, durationMs, 1)}</th><td role="cell"><bdi>${provider}</bdi></td><td role="cell" class="what">${what}</td><td role="cell" class="why">${why}</td></tr>`

const table = (rows: ReadonlyArray<Happening>, durationMs: number, label: string): Html =>
  html`<table class="log" role="table" aria-label="${label}"><thead role="rowgroup"><tr role="row"><th scope="col" role="columnheader">Time</th><th scope="col" role="columnheader">Provider</th><th scope="col" role="columnheader">What</th><th scope="col" role="columnheader">Why</th></tr></thead>
<tbody role="rowgroup">
${rows.map((one) => row(one, durationMs))}
</tbody></table>`

/** What happened in the first run of a report, in order. */
export const log = (report: RunReport, label: string, isOpen: boolean): Html => {
  const all = happenings(report)
  const { durationMs } = report
  const name = `What happened under ${label}`
  const unsaid = all.length - Math.min(all.length, most)
  return html`<details${isOpen && all.length <= open ? html` open` : undefined}><summary>What happened, when and why (${all.length})</summary>
${table(all.slice(0, most), durationMs, name)}
${unsaid > 0 ? html`<p class="note">And ${unsaid} more: the report as JSON has them all.</p>` : undefined}</details>`
}
