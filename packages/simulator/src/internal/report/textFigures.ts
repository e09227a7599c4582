import * as Figure from "../../Figure.js"
import type { RunReport } from "../../RunReport.js"
import { coverage, interval, mean } from "./amounts.js"
import { columns, type Paint, padded } from "./terminal.js"
import { labels, standing } from "./verdict.js"

const labelWidth = 16
const leastColumn = 21

const marks = { highest: "✓ ", lowest: "✓ ", level: "≈ " } as const

/** Units of time as short as they go: 1m 7s. */
const compact = (text: string): string =>
  text.replace(/(\d) (ms|s|min|h|d)\b/g, (_, digit, unit) => `${digit}${unit === "min" ? "m" : unit}`)

/** An interval, on two lines where one is too short. */
const fitted = (text: string, width: number): ReadonlyArray<string> =>
  columns(text) <= width ? [text] : text.replace(" to ", " to\n").split("\n")

/** Some of the reports, as many as fit beside each other. */
const block = (
  reports: ReadonlyArray<RunReport>,
  chosen: ReadonlyArray<number>,
  column: number,
  paint: Paint
): ReadonlyArray<string> => {
  const names = labels(reports)
  const row = (label: string, texts: ReadonlyArray<string>): string => `${label}${texts.join("")}`.trimEnd()
  const blank = " ".repeat(labelWidth)
  const cellOf = (text: string): string => padded(text, column)
  const lines = [
    row(
      blank,
      chosen.map((index) => paint("bold", cellOf(`  ${names[index] ?? ""}`)))
    )
  ]
  for (const figure of Figure.all) {
    const estimates = chosen.map((index) => ({ index, report: reports[index] }))
    lines.push(
      row(
        padded(figure.label, labelWidth),
        estimates.map(({ index, report }) => {
          const stands = standing(figure, reports, index)
          const text = cellOf(
            `${stands === undefined ? "  " : marks[stands]}${compact(mean(figure, report?.figures[figure.name] ?? null))}`
          )
          return stands === undefined ? text : paint("green", text)
        })
      )
    )
    const details = estimates.map(({ report }) => {
      const estimate = report?.figures[figure.name] ?? null
      return [interval(figure, estimate), coverage(estimate, report?.runs ?? 0)].flatMap((text) =>
        text === undefined ? [] : fitted(compact(text), column - 2)
      )
    })
    for (let line = 0; details.some((texts) => texts.length > line); line++) {
      lines.push(
        row(
          blank,
          details.map((texts) => paint("dim", cellOf(`  ${texts[line] ?? ""}`)))
        )
      )
    }
  }
  return lines
}

/** A row a figure, a column a report; where not all columns fit, further tables below. */
export const textFigures = (reports: ReadonlyArray<RunReport>, width: number, paint: Paint): ReadonlyArray<string> => {
  const room = width - labelWidth
  const perBlock = Math.max(1, Math.min(reports.length, Math.floor(room / leastColumn)))
  const column = Math.min(28, Math.floor(room / perBlock))
  const blocks: Array<ReadonlyArray<string>> = []
  for (let first = 0; first < reports.length; first += perBlock) {
    const chosen = [...reports.keys()].slice(first, first + perBlock)
    blocks.push(block(reports, chosen, column, paint))
  }
  return blocks.flatMap((lines, index) => (index === 0 ? lines : ["", ...lines]))
}
