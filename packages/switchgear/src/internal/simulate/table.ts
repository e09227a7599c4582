import * as Figure from "@switchgear/simulator/Figure"
import type { Estimate, RunReport } from "@switchgear/simulator/RunReport"

const seconds = (ms: number): string => (Math.abs(ms) < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`)

const number = (value: number): string => (Number.isInteger(value) ? String(value) : value.toFixed(1))

const units: Readonly<Record<Figure.Unit, (value: number) => string>> = {
  share: (value) => `${(value * 100).toFixed(2)} %`,
  calls: number,
  trips: number,
  ms: seconds,
  usd: (value) => `$${value.toFixed(2)}`,
  perSecond: (value) => `${number(value)}/s`
}

const cell = (estimate: Estimate | null, unit: Figure.Unit): string => {
  if (estimate === null) return "-"
  const show = units[unit]
  const half = (estimate.high - estimate.low) / 2
  return half === 0 ? show(estimate.mean) : `${show(estimate.mean)} ± ${show(half)}`
}

/** Columns under each other, the first to the left, numbers to the right. */
export const aligned = (rows: ReadonlyArray<ReadonlyArray<string>>): string => {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? "").length)))
  const line = (row: ReadonlyArray<string>): string =>
    row
      .map((text, column) => (column === 0 ? text.padEnd(widths[column] ?? 0) : text.padStart(widths[column] ?? 0)))
      .join("  ")
      .trimEnd()
  return rows.map((row) => `${line(row)}\n`).join("")
}

/** A row a figure, a column a policy. */
export const table = (reports: ReadonlyArray<RunReport>): string => {
  const [first] = reports
  if (first === undefined) return ""
  const rows = [
    ["", ...reports.map(({ policy }) => policy)],
    ...Figure.all.map(({ label, name, unit }) => [label, ...reports.map(({ figures }) => cell(figures[name], unit))])
  ]
  const calls = `${first.runs === 1 ? "1 run" : `${first.runs} runs`}, ${Math.round(first.calls / first.runs)} calls each, seed ${first.seed}`
  return `${first.scenario}: ${first.description}\n${calls}\n\n${aligned(rows)}`
}
