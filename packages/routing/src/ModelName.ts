/**
 * The model's name in a request's JSON bytes: replaced in place, so that a body goes to another target as it came but
 * for that name (ROUTING W6).
 *
 * @since 0.1.0
 */
import { findMembers, type Range } from "./internal/jsonBytes.js"

const encoder = new TextEncoder()

const isSame = (body: Uint8Array, range: Range, value: Uint8Array): boolean => {
  if (range.end - range.start !== value.length) return false
  for (let index = 0; index < value.length; index++) if (body[range.start + index] !== value[index]) return false
  return true
}

/**
 * The body with the value of its top-level `model` key replaced, every other byte as it was.
 *
 * Where the key stands more than once (readers disagree on which of them counts) or is written with escapes, each is
 * replaced. If all have the name already, the same array comes back. `undefined` if the body is no JSON object with
 * such a key. The body is taken as checked: what is malformed after that key may stay so.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as ModelName from "@switchgear/routing/ModelName"
 *
 * const body = new TextEncoder().encode(`{ "model": "gpt-4o", "user": { "model": "t" } }`)
 * const replaced = ModelName.replace(body, "llama-3")
 * assert.strictEqual(new TextDecoder().decode(replaced), `{ "model": "llama-3", "user": { "model": "t" } }`)
 * ```
 *
 * @since 0.1.0
 * @category rewriting
 */
export const replace = (body: Uint8Array, name: string): Uint8Array | undefined => {
  const ranges = findMembers(body, "model")
  if (ranges === undefined || ranges.length === 0) return undefined
  const value = encoder.encode(JSON.stringify(name))
  const changed = ranges.filter((range) => !isSame(body, range, value))
  if (changed.length === 0) return body
  let size = body.length
  for (const range of changed) size += value.length - (range.end - range.start)
  const result = new Uint8Array(size)
  let read = 0
  let write = 0
  for (const range of changed) {
    result.set(body.subarray(read, range.start), write)
    write += range.start - read
    result.set(value, write)
    write += value.length
    read = range.end
  }
  result.set(body.subarray(read), write)
  return result
}
