import { isObject } from "./json.js"

/** Lower-case names, no prototype. */
export type Lower = Readonly<Record<string, string>>

/**
 * Headers as they come from anywhere: a record (values may be lists), a list of pairs, or a `Headers` (which is a list
 * of pairs when walked). What is not text is left out; names are compared without case.
 */
export const lower = (...sources: ReadonlyArray<unknown>): Lower => {
  const out: Record<string, string> = Object.create(null)
  const put = (name: unknown, value: unknown) => {
    const text = Array.isArray(value) ? value[0] : value
    if (typeof name !== "string" || (typeof text !== "string" && typeof text !== "number")) return
    const key = name.toLowerCase()
    // Whoever comes first wins: the answer's own headers come before those quoted in its body.
    if (!(key in out)) out[key] = String(text)
  }
  for (const source of sources) {
    if (source === undefined || source === null) continue
    if (isIterable(source)) {
      let left = 512
      for (const pair of source) {
        if (left-- === 0) break
        if (Array.isArray(pair)) put(pair[0], pair[1])
      }
    } else if (isObject(source)) {
      for (const key of Object.keys(source).slice(0, 512)) put(key, source[key])
    }
  }
  return out
}

const isIterable = (u: unknown): u is Iterable<unknown> =>
  typeof u === "object" && u !== null && Symbol.iterator in u && typeof u[Symbol.iterator] === "function"
