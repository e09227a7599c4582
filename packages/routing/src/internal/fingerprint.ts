import type { Call } from "../Call.js"
import { sha256 } from "./sha256.js"

const decoder = new TextDecoder()

/** A value with the keys of its objects in order. */
const sorted = (value: unknown): unknown => {
  if (typeof value !== "object" || value === null) return value
  if (Array.isArray(value)) return value.map(sorted)
  // entries, not assignments: a key may be called `__proto__`
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  return Object.fromEntries(entries.map(([key, inner]) => [key, sorted(inner)]))
}

/** JSON whose bytes are the same whatever its spacing and the order of its keys; text that is no JSON as it is. */
export const canonical = (body: Uint8Array): string => {
  const text = decoder.decode(body)
  try {
    return JSON.stringify(sorted(JSON.parse(text)))
  } catch {
    return text
  }
}

/** SHA-256 over all that shapes the answer (ROUTING I1): what is asked, of which model, as a stream or not. */
export const fingerprintOf = (call: Call): string => {
  const { journal, request } = call
  if (journal.fingerprint?.request === request) return journal.fingerprint.value
  const { body, fallback, model, operation, stream } = request
  const value = sha256(`${JSON.stringify([operation, model, stream, fallback !== false])}\n${canonical(body)}`)
  journal.fingerprint = { request, value }
  return value
}
