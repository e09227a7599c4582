/**
 * Reading JSON of unknown shape without trusting it: own keys only, every type checked, nothing thrown.
 */

export type Json = Readonly<Record<string, unknown>>

export const isObject = (u: unknown): u is Json => typeof u === "object" && u !== null && !Array.isArray(u)

/** An own property, so that `constructor`, `__proto__` and friends are never found on a prototype. */
export const get = (u: unknown, key: string): unknown => (isObject(u) && Object.hasOwn(u, key) ? u[key] : undefined)

export const object = (u: unknown, key: string): Json | undefined => {
  const value = get(u, key)
  return isObject(value) ? value : undefined
}

export const array = (u: unknown, key: string): ReadonlyArray<unknown> => {
  const value = get(u, key)
  return Array.isArray(value) ? value : []
}

export const string = (u: unknown, key: string): string | undefined => {
  const value = get(u, key)
  return typeof value === "string" ? value : undefined
}

/** A string with something in it. */
export const filled = (u: unknown, key: string): boolean => {
  const value = get(u, key)
  return typeof value === "string" && value !== ""
}

/** `undefined` for what is not JSON; JSON's own `undefined` does not exist. */
export const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** An object or a list in text, or `undefined`. Scalars are not worth a parse. */
export const parseComposite = (text: string): unknown => {
  const trimmed = text.charCodeAt(0) === 0xfeff ? text.slice(1).trim() : text.trim()
  return trimmed[0] === "{" || trimmed[0] === "[" ? parse(trimmed) : undefined
}
