/**
 * What an error body says, wherever its vendor puts it: signals (codes, types, reasons), a number where a status would
 * be, the words. Reads JSON of any shape, bounded in depth and breadth.
 */
import { array, get, isObject, type Json, object, parseComposite, string } from "./json.js"

export interface Reading {
  /** Codes, types and reasons in lower case, the most telling first. */
  readonly signals: ReadonlyArray<string>
  /** The vendor's own code as it wrote it. */
  readonly code: string | undefined
  /** A number from 400 to 599 where a status would be. */
  readonly status: number | undefined
  /** All the words found, the error's own message first. */
  readonly words: string
  /** The error's own message. */
  readonly message: string
  /** Google's names of the quotas that were violated. */
  readonly quotas: string
  /** OpenRouter's moderation gives reasons instead of a code. */
  readonly moderated: boolean
}

interface Draft {
  readonly signals: Array<string>
  readonly weak: Array<string>
  code: string | undefined
  status: number | undefined
  readonly words: Array<string>
  readonly quotas: Array<string>
  moderated: boolean
}

const bounded = (text: string): string => text.slice(0, 4096)

/** Without the word that the bound cut in two: half a key is part of a key. */
const whole = (text: string): string => (text.length < 4096 ? text : text.replace(/\S+$/, ""))

const statusOf = (value: unknown): number | undefined => {
  const number =
    typeof value === "number" ? value : typeof value === "string" && /^\d{3}$/.test(value) ? Number(value) : 0
  return Number.isInteger(number) && number >= 400 && number <= 599 ? number : undefined
}

const signal = (draft: Draft, list: Array<string>, value: unknown) => {
  const number = statusOf(value)
  if (number !== undefined) draft.status ??= number
  else if ((typeof value === "string" && value !== "") || typeof value === "number") {
    const text = String(value).slice(0, 120)
    // `com.amazon.coral.service#ThrottlingException`, `ThrottlingException:http://internal.amazon.com/...`
    const name = text.split(":")[0]?.split("#").pop() ?? ""
    list.push(name.toLowerCase())
    draft.code ??= name
  }
}

const say = (draft: Draft, value: unknown, depth: number) => {
  if (typeof value === "string") {
    if (value === "") return
    draft.words.push(bounded(value))
    // A body quoted as text: OpenRouter's `metadata.raw`, Google's SDK's `message`.
    if (value.length < 65_536 && (value.startsWith("{") || value.startsWith("["))) {
      const inner = parseComposite(value)
      if (inner !== undefined) gather(draft, inner, depth + 1)
    }
  } else if (isObject(value)) gather(draft, value, depth + 1)
  else if (Array.isArray(value)) {
    for (const item of value.slice(0, 4)) say(draft, get(item, "msg") ?? get(item, "message"), depth + 1)
  }
}

const fields = (draft: Draft, error: Json) => {
  const metadata = object(error, "metadata")
  signal(draft, draft.signals, get(object(error, "details"), "error_code"))
  signal(draft, draft.signals, get(error, "error_code"))
  for (const key of ["limit_source", "error_type", "error_code"]) signal(draft, draft.signals, get(metadata, key))
  if (array(metadata, "reasons").length > 0 || string(metadata, "flagged_input") !== undefined) draft.moderated = true
  for (const detail of array(error, "details").slice(0, 32)) {
    const reason = string(detail, "reason")
    if (reason !== undefined) draft.signals.push(reason.toLowerCase())
    for (const violation of array(detail, "violations").slice(0, 32)) {
      draft.quotas.push(string(violation, "quotaId") ?? "")
    }
    const limit = object(detail, "metadata")
    draft.quotas.push(string(limit, "quota_limit") ?? "")
    const unit = string(limit, "quota_unit") ?? ""
    draft.quotas.push(unit.startsWith("1/d") ? "PerDay" : unit.startsWith("1/min") ? "PerMinute" : "")
  }
  const inner = object(error, "innererror")
  signal(draft, draft.signals, get(inner, "code"))
  for (const key of ["code", "__type", "error_type", "reason"]) signal(draft, draft.signals, get(error, key))
  signal(draft, draft.weak, get(error, "type"))
  signal(draft, draft.weak, get(error, "status"))
  for (const key of ["status_code", "statusCode", "raw_status_code"]) draft.status ??= statusOf(get(error, key))
}

const gather = (draft: Draft, value: unknown, depth: number) => {
  if (depth > 4) return
  const root = Array.isArray(value)
    ? (value.slice(0, 16).find((item) => get(item, "error") !== undefined) ?? value[0])
    : value
  if (!isObject(root)) return
  const error = get(root, "error") ?? get(object(root, "response"), "error") ?? array(root, "errors")[0]
  if (isObject(error)) {
    // One error inside another's wrapping (LiteLLM, some proxies).
    const wrapped = object(error, "error")
    if (wrapped !== undefined) gather(draft, error, depth + 1)
    fields(draft, error)
    say(draft, get(error, "message") ?? get(error, "msg") ?? get(error, "detail"), depth)
    say(draft, get(object(error, "metadata"), "raw"), depth)
  } else if (typeof error === "string") say(draft, error, depth)
  for (const choice of array(root, "choices").slice(0, 8)) {
    const failed = object(choice, "error")
    if (failed !== undefined) gather(draft, { error: failed }, depth + 1)
  }
  for (const key of Object.keys(root).slice(0, 64)) {
    // Bedrock's event stream names the exception by the member it is in.
    if (key.length < 80 && key.endsWith("Exception") && isObject(root[key])) {
      draft.signals.push(key.toLowerCase())
      draft.code ??= key
      say(draft, get(root[key], "message"), depth)
    }
  }
  fields(draft, root)
  for (const key of ["message", "Message", "detail", "msg", "title", "error_description"])
    say(draft, get(root, key), depth)
}

/** Reads an error body; `errortype` is the value of `x-amzn-errortype`. */
export const read = (body: unknown, errortype?: string): Reading => {
  const draft: Draft = {
    signals: [],
    weak: [],
    code: undefined,
    status: undefined,
    words: [],
    quotas: [],
    moderated: false
  }
  signal(draft, draft.signals, errortype)
  if (typeof body === "string") say(draft, body, 0)
  else gather(draft, body, 0)
  return {
    signals: [...draft.signals, ...draft.weak].slice(0, 64),
    code: draft.code,
    status: draft.status,
    words: bounded([...new Set(draft.words)].join("\n")),
    message: whole(draft.words[0] ?? ""),
    quotas: draft.quotas.slice(0, 64).join(" ").slice(0, 4096),
    moderated: draft.moderated
  }
}
