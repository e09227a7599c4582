import type { Band, PhaseBand } from "../../RunReport.js"
import { describeReason } from "../describe.js"
import { clock, duration } from "./amounts.js"
import { severity, statesOf } from "./cells.js"
import { stateLabel } from "./words.js"

/** A stretch of a run as a rectangle in a chart. */
export interface Box {
  readonly from: number
  readonly to: number
  readonly top: number
  readonly bottom: number
  /** Shown by a pointer that rests on it. */
  readonly title: string
}

/** More bands than this in one lane cannot be told apart: only the worst in each pixel is drawn. */
const most = 400

/** The bands of a lane that can be seen in so many pixels, the worst last, so that it lies on top. */
export const visible = (bands: ReadonlyArray<Band>, pixels: number, durationMs: number): ReadonlyArray<Band> => {
  const bySeverity = (a: Band, b: Band): number => severity[a.state] - severity[b.state]
  const [first] = bands
  if (first === undefined || bands.length <= most) return [...bands].sort(bySeverity)
  const merged: Array<Band> = []
  for (const [cell, state] of statesOf(bands, pixels, durationMs).entries()) {
    const from = (cell / pixels) * durationMs
    const to = ((cell + 1) / pixels) * durationMs
    const last = merged.at(-1)
    if (last?.state === state) merged[merged.length - 1] = { ...last, to }
    else merged.push({ ...first, from, to, state, reason: null })
  }
  return merged.sort(bySeverity)
}

const span = (from: number, to: number, durationMs: number): string =>
  `${clock(from, durationMs, 1)} to ${clock(to, durationMs, 1)} (${duration(to - from)})`

export const bandTitle = ({ from, reason, state, to }: Band, durationMs: number): string =>
  `${stateLabel(state)}, ${span(from, to, durationMs)}${reason === null ? "" : `: ${describeReason(reason)}`}`

export const phaseTitle = ({ from, phase, to }: PhaseBand, durationMs: number): string =>
  `${phase}, ${span(from, to, durationMs)}`

/** What ails a provider and when, each kind of it once. */
export const ailments = (phases: ReadonlyArray<PhaseBand>, durationMs: number): string => {
  const kinds = new Map<string, { readonly from: number; to: number; times: number }>()
  for (const { from, phase, to } of phases) {
    if (phase === "healthy") continue
    const kind = kinds.get(phase) ?? { from, to, times: 0 }
    kind.to = to
    kind.times++
    kinds.set(phase, kind)
  }
  const said = [...kinds].map(([phase, { from, times, to }]) => {
    const often = times === 1 ? "" : `, ${times} times`
    return `${phase} ${clock(from, durationMs)} to ${clock(to, durationMs)}${often}`
  })
  return said.length === 0 ? "healthy throughout" : said.join("; ")
}
