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
