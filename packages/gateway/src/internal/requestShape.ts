import { jsonPlace } from "../JsonPlace.js"
import { type ClientError, invalid } from "./clientError.js"

/** What the gateway has to know of a body; the rest of it is the provider's to judge. */
export interface Checked {
  readonly model: string
  readonly stream: boolean
}

/** Looks at a body: what routing needs, and the shape without which no provider could answer. */
export type Check = (body: unknown) => Checked | ClientError

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const typeOf = (value: unknown): string =>
  value === undefined
    ? "missing"
    : value === null
      ? "null"
      : Array.isArray(value)
        ? "an array"
        : `a ${typeof value}`.replace("a object", "an object")

const wrong = (param: string, wanted: string, value: unknown): ClientError =>
  invalid(
    value === undefined
      ? `"${param}" is missing; it must be ${wanted}.`
      : `"${param}" must be ${wanted}, not ${typeOf(value)}.`,
    param
  )

/** The body as JSON, or where it stops being that (ROUTING W5). */
export const parse = (bytes: Uint8Array): { readonly value: unknown } | { readonly error: ClientError } => {
  if (bytes.length === 0) return { error: invalid("The body is empty; it must be a JSON object.") }
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8")
  try {
    return { value: JSON.parse(text) }
  } catch {
    const { line, column, found } = jsonPlace(text)
    return { error: invalid(`The body is not valid JSON: unexpected ${found} at line ${line}, column ${column}.`) }
  }
}

/** What every endpoint asks of a body, and then what this one does. */
const check =
  (own: (body: Fields) => ClientError | undefined): Check =>
  (value) => {
    if (!isFields(value)) return invalid(`The body must be a JSON object, not ${typeOf(value)}.`)
    const { model, stream } = value
    if (typeof model !== "string") return wrong("model", "a string", model)
    if (model === "") return invalid('"model" is empty.', "model")
    const fault = own(value)
    if (fault !== undefined) return fault
    if (stream !== undefined && stream !== null && typeof stream !== "boolean")
      return wrong("stream", "true or false", stream)
    return { model, stream: stream === true }
  }

/** Messages, each an object with a role: what Chat Completions and Messages have in common. */
export const withMessages = check(({ messages }) => {
  if (!Array.isArray(messages)) return wrong("messages", "an array", messages)
  if (messages.length === 0) return invalid('"messages" is empty; it must hold at least one message.', "messages")
  for (let i = 0; i < messages.length; i++) {
    const message: unknown = messages[i]
    if (!isFields(message)) return wrong(`messages[${i}]`, "an object", message)
    if (typeof message["role"] !== "string") return wrong(`messages[${i}].role`, "a string", message["role"])
  }
  return undefined
})

/** Responses take their input from elsewhere as well: a stored prompt, or a conversation that goes on. */
export const withOptionalInput = check(({ input }) =>
  input === undefined || input === null || typeof input === "string" || Array.isArray(input)
    ? undefined
    : wrong("input", "a string or an array", input)
)

export const withInput = check(({ input }) => {
  if (typeof input !== "string" && !Array.isArray(input)) return wrong("input", "a string or an array", input)
  return input.length === 0 ? invalid('"input" is empty.', "input") : undefined
})
