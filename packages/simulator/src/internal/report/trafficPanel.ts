import type { RunReport } from "../../RunReport.js"
import { amount } from "./amounts.js"
import type { Canvas } from "./canvas.js"
import { rates } from "./scales.js"
import { endings } from "./words.js"

interface Span {
  readonly from: number
  readonly to: number
}

/** When any provider was sick. */
const sickness = ({ timeline }: RunReport): ReadonlyArray<Span> => {
  const sick = timeline.providers
    .flatMap(({ phases }) => phases.filter((phase) => phase.sick))
    .sort((a, b) => a.from - b.from)
  const spans: Array<Span> = []
  for (const { from, to } of sick) {
    const last = spans.at(-1)
    if (last !== undefined && from <= last.to) spans[spans.length - 1] = { from: last.from, to: Math.max(last.to, to) }
    else spans.push({ from, to })
  }
  return spans
}

/** What clients began, and how it ended. */
export const trafficPanel = (canvas: Canvas): void => {
  const { report, scales, size } = canvas
  const { arrivals } = report.timeline
  const height = size.name === "wide" ? 140 : 110
  canvas.texts([{ text: "Calls a second, by how they ended", x: 0, y: size.font / 2 + 1 }], { fontWeight: "bold" })
  const top = size.font + 12
  const bottom = top + height
  canvas.shade(sickness(report), top, bottom)
  canvas.rules([top, top + height / 2, bottom])
  canvas.margin(
    [0, 0.5, 1].map((part) => ({ text: amount("calls", scales.traffic * part), y: bottom - part * height }))
  )
  const scale = { max: scales.traffic, bottom, height }
  let below: ReadonlyArray<number> = arrivals.map(() => 0)
  for (const { name } of endings) {
    const own = rates(report, report.timeline[name])
    const above = below.map((rate, index) => rate + (own[index] ?? 0))
    if (own.some((rate) => rate > 0)) canvas.area(canvas.steps(below, above, scale), `var(--fill-${name})`)
    below = above
  }
  canvas.line(canvas.steps([], rates(report, arrivals), scale), "var(--ink)")
  canvas.y = bottom
}
