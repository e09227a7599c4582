import type { Band, PhaseBand } from "../../RunReport.js"

/** From the one that hides least to the one that must be seen. */
export const severity: Readonly<Record<Band["state"], number>> = { Closed: 0, Degraded: 1, HalfOpen: 2, Open: 3 }

interface Span {
  readonly from: number
  readonly to: number
}

/** Which of `cells` equal parts of the run a span touches; an empty span touches none, however short another does. */
const touched = ({ from, to }: Span, cells: number, durationMs: number): readonly [first: number, end: number] => {
  if (to <= from) return [0, 0]
  const first = Math.min(cells - 1, Math.max(0, Math.floor((from / durationMs) * cells)))
  return [first, Math.min(cells, Math.max(first + 1, Math.ceil((to / durationMs) * cells)))]
}

/** The worst state in each part of the run. */
export const statesOf = (
  bands: ReadonlyArray<Band>,
  cells: number,
  durationMs: number
): ReadonlyArray<Band["state"]> => {
  const states: Array<Band["state"]> = Array.from({ length: cells }, () => "Closed")
  for (const band of bands) {
    const [first, end] = touched(band, cells, durationMs)
    for (let cell = first; cell < end; cell++) {
      if (severity[band.state] > severity[states[cell] ?? "Closed"]) states[cell] = band.state
    }
  }
  return states
}

/** Of the bands in each part of the run, the one that is worth most; `undefined` where none is worth anything. */
export const phasesOf = (
  phases: ReadonlyArray<PhaseBand>,
  cells: number,
  durationMs: number
): ReadonlyArray<PhaseBand | undefined> => {
  const worth = (phase: PhaseBand | undefined): number =>
    phase === undefined ? 0 : phase.sick ? 2 : phase.phase === "healthy" ? 0 : 1
  const found: Array<PhaseBand | undefined> = Array.from({ length: cells }, () => undefined)
  for (const phase of phases) {
    const [first, end] = touched(phase, cells, durationMs)
    for (let cell = first; cell < end; cell++) if (worth(phase) > worth(found[cell])) found[cell] = phase
  }
  return found
}

/** Numbers by bin, as a rate a second in each of `cells` equal parts of the run. */
export const ratesOf = (
  bins: ReadonlyArray<number>,
  binMs: number,
  cells: number,
  durationMs: number
): ReadonlyArray<number> => {
  const width = durationMs / cells
  return Array.from({ length: cells }, (_, cell) => {
    const from = cell * width
    const to = from + width
    let sum = 0
    for (let bin = Math.floor(from / binMs); bin * binMs < to && bin < bins.length; bin++) {
      const start = bin * binMs
      const end = Math.min(start + binMs, durationMs)
      const shared = Math.min(to, end) - Math.max(from, start)
      if (shared > 0 && end > start) sum += (bins[bin] ?? 0) * (shared / (end - start))
    }
    return sum / (width / 1000)
  })
}

/** Bands of one breaker in one replica. */
export interface Lane {
  readonly breaker: string
  readonly replica: number
  readonly bands: ReadonlyArray<Band>
}

/** One lane a breaker and replica, in the order in which they first appear. */
export const lanesOf = (bands: ReadonlyArray<Band>): ReadonlyArray<Lane> => {
  const lanes = new Map<string, { readonly breaker: string; readonly replica: number; readonly bands: Array<Band> }>()
  for (const band of bands) {
    const key = JSON.stringify([band.breaker, band.replica])
    const lane = lanes.get(key) ?? { breaker: band.breaker, replica: band.replica, bands: [] }
    lane.bands.push(band)
    lanes.set(key, lane)
  }
  return [...lanes.values()]
}

/** What a lane is called beside its provider's name. */
export const laneName = (lane: Lane, provider: string, replicas: number): string => {
  const breaker =
    lane.breaker === provider
      ? ""
      : lane.breaker.startsWith(`${provider}:`)
        ? lane.breaker.slice(provider.length + 1)
        : lane.breaker
  const replica = replicas > 1 ? `replica ${lane.replica + 1}` : ""
  return [breaker, replica].filter((part) => part !== "").join(", ") || "breaker"
}
