/** JSON of unknown shape, read without trusting it: own members only, nothing thrown. */

export type Json = Readonly<Record<string, unknown>>

export const isObject = (u: unknown): u is Json => typeof u === "object" && u !== null && !Array.isArray(u)

/** An own member; `undefined` for none, and for `null`, by which both dialects mean the same. */
export const get = (u: unknown, key: string): unknown => {
  const value = isObject(u) && Object.hasOwn(u, key) ? u[key] : undefined
  return value === null ? undefined : value
}

export const stringAt = (u: unknown, key: string): string | undefined => {
  const value = get(u, key)
  return typeof value === "string" ? value : undefined
}

/** A count: whole, finite, not negative. */
export const countAt = (u: unknown, key: string): number | undefined => {
  const value = get(u, key)
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : undefined
}

export const listAt = (u: unknown, key: string): ReadonlyArray<unknown> => {
  const value = get(u, key)
  return Array.isArray(value) ? value : []
}

/** `undefined` for what is not JSON. */
export const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const decoder = new TextDecoder()
const encoder = new TextEncoder()

export const parseBytes = (bytes: Uint8Array): unknown => parse(decoder.decode(bytes))

export const bytesOf = (value: unknown): Uint8Array => encoder.encode(JSON.stringify(value))

/** Deeper than any schema or argument that means something, and shallow enough for what writes it by recursion. */
const deepest = 100

export const isShallow = (value: unknown, depth = 0): boolean =>
  typeof value !== "object" ||
  value === null ||
  (depth < deepest && Object.values(value).every((one) => isShallow(one, depth + 1)))

const isExactNumber = (value: number): boolean =>
  Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value)

/** Whether it can be read and written again without loss. */
export const isExact = (value: unknown): boolean => isShallow(value) && everyNumber(value)

const everyNumber = (value: unknown): boolean => {
  if (typeof value === "number") return isExactNumber(value)
  return typeof value !== "object" || value === null || Object.values(value).every(everyNumber)
}

/** An object in text; `undefined` for anything else. No text at all is how some say an empty one. */
export const parseObject = (text: string): Json | undefined => {
  const value = text.trim() === "" ? {} : parse(text)
  return isObject(value) ? value : undefined
}
