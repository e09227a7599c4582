import * as Either from "effect/Either"

export interface LogFault {
  readonly line: number
  readonly message: string
}

export interface LogCall {
  readonly at: number
  readonly model?: string
}

/** ms since 1970, or since any other fixed time. */
export const timeOf = (value: unknown): number | undefined => {
  if (typeof value === "number" && Number.isFinite(value)) return value
  if (typeof value !== "string") return undefined
  const millis = Date.parse(value)
  return Number.isNaN(millis) ? undefined : millis
}

/** The objects of JSON lines; blank lines are passed over. */
export const linesOf = (
  text: string
): {
  readonly rows: ReadonlyArray<{ readonly line: number; readonly row: Readonly<Record<string, unknown>> }>
  readonly faults: ReadonlyArray<LogFault>
} => {
  const rows: Array<{ readonly line: number; readonly row: Readonly<Record<string, unknown>> }> = []
  const faults: Array<LogFault> = []
  for (const [index, content] of text
    .replace(/^\uFEFF/, "")
    .split(/\r?\n/)
    .entries()) {
    if (content.trim() === "") continue
    const line = index + 1
    try {
      const row: unknown = JSON.parse(content)
      if (typeof row === "object" && row !== null && !Array.isArray(row)) rows.push({ line, row: { ...row } })
      else faults.push({ line, message: "is no JSON object: write one call a line" })
    } catch {
      faults.push({ line, message: "is not JSON: write one object a line" })
    }
  }
  return { rows, faults: faults.slice(0, 20) }
}

/** When the calls of a log came, from the first of them on, in order. */
export const callsOf = (text: string): Either.Either<ReadonlyArray<LogCall>, ReadonlyArray<LogFault>> => {
  const { faults, rows } = linesOf(text)
  const wrong = [...faults]
  const calls: Array<LogCall> = []
  for (const { line, row } of rows) {
    const at = timeOf(row["at"])
    const model = row["model"] ?? row["requestedModel"]
    if (at === undefined) wrong.push({ line, message: "at is missing: write ms or an ISO date" })
    else calls.push(typeof model === "string" ? { at, model } : { at })
  }
  if (rows.length === 0 && wrong.length === 0) wrong.push({ line: 1, message: "the log is empty" })
  if (wrong.length > 0) return Either.left(wrong.slice(0, 20))
  calls.sort((a, b) => a.at - b.at)
  const first = calls[0]?.at ?? 0
  return Either.right(calls.map((call) => ({ ...call, at: Math.round(call.at - first) })))
}
