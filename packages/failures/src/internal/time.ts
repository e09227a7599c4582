/**
 * Dates and durations as vendors write them. Written out because `Date.parse` accepts almost anything ("slow 5" is a
 * day in May 2001) and reads what has no zone as local time.
 */

const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]

const utc = (
  year: string,
  month: number,
  day: string,
  hour: string,
  minute: string,
  second: string,
  offset = 0
): number | undefined => {
  const [y, d, h, m, s] = [Number(year), Number(day), Number(hour), Number(minute), Number(second)]
  if (month < 0 || month > 11 || d < 1 || d > 31 || h > 23 || m > 59 || s >= 61) return undefined
  const at = Date.UTC(y, month, d, h, m) + s * 1000 - offset
  return Number.isFinite(at) ? at : undefined
}

const month = (name: string): number => months.indexOf(name.toLowerCase())

/** The three forms of an HTTP-date: IMF-fixdate, RFC 850, asctime. */
export const httpDate = (text: string): number | undefined => {
  const imf = /^\w{3}, (\d{1,2}) (\w{3}) (\d{4}) (\d\d):(\d\d):(\d\d) (?:GMT|UTC|\+0000)$/i.exec(text)
  if (imf !== null) {
    const [, d = "", name = "", y = "", h = "", m = "", s = ""] = imf
    return utc(y, month(name), d, h, m, s)
  }
  const rfc850 = /^\w{6,9}, (\d\d)-(\w{3})-(\d\d) (\d\d):(\d\d):(\d\d) GMT$/i.exec(text)
  if (rfc850 !== null) {
    const [, d = "", name = "", y = "", h = "", m = "", s = ""] = rfc850
    return utc(`20${y}`, month(name), d, h, m, s)
  }
  const asctime = /^\w{3} (\w{3}) {1,2}(\d{1,2}) (\d\d):(\d\d):(\d\d) (\d{4})$/i.exec(text)
  if (asctime !== null) {
    const [, name = "", d = "", h = "", m = "", s = "", y = ""] = asctime
    return utc(y, month(name), d, h, m, s)
  }
  return undefined
}

/** RFC 3339, and a date and time joined by a space or by "at"; without a zone it is UTC, as vendors mean it. */
export const rfc3339 = (text: string): number | undefined => {
  const found =
    /^(\d{4})-(\d\d)-(\d\d)(?:(?:T| at | )(\d\d):(\d\d)(?::(\d\d(?:\.\d{1,9})?))?)? ?(Z|UTC|GMT|([+-])(\d\d):?(\d\d))?$/i.exec(
      text
    )
  if (found === null) return undefined
  const [, y = "", mo = "", d = "", h = "0", m = "0", s = "0", , sign, oh = "0", om = "0"] = found
  const offset = (Number(oh) * 60 + Number(om)) * 60_000
  return utc(y, Number(mo) - 1, d, h, m, s, sign === "-" ? -offset : offset)
}

/** A date in words, UTC: "September 1, 2026 at 00:00". */
export const longDate = (text: string): number | undefined => {
  const found = /^([a-z]{3,9}) (\d{1,2}),? (\d{4})(?:,?(?: at)? (\d\d):(\d\d))?/i.exec(text)
  if (found === null) return undefined
  const [, name = "", d = "", y = "", h = "0", m = "0"] = found
  return utc(y, month(name.slice(0, 3)), d, h, m, "0")
}

const units: ReadonlyArray<readonly [RegExp, number]> = [
  [/^(?:ns|nanos?|nanoseconds?)$/i, 1e-6],
  [/^(?:us|µs|μs|micros?|microseconds?)$/i, 1e-3],
  [/^(?:ms|msecs?|millis?|milliseconds?)$/i, 1],
  [/^(?:s|secs?|seconds?)$/i, 1000],
  [/^(?:m|mins?|minutes?)$/i, 60_000],
  [/^(?:h|hrs?|hours?)$/i, 3_600_000],
  [/^(?:d|days?)$/i, 86_400_000],
  [/^(?:w|weeks?)$/i, 604_800_000]
]

/**
 * ms of the duration a text begins with, not rounded, and how much of the text that was: `6m0s`, `2m59.56s`, `120ms`,
 * `1 minute and 5 seconds`. Stops at the first part that is no number with a unit.
 */
export const leading = (text: string): { readonly ms: number; readonly length: number } | undefined => {
  let ms = 0
  let length = 0
  for (let parts = 0; parts < 8; parts++) {
    const part = /^(?:,? ?(?:and )?)(\d{1,15}(?:\.\d{1,15})?) ?([a-zµμ]{1,12})/i.exec(text.slice(length, length + 60))
    const unit = units.find(([pattern]) => pattern.test(part?.[2] ?? ""))
    if (part === null || unit === undefined) break
    ms += Number(part[1]) * unit[1]
    length += part[0].length
  }
  return length === 0 ? undefined : { ms, length }
}

/** ms, not rounded. All of the text must be a duration with units. */
export const duration = (text: string): number | undefined => {
  const found = leading(text)
  return found !== undefined && found.length === text.length ? found.ms : undefined
}

/** .NET's `[d.]hh:mm:ss`, as Azure's API Management writes when a quota comes back. */
export const timeSpan = (text: string): number | undefined => {
  const found = /^(?:(\d{1,4})\.)?(\d\d):(\d\d):(\d\d)/.exec(text)
  if (found === null) return undefined
  const [, d = "0", h = "", m = "", s = ""] = found
  return (((Number(d) * 24 + Number(h)) * 60 + Number(m)) * 60 + Number(s)) * 1000
}
