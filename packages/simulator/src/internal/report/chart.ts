import * as Plot from "@observablehq/plot"
import type { RunReport } from "../../RunReport.js"
import { amount, clock } from "./amounts.js"
import { ailments } from "./bands.js"
import { Canvas, type Label, type Size, textWidth } from "./canvas.js"
import { providerPanel } from "./providerPanel.js"
import type { Scales } from "./scales.js"
import { draw } from "./svg.js"
import { timeTicks } from "./ticks.js"
import { trafficPanel } from "./trafficPanel.js"
import { endings, shown } from "./words.js"

export const sizes: ReadonlyArray<Size> = [
  { name: "wide", width: 960, left: 120, right: 20, font: 12, ticks: 15 },
  { name: "narrow", width: 358, left: 84, right: 14, font: 11, ticks: 5 }
]

const axis = (canvas: Canvas): void => {
  const { report, size } = canvas
  const ticks = timeTicks(report.durationMs, size.ticks)
  const end = canvas.y + 5
  canvas.marks.unshift(
    Plot.ruleX(ticks, { stroke: "var(--line)", strokeWidth: 0.6, y1: () => size.font + 12, y2: () => end })
  )
  canvas.y = end + size.font
  const labels = ticks.map((at) => ({ text: clock(at, report.durationMs), x: at, y: canvas.y }))
  const isCut = ({ text, x }: Label): boolean =>
    (report.durationMs - x) / canvas.msPerPixel + size.right < textWidth(text, size.font) / 2
  const style = { fill: "var(--muted)" }
  canvas.texts(
    labels.filter((label) => !isCut(label)),
    { ...style, textAnchor: "middle" }
  )
  canvas.texts(
    labels.filter(isCut).map((label) => ({ ...label, x: report.durationMs })),
    { ...style, textAnchor: "end", dx: size.right }
  )
  canvas.y += size.font
}

const total = (numbers: ReadonlyArray<number>): number => numbers.reduce((sum, value) => sum + value, 0)

/** The chart in words, for those who do not see it. */
const description = ({ durationMs, timeline, transitions }: RunReport): string => {
  const ends = endings.map(({ label, name }) => `${amount("calls", total(timeline[name]))} ${label}`).join(", ")
  const ill = timeline.providers.map(({ name, phases }) => `${name}: ${ailments(phases, durationMs)}.`).join(" ")
  const opened = transitions.filter(({ to }) => to === "Open").length
  return `${amount("calls", total(timeline.arrivals))} calls: ${ends}. ${ill} Breakers opened ${opened} times.`
}

/** One report over time. */
export const chart = (report: RunReport, size: Size, scales: Scales, id: string): string => {
  const canvas = new Canvas(report, size, scales)
  trafficPanel(canvas)
  for (const provider of report.timeline.providers) providerPanel(canvas, provider)
  axis(canvas)
  return draw({
    id: `${id}-${size.name}`,
    width: size.width,
    height: Math.ceil(canvas.y),
    left: size.left,
    right: size.right,
    durationMs: report.durationMs,
    title: shown(`${report.scenario} under ${report.policy}, over time`),
    description: shown(description(report)),
    marks: canvas.marks
  })
}
