/** Figures with their names, to be printed. */
export interface Table {
  readonly title: string
  readonly columns: ReadonlyArray<string>
  readonly rows: ReadonlyArray<ReadonlyArray<string>>
}

/** What is aimed at, beside what came out. */
export interface Aim {
  readonly what: string
  readonly value: number
  readonly atMost: number
  readonly unit: string
}

/** One subject of the benchmark. */
export interface Subject {
  readonly name: string
  readonly run: () => Promise<{ readonly tables: ReadonlyArray<Table>; readonly aims: ReadonlyArray<Aim> }>
}

export const nanos = (value: number): string => (value < 100 ? value.toFixed(1) : value.toFixed(0))

export const ratio = (value: number, of: number | undefined): string =>
  of === undefined ? "" : `${(value / of).toFixed(2)}x`

/** The first column to the left, all others to the right. */
export const render = ({ columns, rows, title }: Table): string => {
  const all = [columns, ...rows]
  const widths = columns.map((_, index) => Math.max(...all.map((row) => (row[index] ?? "").length)))
  const line = (row: ReadonlyArray<string>): string =>
    widths
      .map((width, index) => (index === 0 ? (row[0] ?? "").padEnd(width) : (row[index] ?? "").padStart(width)))
      .join("  ")
      .trimEnd()
  return [title, line(columns), widths.map((width) => "-".repeat(width)).join("  "), ...rows.map(line), ""].join("\n")
}

export const renderAim = ({ atMost, unit, value, what }: Aim): string =>
  `${value <= atMost ? "met   " : "MISSED"}  ${what}: ${value.toFixed(2)}${unit} (aim: at most ${atMost}${unit})`
