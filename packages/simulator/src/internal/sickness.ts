import type { PhaseBand } from "../RunReport.js"
import type { Phase, ProviderScript } from "./scenarioSchema.js"

export interface Interval {
  readonly from: number
  readonly to: number
}

/** When a phase does something: a flapping provider is healthy in between. */
const active = (phase: Phase, duration: number): ReadonlyArray<Interval> => {
  const to = Math.min(phase.to, duration)
  if (phase.kind !== "flapping") return phase.from < to ? [{ from: phase.from, to }] : []
  const intervals: Array<Interval> = []
  for (let from = phase.from; from < to; from += phase.down + phase.up) {
    intervals.push({ from, to: Math.min(from + phase.down, to) })
  }
  return intervals
}

const nameOf = ({ kind, only }: Phase): string => {
  if (only === undefined) return kind
  const of = [
    ...(only.model === undefined ? [] : [only.model]),
    ...(only.host === undefined ? [] : [only.host]),
    ...(only.share === undefined ? [] : [`${Math.round(only.share * 100)} % of calls`])
  ]
  return of.length === 0 ? kind : `${kind} (${of.join(", ")})`
}

/** The stretches of a provider's life, without a gap. */
export const phaseBands = ({ phases }: ProviderScript, duration: number): ReadonlyArray<PhaseBand> => {
  const spells = phases.flatMap((phase) => active(phase, duration).map((interval) => ({ phase, ...interval })))
  const cuts = [...new Set([0, duration, ...spells.flatMap(({ from, to }) => [from, to])])].sort((a, b) => a - b)
  const bands: Array<PhaseBand> = []
  for (const [index, from] of cuts.entries()) {
    const to = cuts[index + 1]
    if (to === undefined) break
    const here = spells.filter((spell) => spell.from <= from && from < spell.to)
    const phase = here.length === 0 ? "healthy" : here.map((spell) => nameOf(spell.phase)).join(" + ")
    const sick = here.some((spell) => spell.phase.sick)
    const last = bands.at(-1)
    if (last?.phase === phase && last.sick === sick) bands[bands.length - 1] = { ...last, to }
    else bands.push({ from, to, phase, sick })
  }
  return bands
}

/** When a provider is sick, each spell by itself. */
export const sicknesses = (provider: ProviderScript, duration: number): ReadonlyArray<Interval> => {
  const spells: Array<Interval> = []
  for (const { from, sick, to } of phaseBands(provider, duration)) {
    if (!sick) continue
    const last = spells.at(-1)
    if (last?.to === from) spells[spells.length - 1] = { from: last.from, to }
    else spells.push({ from, to })
  }
  return spells
}
