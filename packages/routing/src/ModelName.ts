/**
 * The model's name in a request's JSON bytes: replaced in place, so that a body goes to another target as it came but
 * for that name (ROUTING W6).
 *
 * @since 0.1.0
 */
import { encodeString, replaceMembers } from "./internal/jsonBytes.js"

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
export const replace = (body: Uint8Array, name: string): Uint8Array | undefined =>
  replaceMembers(body, "model", encodeString(name))
