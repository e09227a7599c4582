/** From what was read to a failure: signals, then the status, then the words (PROVIDERS "How to decide"). */
import { type Failure, type Kind, make, type Scope } from "../Failure.js"
import type { ProviderKind } from "../ProviderKind.js"
import * as Redact from "../Redact.js"
import * as RetryAfter from "../RetryAfter.js"
import { kindOfStatus, rowOf, typeStatuses, words } from "../Tables.js"
import { type Lower, lower } from "./headers.js"
import { type Reading, read } from "./reading.js"

export interface Refused {
  readonly provider: ProviderKind
  /** The HTTP status if it is that of a failure; absent for what came in a 2xx or in a stream. */
  readonly status?: number | undefined
  readonly headers?: unknown
  /** Parsed JSON, or text. */
  readonly body: unknown
  readonly now: number
  readonly secrets?: ReadonlyArray<string> | undefined
  /** What to say when the answer says nothing. */
  readonly otherwise?: string
}

const typeStatus = (signals: ReadonlyArray<string>): number | undefined => {
  for (const signal of signals) {
    const found = typeStatuses.find(([, types]) => types.includes(signal))
    if (found !== undefined) return found[0]
  }
  return undefined
}

/** A proxy's 5xx may wrap the true status; a 4xx is taken at its word. */
const effective = (status: number | undefined, reading: Reading): number | undefined =>
  status === undefined
    ? (reading.status ?? typeStatus(reading.signals))
    : status >= 500 && reading.status !== undefined
      ? reading.status
      : status

/** "Limit 30000, Requested 60000": it will never fit, however long one waits. */
const neverFits = (text: string): boolean => {
  const limit = /limit:? ([\d,]{1,15})/i.exec(text)?.[1]?.replaceAll(",", "")
  const requested = /requested:? ([\d,]{1,15})/i.exec(text)?.[1]?.replaceAll(",", "")
  return (
    limit !== undefined && requested !== undefined && Number(requested) > Number(limit) && /token|\bTPM\b/i.test(text)
  )
}

const refine = (base: Kind, on: number | undefined, text: string): Kind => {
  if ((on === 429 || on === 413) && neverFits(text)) return "context_length"
  for (const row of words) {
    const applies = on === undefined || base === "server_error" ? row.on.includes("5xx") : false
    if (
      (applies || (on !== undefined && row.on.includes(on))) &&
      row.words.test(text) &&
      row.unless?.test(text) !== true
    ) {
      return row.kind
    }
  }
  return base
}

const quotaScope = (reading: Reading): Scope | undefined => {
  if (/Per(?:Base)?Model/i.test(reading.quotas)) return "model"
  if (/PerProject/i.test(reading.quotas)) return "project"
  const text = reading.words
  if (/\bkey limit|limit (?:of|for) (?:this|your|the) (?:api )?key/i.test(text)) return "key"
  if (/\b(?:workspace|project)\b.{0,40}\b(?:limits?|quota|cap)\b/i.test(text)) return "project"
  if (
    /(?:reached|exceeded) for (?:model )?[`"']?[\w./:-]{2,100}[`"']? (?:in organization|on (?:tokens|requests))/i.test(
      text
    )
  ) {
    return "model"
  }
  return undefined
}

const decide = (
  provider: ProviderKind,
  status: number | undefined,
  reading: Reading,
  headers: Lower
): { readonly kind: Kind; readonly scope?: Scope | undefined } => {
  const on = effective(status, reading)
  if (provider === "openrouter" && on === 402 && RetryAfter.parse(headers["retry-after"] ?? "", 0) !== undefined) {
    return { kind: "rate_limit" }
  }
  if (/Per(?:Day|Month|Week)/i.test(reading.quotas)) return { kind: "quota_exhausted", scope: quotaScope(reading) }
  if (/Per(?:Minute|Second|Hour)/i.test(reading.quotas)) return { kind: "rate_limit" }
  if (reading.moderated && (on === 400 || on === 403)) return { kind: "content_filter" }
  const row = rowOf(provider, reading.signals)
  if (row !== undefined && row.refine !== true) {
    return { kind: row.kind, scope: row.scope ?? (row.kind === "quota_exhausted" ? quotaScope(reading) : undefined) }
  }
  const base = row?.kind ?? (on === undefined ? "server_error" : kindOfStatus(provider, on))
  const kind = refine(base, row === undefined ? on : 429, reading.words)
  if (kind === "quota_exhausted") return { kind, scope: quotaScope(reading) }
  return kind === base ? { kind, scope: row?.scope } : { kind }
}

/** The failure a refusal means, whatever its shape. */
export const refusal = (input: Refused): Failure => {
  const own = lower(input.headers)
  const reading = read(input.body, own["x-amzn-errortype"] ?? own["x-amzn-error-type"])
  const { kind, scope } = decide(input.provider, input.status, reading, own)
  const limited = kind === "rate_limit" || kind === "quota_exhausted" || (kind === "overloaded" && input.status === 429)
  const message = Redact.text(reading.message, input.secrets)
  const status = input.status ?? reading.status
  return make(kind, message === "" ? (input.otherwise ?? `HTTP ${input.status ?? "error"}`) : message, {
    scope,
    status,
    code: reading.code === undefined ? undefined : Redact.code(reading.code, input.secrets),
    retryAfter: RetryAfter.read({
      headers: own,
      body: input.body,
      message: reading.words,
      now: input.now,
      daily: /Per(?:Day|Month|Week)/i.test(reading.quotas),
      resets: limited
    })
  })
}
