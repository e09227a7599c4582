/**
 * When a vendor says a call may be tried again, in all the forms PROVIDERS ("Retry-After") lists and in that order.
 *
 * The result is ms from `now`, a whole positive number, or `undefined`. Absent, empty, negative, past, zero and
 * unreadable are all `undefined`: there is no NaN and no 0. Fractions of a ms round up.
 *
 * @since 0.1.0
 */
import { type Lower, lower } from "./internal/headers.js"
import { array, get, isObject, string } from "./internal/json.js"
import { duration, httpDate, leading, longDate, rfc3339, timeSpan } from "./internal/time.js"

/**
 * What `read` looks through for a wait: the headers, the body and the words of one answer.
 *
 * @since 0.1.0
 * @category models
 */
export interface Source {
  /** A record, a list of pairs or a `Headers`; names in any case. */
  readonly headers?: unknown
  /** The answer's body as parsed JSON. */
  readonly body?: unknown
  /** The error's words. */
  readonly message?: string
  /** Wall time of arrival in ms. Without it, dates and epochs cannot be read. */
  readonly now: number
  /** The cap is a daily one: Gemini then adds delays under a minute that mean nothing, and they are not read. */
  readonly daily?: boolean
  /**
   * Whether to fall back on the reset of a rate-limit header (default true). That is when the limit is replenished in
   * full, so it says something about a refused call only.
   */
  readonly resets?: boolean
}

const whole = (ms: number | undefined): number | undefined =>
  // Six digits after the point are more than any vendor has, and less than the noise of a double.
  ms !== undefined && ms > 0 ? Math.min(Math.ceil(Number(ms.toFixed(6))) || 1, Number.MAX_SAFE_INTEGER) : undefined

const isNumber = (text: string): boolean => /^(?:\d{1,20}(?:\.\d{0,20})?|\.\d{1,20})$/.test(text)

/** A number whose size says what it is: epoch ms, epoch seconds, or seconds from now. */
const bySize = (value: number, now: number): number =>
  value > 1e11 ? value - now : value > 1e9 ? value * 1000 - now : value * 1000

const milliseconds = (text: string | undefined): number | undefined => {
  const trimmed = text?.trim() ?? ""
  return isNumber(trimmed) ? whole(Number(trimmed)) : undefined
}

/**
 * The value of a `Retry-After` header: seconds (decimals too), an HTTP-date, a number with a unit, or epoch seconds.
 *
 * @example
 * ```ts
 * import * as RetryAfter from "@switchgear/failures/RetryAfter"
 * import * as assert from "node:assert"
 *
 * const now = Date.UTC(2026, 7, 15, 12)
 * assert.strictEqual(RetryAfter.parse("1.5", now), 1500)
 * assert.strictEqual(RetryAfter.parse("5m", now), 300_000)
 * assert.strictEqual(RetryAfter.parse("Sat, 15 Aug 2026 12:01:30 GMT", now), 90_000)
 * assert.strictEqual(RetryAfter.parse("0", now), undefined)
 * assert.strictEqual(RetryAfter.parse("soon", now), undefined)
 * ```
 *
 * @since 0.1.0
 * @category parsing
 */
export const parse = (value: string, now: number): number | undefined => {
  const text = value.slice(0, 100).trim()
  if (isNumber(text)) return whole(bySize(Number(text), now))
  const after = duration(text)
  if (after !== undefined) return whole(after)
  const at = httpDate(text) ?? rfc3339(text)
  return at === undefined ? undefined : whole(at - now)
}

const pause =
  /\b(?:try(?:ing)?(?: (?:your|the|this) requests?)? again|retry(?:ing)?(?: (?:your|the|this) requests?)?|resets?|replenished|available(?: again)?|wait)(?: (?:will be|is|only))?(?: in| after| for)?(?: about| approximately| at least| another)?:? (?=[\d.])/gi
const moment =
  /\b(?:regain access|resets?|renews?|replenished|available again|try again|retry|resumes?|paused|until)(?: (?:on|at|after|until|from))?:? (?=\d{4}-\d\d-\d\d|[a-z]{3,9} \d{1,2},? \d{4})/gi

/**
 * The wait an error's words ask for: "try again in 7.66s", "retry after 6 seconds", "Resets in 92h27m28s", "regain access
 * on 2026-09-01 at 00:00 UTC".
 *
 * @example
 * ```ts
 * import * as RetryAfter from "@switchgear/failures/RetryAfter"
 * import * as assert from "node:assert"
 *
 * assert.strictEqual(RetryAfter.fromWords("Please try again in 7.66s.", 0), 7660)
 * assert.strictEqual(RetryAfter.fromWords("Please try again later.", 0), undefined)
 * ```
 *
 * @since 0.1.0
 * @category parsing
 */
export const fromWords = (message: string, now: number): number | undefined => {
  const text = message.slice(0, 4096)
  for (const found of text.matchAll(pause)) {
    const rest = text.slice(found.index + found[0].length, found.index + found[0].length + 120)
    const wait = whole(timeSpan(rest) ?? leading(rest)?.ms)
    if (wait !== undefined) return wait
  }
  for (const found of text.matchAll(moment)) {
    const rest = text.slice(found.index + found[0].length, found.index + found[0].length + 40)
    const date =
      /^\d{4}-\d\d-\d\d(?:(?:T| at | )\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)?(?: ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?/i.exec(
        rest
      )
    const at = date === null ? longDate(rest) : rfc3339(date[0])
    const wait = at === undefined ? undefined : whole(at - now)
    if (wait !== undefined) return wait
  }
  return undefined
}

/** Where vendors put a delay inside a body: on the body, on its error, on that error's metadata and details. */
const holders = (body: unknown): ReadonlyArray<unknown> => {
  const first = Array.isArray(body) ? body[0] : body
  const error = get(first, "error") ?? get(get(first, "response"), "error") ?? first
  const details = array(error, "details").slice(0, 32)
  return [error, first, get(error, "metadata"), ...details, ...details.map((detail) => get(detail, "metadata"))]
}

const protobuf = (value: unknown): number | undefined => {
  if (typeof value === "string") return duration(value.trim())
  const seconds = Number(get(value, "seconds") ?? 0)
  const nanos = Number(get(value, "nanos") ?? 0)
  return isObject(value) && Number.isFinite(seconds) && Number.isFinite(nanos)
    ? seconds * 1000 + nanos / 1e6
    : undefined
}

const fromBody = (body: unknown, now: number): number | undefined => {
  for (const holder of holders(body)) {
    const delay = whole(protobuf(get(holder, "retryDelay")) ?? protobuf(get(holder, "quotaResetDelay")))
    if (delay !== undefined) return delay
    for (const key of ["retry_after", "resets_in_seconds", "resets_at", "retry_after_seconds"]) {
      const value = get(holder, key)
      const wait = typeof value === "number" || typeof value === "string" ? parse(String(value), now) : undefined
      if (wait !== undefined) return wait
    }
  }
  return undefined
}

/** `remaining` is 0, and not Azure's -1, nor absent. */
const spent = (headers: Lower, name: string): boolean => /^0+(?:\.0+)?$/.test(headers[name]?.trim() ?? "")

const fromResets = (headers: Lower, now: number): number | undefined => {
  let furthest: number | undefined
  const consider = (value: string | undefined) => {
    const wait = value === undefined ? undefined : parse(value, now)
    if (wait !== undefined && wait > (furthest ?? 0)) furthest = wait
  }
  for (const name of Object.keys(headers)) {
    const dimension = /^x-ratelimit-reset-(.+)$/.exec(name)?.[1]
    if (dimension !== undefined && spent(headers, `x-ratelimit-remaining-${dimension}`)) consider(headers[name])
    const anthropic = /^(anthropic-.*ratelimit-.+)-reset$/.exec(name)?.[1]
    if (anthropic !== undefined && spent(headers, `${anthropic}-remaining`)) consider(headers[name])
  }
  if (furthest !== undefined) return furthest
  const remaining = headers["x-ratelimit-remaining"]
  if (remaining === undefined || spent(headers, "x-ratelimit-remaining")) consider(headers["x-ratelimit-reset"])
  return furthest
}

const quoted = (body: unknown): ReadonlyArray<unknown> =>
  holders(body)
    .slice(0, 3)
    .map((holder) => get(holder, "headers"))

/**
 * The best source an answer has (PROVIDERS "Retry-After"): `retry-after-ms`, `retry-after`, a delay in the body, words,
 * and last the reset of a limit of which nothing remains.
 *
 * @example
 * ```ts
 * import * as RetryAfter from "@switchgear/failures/RetryAfter"
 * import * as assert from "node:assert"
 *
 * const headers = { "Retry-After-Ms": "1250.5", "Retry-After": "2" }
 * assert.strictEqual(RetryAfter.read({ headers, now: 0 }), 1251)
 * ```
 *
 * @since 0.1.0
 * @category parsing
 */
export const read = (source: Source): number | undefined => {
  const { now } = source
  const headers = lower(source.headers, ...quoted(source.body))
  const explicit =
    milliseconds(headers["retry-after-ms"]) ??
    milliseconds(headers["x-ms-retry-after-ms"]) ??
    (headers["retry-after"] === undefined ? undefined : parse(headers["retry-after"], now))
  if (explicit !== undefined) return explicit
  const trusted = (wait: number | undefined) =>
    wait !== undefined && source.daily === true && wait < 60_000 ? undefined : wait
  const message = source.message ?? string(get(source.body, "error"), "message") ?? ""
  return (
    trusted(fromBody(source.body, now)) ??
    trusted(fromWords(message, now)) ??
    (source.resets === false ? undefined : fromResets(headers, now))
  )
}
