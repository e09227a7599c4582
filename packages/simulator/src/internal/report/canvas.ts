import * as Plot from "@observablehq/plot"
import type { RunReport } from "../../RunReport.js"
import type { Box } from "./bands.js"
import type { Scales } from "./scales.js"
import { shown } from "./words.js"

/** How large a chart is drawn: the page shows the one that suits the reader's screen. */
export interface Size {
  readonly name: "wide" | "narrow"
  readonly width: number
  readonly left: number
  readonly right: number
  readonly font: number
  /** Most times below the axis. */
  readonly ticks: number
}

/** A text: where it is anchored, in ms and in pixels from the top. */
export interface Label {
  readonly text: string
  readonly x: number
  readonly y: number
}

interface Step {
  readonly at: number
  readonly low: number
  readonly high: number
}

/** About how wide a letter is, for each pixel of the font's size. */
const letter = 0.56

export const textWidth = (text: string, font: number): number => [...text].length * font * letter

/** As much of a text as fits. */
export const fitted = (text: string, font: number, width: number): string => {
  const characters = [...shown(text)]
  const most = Math.max(2, Math.floor(width / (font * letter)))
  return characters.length <= most ? characters.join("") : `${characters.slice(0, most - 1).join("")}…`
}

/** One report is drawn on it, from top to bottom. */
export class Canvas {
  readonly marks: Array<Plot.Markish> = []
  /** How far down it has been drawn on. */
  y = 0
  readonly plotWidth: number
  readonly msPerPixel: number

  constructor(
    readonly report: RunReport,
    readonly size: Size,
    readonly scales: Scales
  ) {
    this.plotWidth = size.width - size.left - size.right
    this.msPerPixel = report.durationMs / this.plotWidth
  }

  texts(labels: ReadonlyArray<Label>, style: Plot.TextOptions = {}): void {
    if (labels.length === 0) return
    this.marks.push(
      Plot.text(labels, {
        x: "x",
        y: "y",
        text: (label: Label) => shown(label.text),
        fontSize: this.size.font,
        fill: "var(--ink)",
        textAnchor: "start",
        lineAnchor: "middle",
        ...style
      })
    )
  }

  /** Texts left of the plot. */
  margin(labels: ReadonlyArray<Omit<Label, "x">>): void {
    const { font, left } = this.size
    this.texts(
      labels.map(({ text, y }) => ({ text: fitted(text, font, left - 10), x: 0, y })),
      { dx: -8, textAnchor: "end", fill: "var(--muted)" }
    )
  }

  /** None is narrower than a pixel or so, that it be seen. */
  boxes(boxes: ReadonlyArray<Box>, style: Plot.RectOptions): void {
    if (boxes.length === 0) return
    this.marks.push(
      Plot.rect(boxes, {
        x1: "from",
        x2: (box: Box) => Math.min(this.report.durationMs, Math.max(box.to, box.from + this.msPerPixel * 1.2)),
        y1: "top",
        y2: "bottom",
        ...(boxes.some(({ title }) => title !== "") ? { title: (box: Box) => shown(box.title) } : {}),
        ...style
      })
    )
  }

  /** Rates by bin as pixels, both ends of each bin, so that an area stands in steps. */
  steps(
    low: ReadonlyArray<number>,
    high: ReadonlyArray<number>,
    scale: { readonly max: number; readonly bottom: number; readonly height: number }
  ): ReadonlyArray<Step> {
    const { durationMs, timeline } = this.report
    const pixels = (rate: number): number => scale.bottom - Math.min(1, rate / scale.max) * scale.height
    return high.flatMap((rate, index) => {
      const step = { low: pixels(low[index] ?? 0), high: pixels(rate) }
      const from = index * timeline.binMs
      return [
        { at: from, ...step },
        { at: Math.min(from + timeline.binMs, durationMs), ...step }
      ]
    })
  }

  area(steps: ReadonlyArray<Step>, fill: string): void {
    this.marks.push(Plot.areaY(steps, { x: "at", y1: "low", y2: "high", fill }))
  }

  line(steps: ReadonlyArray<Step>, stroke: string): void {
    this.marks.push(Plot.line(steps, { x: "at", y: "high", stroke, strokeWidth: 0.8 }))
  }

  rules(ys: ReadonlyArray<number>): void {
    this.marks.push(Plot.ruleY(ys, { stroke: "var(--line)", x1: () => 0, x2: () => this.report.durationMs }))
  }

  /** When a provider was sick, behind all that is drawn later. */
  shade(spans: ReadonlyArray<{ readonly from: number; readonly to: number }>, top: number, bottom: number): void {
    const boxes = spans.map(({ from, to }) => ({ from, to, top, bottom, title: "" }))
    this.boxes(boxes, { fill: "var(--shade)" })
  }
}
