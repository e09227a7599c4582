import type { PhaseBand, ProviderTimeline } from "../../RunReport.js"
import { amount } from "./amounts.js"
import { ailments, type Box, bandTitle, phaseTitle, visible } from "./bands.js"
import { type Canvas, fitted, type Label, textWidth } from "./canvas.js"
import { type Lane, laneName, lanesOf } from "./cells.js"
import { rates } from "./scales.js"
import { stateLabel, states } from "./words.js"

const conditionHeight = 16
const callsHeight = 30

/** The longest of the texts that fits in a span, in its middle. */
const inside = (
  canvas: Canvas,
  texts: ReadonlyArray<string>,
  { from, to }: { readonly from: number; readonly to: number },
  y: number,
  font: number
): ReadonlyArray<Label> => {
  const room = (to - from) / canvas.msPerPixel - 8
  const text = texts.find((text) => textWidth(text, font) <= room)
  return text === undefined ? [] : [{ text, x: (from + to) / 2, y }]
}

/** What the scenario does to the provider. */
const condition = (canvas: Canvas, phases: ReadonlyArray<PhaseBand>, top: number): void => {
  const { report, size } = canvas
  const middle = top + conditionHeight / 2
  const boxOf =
    (height: number) =>
    (phase: PhaseBand): Box => ({
      from: phase.from,
      to: phase.to,
      top: middle - height / 2,
      bottom: middle + height / 2,
      title: phaseTitle(phase, report.durationMs)
    })
  const healthy = phases.filter(({ phase, sick }) => !sick && phase === "healthy")
  const sick = phases.filter((phase) => phase.sick)
  const odd = phases.filter(({ phase, sick }) => !sick && phase !== "healthy")
  canvas.boxes(healthy.map(boxOf(2)), { fill: "var(--muted)" })
  const framed = { stroke: "var(--muted)", strokeWidth: 0.8 }
  canvas.boxes(odd.map(boxOf(conditionHeight)), { fill: "var(--fill-odd)", ...framed })
  canvas.boxes(sick.map(boxOf(conditionHeight)), { fill: "var(--fill-sick)", ...framed })
  canvas.texts(
    [...sick, ...odd].flatMap((phase) =>
      inside(canvas, [phase.phase, phase.phase.replace(/ \(.*$/, "")], phase, middle, size.font)
    ),
    { textAnchor: "middle", stroke: "var(--bg)", strokeWidth: 5, fontWeight: "bold" }
  )
}

/** Of a row's height. The form tells a state too, where colours do not. */
const heights = { Closed: 0.2, Degraded: 0.5, HalfOpen: 1, Open: 1 } as const

const lane = (canvas: Canvas, { bands }: Lane, top: number, height: number): void => {
  const { plotWidth, report, size } = canvas
  const drawn = visible(bands, plotWidth, report.durationMs)
  for (const { letter, state } of states) {
    const own = drawn.filter((band) => band.state === state)
    const inset = height * (1 - heights[state]) * (state === "Degraded" ? 1 : 0.5)
    canvas.boxes(
      own.map((band) => ({
        from: band.from,
        to: band.to,
        top: top + inset,
        bottom: top + inset + height * heights[state],
        title: bandTitle(band, report.durationMs)
      })),
      {
        fill: `var(--fill-${state})`,
        ...(state === "Closed" ? {} : { stroke: `var(--${state})`, strokeWidth: 0.8 })
      }
    )
    if (state === "Closed" || height < size.font) continue
    canvas.texts(
      own.flatMap((band) => inside(canvas, [stateLabel(state), letter], band, top + height / 2 + 0.5, size.font - 1)),
      {
        textAnchor: "middle",
        fontSize: size.font - 1,
        fontWeight: "bold",
        ...(state === "Open" ? { fill: "var(--on-Open)" } : { stroke: "var(--bg)", strokeWidth: 4 })
      }
    )
  }
}

const heading = (canvas: Canvas, { name, phases }: ProviderTimeline): void => {
  const { report, size } = canvas
  const { font, left, width } = size
  const text = fitted(name, font + 1, width * 0.4)
  const indent = textWidth(text, font + 1) * 1.1 + 12
  const at = { x: 0, y: canvas.y }
  canvas.texts([{ text, ...at }], { dx: 2 - left, fontWeight: "bold", fontSize: font + 1 })
  canvas.texts([{ text: fitted(ailments(phases, report.durationMs), font, width - indent - 8), ...at }], {
    dx: indent - left,
    fill: "var(--muted)"
  })
}

/** A provider: what was really the matter with it, what its breakers did, and the calls that reached it. */
export const providerPanel = (canvas: Canvas, provider: ProviderTimeline): void => {
  const { report, scales, size } = canvas
  const { font } = size
  const lanes = lanesOf(provider.bands)
  const replicas = new Set(lanes.map(({ replica }) => replica)).size
  const height = lanes.length <= 4 ? 16 : lanes.length <= 12 ? font + 1 : lanes.length <= 32 ? 7 : 4
  const named = height >= font
  const pitch = height + (named ? 4 : 1)
  canvas.y += font + 16
  heading(canvas, provider)
  const top = canvas.y + font - 2
  const first = top + conditionHeight + 6
  const end = first + lanes.length * pitch
  const base = end + callsHeight
  const sick = provider.phases.filter((phase) => phase.sick)
  canvas.shade(sick, top, base)
  condition(canvas, provider.phases, top)
  for (const [index, each] of lanes.entries()) lane(canvas, each, first + index * pitch, height)
  const calls = canvas.steps([], rates(report, provider.calls), {
    max: scales.calls,
    bottom: base,
    height: callsHeight
  })
  canvas.area(calls, "var(--calls)")
  canvas.rules([base])
  const scale = amount("calls", scales.calls)
  canvas.margin([
    { text: "condition", y: top + conditionHeight / 2 },
    ...(named
      ? lanes.map((each, index) => ({
          text: laneName(each, provider.name, replicas),
          y: first + index * pitch + height / 2
        }))
      : [{ text: `${lanes.length} breakers`, y: (first + end) / 2 }]),
    { text: size.name === "wide" ? `calls, to ${scale}/s` : `calls ≤${scale}/s`, y: base - callsHeight / 2 + 2 }
  ])
  canvas.y = base
}
