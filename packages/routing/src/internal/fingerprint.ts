import type { Call } from "../Call.js"
import { sha256 } from "./sha256.js"

const decoder = new TextDecoder()

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

/** A JSON value as text, the keys of its objects in order. */
const write = (value: unknown): string => {
  if (typeof value === "string") return JSON.stringify(value)
  if (!isObject(value)) return String(value)
  if (Array.isArray(value)) return `[${value.map(write).join(",")}]`
  const keys = Object.keys(value).sort()
  let text = ""
  for (const key of keys) text += `${text === "" ? "" : ","}${JSON.stringify(key)}:${write(value[key])}`
  return `{${text}}`
}

/** JSON whose bytes are the same whatever its spacing and the order of its keys; text that is no JSON as it is. */
export const canonical = (body: Uint8Array): string => {
  const text = decoder.decode(body)
  try {
    return write(JSON.parse(text))
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
