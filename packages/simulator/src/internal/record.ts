import * as Either from "effect/Either"
import { type LogFault, linesOf, timeOf } from "./log.js"

/** What became of one attempt in life. */
export interface Recorded {
  /** ms since 1970, or any other fixed time. */
  readonly at: number
  readonly target: string
  readonly outcome: "success" | "refused" | "cancelled" | "failure"
  /** Of a failure. */
  readonly kind?: string
  /** ms until it was over; `null` where that is not known. */
  readonly latency: number | null
  readonly status?: number
  /** ms */
  readonly retryAfter?: number
  /** ms: it may have been admitted so much later than `at`. Default 0. */
  readonly slack?: number
}

type Row = Readonly<Record<string, unknown>>

const isRow = (value: unknown): value is Row => typeof value === "object" && value !== null && !Array.isArray(value)

/** Kinds of telemetry's attempts that reached nobody and say nothing. */
const passedOver: ReadonlySet<string> = new Set([
  "denied",
  "policy_error",
  "unknown",
  "over_budget",
  "context_window",
  "ineligible",
  "saturated"
])

const number = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) && value >= 0 ? value : undefined

/** ms: readings of two clocks, each rounded down. */
const grain = 2

/** One call of the telemetry export: its attempts began one after the other. */
const fromTelemetry = (row: Row, attempts: ReadonlyArray<unknown>): ReadonlyArray<Recorded> | string => {
  const start = timeOf(row["at"])
  if (start === undefined) return "at is missing: write ms or an ISO date"
  // a caller's own key touches no shared breaker (ROUTING F8)
  if (row["byo"] === true) return []
  const found: Array<Recorded> = []
  const whole = number(row["timeToFirstOutput"]) ?? number(row["latency"]) ?? 0
  const spent = attempts.reduce<number>((sum, one) => sum + ((isRow(one) ? number(one["latency"]) : undefined) ?? 0), 0)
  // What the call took beyond its attempts lies before the first of them, or between them where there are several.
  const overhead = Math.max(0, whole - spent)
  const slack = overhead + grain
  let at = start + overhead
  for (const attempt of attempts) {
    if (!isRow(attempt)) return "attempts holds something that is no object"
    const { kind, provider } = attempt
    if (typeof kind !== "string" || typeof provider !== "string") return "an attempt lacks kind or provider"
    const latency = number(attempt["latency"]) ?? null
    // `unknown` with a latency is a failure's kind
    if (provider === "" || (latency === null && passedOver.has(kind))) continue
    const base = { at, target: provider, slack }
    if (kind === "circuit_open") found.push({ ...base, outcome: "refused", latency: null })
    else if (kind === "served") found.push({ ...base, outcome: "success", latency })
    else if (kind === "cancelled") found.push({ ...base, outcome: "cancelled", latency })
    else found.push({ ...base, outcome: "failure", kind, latency })
    at += latency ?? 0
  }
  return found
}

const fromPlain = (row: Row): Recorded | string => {
  const at = timeOf(row["at"])
  const target = row["target"] ?? row["provider"]
  const outcome = row["outcome"] ?? row["kind"]
  if (at === undefined) return "at is missing: write ms or an ISO date"
  if (typeof target !== "string" || target === "") return "target is missing: name the provider that was called"
  if (typeof outcome !== "string" || outcome === "") {
    return `outcome is missing: write "success" or the failure's kind, such as "timeout"`
  }
  const latency = number(row["latency"]) ?? null
  const status = number(row["status"])
  const retryAfter = number(row["retryAfter"])
  const base = { at, target, latency }
  switch (outcome) {
    case "success":
    case "served":
      return { ...base, outcome: "success" }
    case "circuit_open":
      return { ...base, outcome: "refused" }
    case "cancelled":
      return { ...base, outcome: "cancelled" }
    default:
      return {
        ...base,
        outcome: "failure",
        kind: outcome,
        ...(status === undefined || status < 400 ? undefined : { status }),
        ...(retryAfter === undefined ? undefined : { retryAfter })
      }
  }
}

interface Rows {
  readonly rows: ReadonlyArray<{ readonly line: number; readonly row: Row }>
  readonly faults: ReadonlyArray<LogFault>
}

/** The rows of a document: a list, the answer of `/admin/telemetry`, or an object a line. */
const rowsOf = (text: string): Rows => {
  const whole = Either.getOrUndefined(Either.try((): unknown => JSON.parse(text.replace(/^\uFEFF/, ""))))
  const list = Array.isArray(whole) ? whole : isRow(whole) && Array.isArray(whole["rows"]) ? whole["rows"] : undefined
  if (list === undefined) return linesOf(text)
  const rows: Array<{ readonly line: number; readonly row: Row }> = []
  for (const [index, row] of list.entries()) if (isRow(row)) rows.push({ line: index + 1, row })
  return { rows, faults: [] }
}

/** Every attempt of a log in the order in which they began, or what is wrong with it. */
export const attemptsOf = (text: string): Either.Either<ReadonlyArray<Recorded>, ReadonlyArray<LogFault>> => {
  const { faults, rows } = rowsOf(text)
  const wrong = [...faults]
  const attempts: Array<Recorded> = []
  for (const { line, row } of rows) {
    const found = Array.isArray(row["attempts"]) ? fromTelemetry(row, row["attempts"]) : fromPlain(row)
    if (typeof found === "string") wrong.push({ line, message: found })
    else if ("target" in found) attempts.push(found)
    else attempts.push(...found)
  }
  if (wrong.length === 0 && attempts.length === 0) wrong.push({ line: 1, message: "the log holds no call" })
  return wrong.length > 0 ? Either.left(wrong.slice(0, 20)) : Either.right(attempts.sort((a, b) => a.at - b.at))
}
