/** `start` inclusive, `end` exclusive. */
export interface Range {
  readonly start: number
  readonly end: number
}

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const openBracket = 0x5b
const backslash = 0x5c
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

const isSpace = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

const skipSpace = (body: Uint8Array, from: number): number => {
  let at = from
  while (isSpace(body[at])) at++
  return at
}

/**
 * The place after the closing quote of the string that opens at `from`; -1 if it never closes. Bytes of UTF-8 beyond
 * ASCII are never a quote or a backslash, and the native search makes a string of megabytes cheap.
 */
const skipString = (body: Uint8Array, from: number): number => {
  let at = body.indexOf(quote, from + 1)
  while (at !== -1) {
    let slashes = 0
    while (body[at - 1 - slashes] === backslash && at - 1 - slashes > from) slashes++
    if (slashes % 2 === 0) return at + 1
    at = body.indexOf(quote, at + 1)
  }
  return -1
}

/** The place after the value that starts at `from`; -1 if there is none. No recursion: depth costs no stack. */
const skipValue = (body: Uint8Array, from: number): number => {
  const first = body[from]
  if (first === quote) return skipString(body, from)
  let at = from
  if (first === openBrace || first === openBracket) {
    let depth = 0
    while (at < body.length) {
      const byte = body[at]
      if (byte === quote) {
        at = skipString(body, at)
        if (at === -1) return -1
        continue
      }
      at++
      if (byte === openBrace || byte === openBracket) depth++
      else if ((byte === closeBrace || byte === closeBracket) && --depth === 0) return at
    }
    return -1
  }
  while (at < body.length) {
    const byte = body[at]
    if (byte === comma || byte === closeBrace || byte === closeBracket || isSpace(byte)) break
    at++
  }
  return at === from ? -1 : at
}

const decoder = new TextDecoder()

/** Whether the string in quotes at `start` to `end` reads as `key`, which is plain ASCII. */
const reads = (body: Uint8Array, start: number, end: number, key: string): boolean => {
  const inside = body.subarray(start + 1, end - 1)
  if (inside.includes(backslash)) {
    try {
      return JSON.parse(decoder.decode(body.subarray(start, end))) === key
    } catch {
      return false
    }
  }
  if (inside.length !== key.length) return false
  for (let index = 0; index < key.length; index++) if (inside[index] !== key.charCodeAt(index)) return false
  return true
}

/**
 * Where the values of the top-level members named `key` (plain ASCII) stand, in order; `undefined` if the bytes are no
 * JSON object as far as that can be told without reading every value. Total, and linear in the body's length.
 */
export const findMembers = (body: Uint8Array, key: string): ReadonlyArray<Range> | undefined => {
  const found: Array<Range> = []
  // a reader of text drops a byte order mark, so it is no fault
  const marked = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf
  let at = skipSpace(body, marked ? 3 : 0)
  if (body[at] !== openBrace) return undefined
  at = skipSpace(body, at + 1)
  if (body[at] === closeBrace) return found
  while (body[at] === quote) {
    const end = skipString(body, at)
    if (end === -1) return undefined
    const separator = skipSpace(body, end)
    if (body[separator] !== colon) return undefined
    const start = skipSpace(body, separator + 1)
    const after = skipValue(body, start)
    if (after === -1) return undefined
    if (reads(body, at, end, key)) found.push({ start, end: after })
    at = skipSpace(body, after)
    if (body[at] === closeBrace) return found
    if (body[at] !== comma) return undefined
    at = skipSpace(body, at + 1)
  }
  return undefined
}

const encoder = new TextEncoder()

/** A string as JSON bytes. */
export const encodeString = (text: string): Uint8Array => encoder.encode(JSON.stringify(text))

const holds = (body: Uint8Array, { end, start }: Range, value: Uint8Array): boolean => {
  if (end - start !== value.length) return false
  for (let index = 0; index < value.length; index++) if (body[start + index] !== value[index]) return false
  return true
}

/** The body with the values of the top-level members named `key` replaced; `undefined` if it has none. */
export const replaceMembers = (body: Uint8Array, key: string, value: Uint8Array): Uint8Array | undefined => {
  const ranges = findMembers(body, key)
  if (ranges === undefined || ranges.length === 0) return undefined
  let size = body.length
  let same = true
  for (const range of ranges) {
    size += value.length - (range.end - range.start)
    same = same && holds(body, range, value)
  }
  if (same) return body
  // from Node's pool, and not cleared first: every byte of it is written below
  const result: Uint8Array = Buffer.allocUnsafe(size)
  let read = 0
  let write = 0
  for (const { end, start } of ranges) {
    result.set(body.subarray(read, start), write)
    write += start - read
    result.set(value, write)
    write += value.length
    read = end
  }
  result.set(body.subarray(read), write)
  return result
}
