import type { Figure, Unit } from "../../Figure.js"
import type { Estimate } from "../../RunReport.js"

/** Thousands apart, by hand: what a locale does differs between builds of Node. */
const grouped = (digits: string): string => digits.replace(/\B(?=(\d{3})+(?!\d))/g, ",")

const fixed = (value: number, decimals: number): string => {
  const [whole = "0", part] = Math.abs(value).toFixed(decimals).split(".")
  const sign = value < 0 && Number(value.toFixed(decimals)) !== 0 ? "-" : ""
  return `${sign}${grouped(whole)}${part === undefined ? "" : `.${part}`}`
}

/** At most so many decimals, without zeros at the end. */
const trimmed = (value: number, decimals: number): string => {
  const text = fixed(value, decimals)
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text
}

const count = (value: number): string => {
  if (Math.abs(value) >= 100 || Number.isInteger(value)) return fixed(value, 0)
  return Math.abs(value) < 0.05 ? trimmed(value, 4) : trimmed(value, 1)
}

/** 99.996 % is not 100 %. */
const share = (value: number): string => {
  const percent = value * 100
  const decimals = [2, 3, 4].find((digits) => percent >= 100 || Number(percent.toFixed(digits)) < 100) ?? 5
  return `${percent === 0 || percent === 100 ? percent : fixed(percent, decimals)} %`
}

const usd = (value: number): string => {
  const small = value !== 0 && Math.abs(value) < 0.1
  return `${value < 0 ? "-" : ""}$${small ? trimmed(Math.abs(value), 5) : fixed(Math.abs(value), 2)}`
}

/** A duration in ms, in the two units that tell most. */
export const duration = (ms: number): string => {
  if (ms < 0) return `-${duration(-ms)}`
  if (ms < 999.5) return `${trimmed(ms, ms < 10 ? 1 : 0)} ms`
  if (ms < 59_950) return `${trimmed(ms / 1000, 1)} s`
  const seconds = Math.round(ms / 1000)
  const parts = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor(seconds / 3600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "min"],
    [seconds % 60, "s"]
  ] as const
  const first = parts.findIndex(([amount]) => amount > 0)
  return parts
    .slice(first, first + 2)
    .filter(([amount]) => amount > 0)
    .map(([amount, unit]) => `${amount} ${unit}`)
    .join(" ")
}

/** A time of a run as a clock shows it, `decimals` of a second included: 3:07, or 1:03:07 in a run of an hour or more. */
export const clock = (ms: number, durationMs: number, decimals = 0): string => {
  const unit = 10 ** decimals
  const total = Math.round((ms / 1000) * unit)
  const whole = Math.floor(total / unit)
  const two = (value: number): string => String(value).padStart(2, "0")
  const rest = decimals === 0 ? "" : `.${String(total % unit).padStart(decimals, "0")}`
  const minutes = Math.floor(whole / 60)
  if (durationMs < 3_600_000) return `${minutes}:${two(whole % 60)}${rest}`
  return `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(whole % 60)}${rest}`
}

const units: Readonly<Record<Unit, (value: number) => string>> = {
  share,
  calls: count,
  trips: count,
  ms: duration,
  usd,
  perSecond: (value) => `${count(value)} /s`
}

/** An amount with its unit. */
export const amount = (unit: Unit, value: number): string => units[unit](value)

/** What stands for a figure that no run has. */
export const absent = "–"

/** A mean with its unit. */
export const mean = ({ unit }: Figure, estimate: Estimate | null): string =>
  estimate === null ? absent : amount(unit, estimate.mean)

/** Both ends of the interval; `undefined` where it has no width. */
export const interval = ({ unit }: Figure, estimate: Estimate | null): string | undefined =>
  estimate === null || estimate.low === estimate.high
    ? undefined
    : `${amount(unit, estimate.low)} to ${amount(unit, estimate.high)}`

/** How many of the runs have the figure, where not all do. */
export const coverage = (estimate: Estimate | null, runs: number): string | undefined =>
  estimate === null || estimate.runs === runs ? undefined : `in ${estimate.runs} of ${runs} runs`

/** So many of a thing. */
export const many = (number: number, one: string): string => `${count(number)} ${one}${number === 1 ? "" : "s"}`
