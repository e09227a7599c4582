import * as Classifier from "@switchgear/failures/Classifier"
import type { Failure } from "@switchgear/failures/Failure"
import * as Thrown from "@switchgear/failures/Thrown"
import type { ErrorKind } from "./scenarioSchema.js"

/** What a vendor says when this goes wrong. */
export interface ErrorAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** What a failing call meets: an answer, or a broken connection. */
export type Fault = { readonly _tag: "Answer"; readonly answer: ErrorAnswer } | { readonly _tag: "Reset" }

const json = { "content-type": "application/json" }

const said = (status: number, type: string, message: string, code: string | null = null): Fault => ({
  _tag: "Answer",
  answer: { status, headers: json, body: JSON.stringify({ error: { message, type, code } }) }
})

const faults: Readonly<Record<ErrorKind, Fault>> = {
  server_error: said(500, "server_error", "The server had an error while processing your request"),
  overloaded: said(503, "overloaded_error", "The engine is currently overloaded, please try again later"),
  rate_limit: said(429, "requests", "Rate limit reached for requests", "rate_limit_exceeded"),
  quota_exhausted: said(429, "insufficient_quota", "You exceeded your current quota", "insufficient_quota"),
  network_error: { _tag: "Reset" },
  timeout: said(504, "timeout", "Gateway timeout"),
  auth: said(401, "invalid_request_error", "Incorrect API key provided", "invalid_api_key"),
  model_unavailable: said(404, "invalid_request_error", "The model does not exist", "model_not_found"),
  client_fault: said(400, "invalid_request_error", "Invalid request")
}

const waiting = new Map<string, Fault>()

/**
 * `retryAfter` in ms; on the wire it is whole seconds, rounded up. The same fault is the same object, so that what it
 * means is found out once.
 */
export const faultOf = (kind: ErrorKind, retryAfter?: number): Fault => {
  const fault = faults[kind]
  if (fault._tag === "Reset" || retryAfter === undefined) return fault
  const seconds = String(Math.max(1, Math.ceil(retryAfter / 1_000)))
  const key = `${kind} ${seconds}`
  const known = waiting.get(key)
  if (known !== undefined) return known
  const headers = { ...fault.answer.headers, "retry-after": seconds }
  const made: Fault = { _tag: "Answer", answer: { ...fault.answer, headers } }
  if (waiting.size > 10_000) waiting.clear()
  waiting.set(key, made)
  return made
}

const encoder = new TextEncoder()

/** The product's own reading of it: the same classifier that reads real vendors. */
export const meaningOf = (fault: Fault): Failure => {
  if (fault._tag === "Reset") return Thrown.classify({ code: "ECONNRESET" }, { now: 0, provider: "openai" })
  const { body, headers, status } = fault.answer
  const verdict = Classifier.classify({
    provider: "openai",
    status,
    headers,
    body: encoder.encode(body),
    now: 0,
    asked: "json"
  })
  if (verdict._tag === "Failure") return verdict.failure
  throw new Error(`status ${status} was taken for a success`)
}
