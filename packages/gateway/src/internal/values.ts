import * as Redacted from "effect/Redacted"
import * as Cursor from "./cursor.js"
import { type Decoder, integer, text } from "./decoder.js"

/** A secret, wrapped as soon as it is read. What is wrong with it is said without showing it. */
export const secret: Decoder<Redacted.Redacted<string>> = (at) => {
  const value = text("a key")(at)
  if (value === undefined) return undefined
  return /^[\x21-\x7e]+$/.test(value)
    ? Redacted.make(value)
    : Cursor.fault(at, "holds a space, a line break or another character that no HTTP header can carry")
}

/** An http(s) address without credentials; not shown in faults, because what it holds may be secret. */
export const baseUrl: Decoder<string> = (at) => {
  const value = text('an address such as "https://api.openai.com/v1"')(at)
  if (value === undefined) return undefined
  const url = URL.canParse(value) ? new URL(value) : undefined
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:")) {
    return Cursor.fault(at, 'must be an http or https address such as "https://api.openai.com/v1"')
  }
  if (url.username !== "" || url.password !== "") {
    return Cursor.fault(at, "must not hold a user or password; give the key as apiKey")
  }
  if (url.search !== "" || url.hash !== "") return Cursor.fault(at, "must not hold a query (?) or a fragment (#)")
  return url.href.replace(/\/+$/, "")
}

export const port: Decoder<number> = integer("a port", 0, 65_535)

export const host: Decoder<string> = (at) => {
  const value = text("an address to listen on")(at)
  if (value === undefined) return undefined
  return /^[A-Za-z0-9.:_-]+$/.test(value) && !/^https?:/.test(value)
    ? value
    : Cursor.fault(at, 'must be a bare address such as 127.0.0.1, "::1" or localhost, without scheme, port or path')
}

/** Whether an address to listen on is reached from this machine alone. */
export const isLoopback = (host: string): boolean => /^(?:127\.[0-9.]+|::1|localhost)$/i.test(host)

/** A name that a header can carry: the served model's is sent in one (ROUTING W3). */
export const headerSafe =
  (decode: Decoder<string>): Decoder<string> =>
  (at) => {
    const value = decode(at)
    if (value === undefined || (/^[\x21-\x7e]+$/.test(value) && value.length <= 256)) return value
    return Cursor.fault(at, "must be up to 256 visible ASCII characters without spaces")
  }

const units: Record<string, number> = { "": 1, b: 1, kib: 1024, mib: 1024 ** 2 }

/** A size in bytes, or with a unit ("10 MiB"). */
export const size: Decoder<number> = (at) => {
  const value = Cursor.scalar(at)
  const match = typeof value === "string" ? /^(\d+) ?(b|kib|mib)?$/i.exec(value.trim()) : null
  const bytes = match === null ? value : Number(match[1]) * (units[(match[2] ?? "").toLowerCase()] ?? Number.NaN)
  return typeof bytes === "number" && Number.isInteger(bytes) && bytes > 0 && bytes <= 1024 ** 3
    ? bytes
    : Cursor.fault(at, 'must be a size above 0 and at most 1024 MiB: bytes, or text such as "10 MiB"')
}
