import type { Band, ProviderTimeline, RunReport } from "../../RunReport.js"
import { amount, clock } from "./amounts.js"
import { ailments } from "./bands.js"
import { laneName, lanesOf, phasesOf, ratesOf, statesOf } from "./cells.js"
import { columns, cut, type Paint, padded, type Style } from "./terminal.js"
import { timeTicks } from "./ticks.js"
import { endings, shown, states } from "./words.js"

const labelWidth = 14

const levels = "▁▂▃▄▅▆▇█"

/** Heights of one row; nothing at all is a space. */
export const sparkline = (values: ReadonlyArray<number>, max: number): string =>
  values
    .map((value) => {
      if (value <= 0 || max <= 0) return " "
      return levels[Math.min(levels.length, Math.max(1, Math.ceil((value / max) * levels.length))) - 1]
    })
    .join("")

const paints: Readonly<Record<Band["state"], Style>> = {
  Closed: "green",
  Degraded: "yellow",
  Open: "red",
  HalfOpen: "magenta"
}

const endingPaints: Readonly<Record<(typeof endings)[number]["name"], Style>> = {
  served: "blue",
  rescued: "cyan",
  aborted: "dim",
  rejected: "yellow",
  failed: "red"
}

const letterOf = (state: Band["state"]): string => states.find((one) => one.state === state)?.letter ?? "?"

const most = (numbers: ReadonlyArray<number>): number => numbers.reduce((max, value) => Math.max(max, value), 0)

/** Neighbours that are painted alike, painted at once. */
const painted = (cells: ReadonlyArray<readonly [text: string, style: Style]>, paint: Paint): string => {
  const runs: Array<readonly [string, Style]> = []
  for (const [text, style] of cells) {
    const last = runs.at(-1)
    if (last?.[1] === style) runs[runs.length - 1] = [last[0] + text, style]
    else runs.push([text, style])
  }
  return runs.map(([text, style]) => paint(style, text)).join("")
}

const stateLine = (bands: ReadonlyArray<Band>, cells: number, durationMs: number, paint: Paint): string =>
  painted(
    statesOf(bands, cells, durationMs).map((state) => [letterOf(state), paints[state]] as const),
    paint
  )

/** Where it is sick, and by name what is the matter, if there is room. */
const conditionLine = ({ phases }: ProviderTimeline, cells: number, durationMs: number, paint: Paint): string => {
  const found = phasesOf(phases, cells, durationMs)
  let line = ""
  for (let cell = 0; cell < cells; ) {
    const phase = found[cell]
    let end = cell + 1
    while (end < cells && found[end] === phase) end++
    const room = end - cell
    if (phase === undefined) line += paint("dim", "─".repeat(room))
    else {
      const fill = phase.sick ? "▒" : "░"
      const name = shown(phase.phase)
      const width = columns(name)
      const text = width + 2 <= room ? `│${name}${fill.repeat(room - width - 1)}` : fill.repeat(room)
      line += paint(phase.sick ? "bold" : "dim", text)
    }
    cell = end
  }
  return line
}

const axis = (cells: number, durationMs: number): string => {
  let line = ""
  for (const at of timeTicks(durationMs, Math.max(1, Math.floor(cells / 12)))) {
    const column = Math.floor((at / durationMs) * cells)
    const text = clock(at, durationMs)
    if (column < line.length + (line === "" ? 0 : 1) || column + text.length > cells) continue
    line = line.padEnd(column) + text
  }
  return line
}

/** One report over time, a column for each part of the run. */
export const textTimeline = (report: RunReport, width: number, paint: Paint): ReadonlyArray<string> => {
  const { durationMs, timeline } = report
  const cells = Math.max(10, width - labelWidth)
  const label = (text: string): string => `${padded(text, labelWidth - 1)} `
  const line = (name: string, rest: string): string => `${label(name)}${rest}`.trimEnd()
  const rates = (bins: ReadonlyArray<number>): ReadonlyArray<number> => ratesOf(bins, timeline.binMs, cells, durationMs)
  const spark = (bins: ReadonlyArray<number>, max: number): string => sparkline(rates(bins), max)
  const traffic = most(rates(timeline.arrivals))
  const calls = most(timeline.providers.flatMap((provider) => rates(provider.calls)))
  const ended = endings
    .filter(({ name }) => timeline[name].some((calls) => calls > 0))
    .map(({ label, name }) => line(`  ${label}`, paint(endingPaints[name], spark(timeline[name], traffic))))
  return [
    paint("dim", line("", axis(cells, durationMs))),
    line(`calls ≤${amount("calls", traffic)}/s`, spark(timeline.arrivals, traffic)),
    ...ended,
    ...timeline.providers.flatMap((provider) => {
      const lanes = lanesOf(provider.bands)
      const replicas = new Set(lanes.map(({ replica }) => replica)).size
      const name = cut(provider.name, Math.floor(width / 2))
      return [
        `${paint("bold", name)}  ${paint("dim", cut(ailments(provider.phases, durationMs), width - columns(name) - 2))}`,
        line("  condition", conditionLine(provider, cells, durationMs, paint)),
        ...lanes.map((lane) =>
          line(`  ${laneName(lane, provider.name, replicas)}`, stateLine(lane.bands, cells, durationMs, paint))
        ),
        line(`  ≤${amount("calls", calls)}/s`, paint("dim", spark(provider.calls, calls)))
      ]
    })
  ]
}
