import type { Failure } from "@switchgear/failures/Failure"
import * as Redact from "@switchgear/failures/Redact"
import type { ProviderError } from "@switchgear/providers/Provider"
import type { Rejected } from "@switchgear/routing/Rejected"
import type { Failed, Reason, Refused, RouteError } from "@switchgear/routing/RouteError"
import { type ClientError, invalid, unknownModel } from "./clientError.js"

/** Statuses that say what is wrong with the request itself: they are the client's own (ROUTING W4). */
const clientsOwn: ReadonlyArray<number> = [400, 404, 405, 409, 413, 415, 422]

interface Face {
  readonly status: (failure: Failure) => number
  readonly code: string
  /** Instead of what the upstream said: where that is the operator's business alone. */
  readonly message?: string
}

const serverStatus = (failure: Failure): number =>
  failure.status !== undefined && failure.status >= 500 && failure.status <= 599 ? failure.status : 502

const own =
  (otherwise: number) =>
  ({ status }: Failure): number =>
    status !== undefined && clientsOwn.includes(status) ? status : otherwise

/** Our key, our account: nothing that a client could mend or should know of (ROUTING W4). */
const ours: Face = {
  status: () => 503,
  code: "provider_unavailable",
  message: "The provider cannot serve this model at present."
}

const faces: Readonly<Record<Failure["kind"], Face>> = {
  rate_limit: { status: () => 429, code: "rate_limit_exceeded" },
  quota_exhausted: {
    status: () => 429,
    code: "insufficient_quota",
    message: "The provider's quota for this model is used up."
  },
  overloaded: { status: () => 503, code: "provider_overloaded" },
  server_error: { status: serverStatus, code: "provider_error" },
  timeout: { status: () => 504, code: "provider_timeout" },
  network_error: { status: () => 502, code: "provider_unreachable" },
  auth: ours,
  model_unavailable: { status: own(503), code: "model_not_found" },
  context_length: { status: own(400), code: "context_length_exceeded" },
  content_filter: { status: own(400), code: "content_filter" },
  client_fault: { status: own(400), code: "invalid_request" },
  cancelled: { status: () => 499, code: "cancelled" },
  circuit_open: { status: () => 503, code: "provider_circuit_open" },
  unknown: { status: () => 502, code: "provider_error" }
}

/** The caller's own key: what is wrong with it is theirs to know. */
const theirs: Face = {
  status: ({ status }) => (status === 403 ? 403 : 401),
  code: "invalid_api_key"
}

/** A classified failure as a client gets it; `own`: the key was the caller's. */
export const ofFailure = (failure: Failure, own = false): ClientError => {
  const face = own && failure.kind === "auth" ? theirs : faces[failure.kind]
  return {
    status: face.status(failure),
    code: face.code,
    message: face.message ?? Redact.text(failure.message),
    ...(failure.retryAfter === undefined ? {} : { retryAfter: failure.retryAfter })
  }
}

/** What the upstream said about the request goes on in its own words, where its client reads the same dialect. */
const ofProviderError = ({ failure, response }: ProviderError, own: boolean): ClientError => {
  const error = ofFailure(failure, own)
  if (response === undefined || !clientsOwn.includes(error.status) || failure.kind === "auth") return error
  const said = detail(response.body)
  return {
    ...error,
    ...(said.message === undefined ? {} : { message: Redact.text(said.message) }),
    ...(said.code === undefined ? {} : { code: said.code }),
    ...(said.param === undefined ? {} : { param: said.param })
  }
}

/** An error's body is small; a larger one is no error that a person wrote. */
const readable = 64 * 1024

const detail = (body: Uint8Array): { readonly message?: string; readonly code?: string; readonly param?: string } => {
  if (body.length > readable) return {}
  try {
    const parsed: unknown = JSON.parse(Buffer.from(body).toString())
    const error = isRecord(parsed) && isRecord(parsed["error"]) ? parsed["error"] : {}
    const text = (key: string) => {
      const value = error[key]
      return typeof value === "string" && value !== "" && value.length <= 2000 ? { [key]: value } : {}
    }
    return { ...text("message"), ...text("code"), ...text("param") }
  } catch {
    return {}
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

/** Whether a client learns what is left of a cooldown, or how long it is as a whole (ROUTING W2). */
export type RetryAfter = "remaining" | "cooldown"

/** ROUTING W2: names no provider. */
const ofRefusal = ({ cooldown, kind, retryAfter, status }: Refused, mode: RetryAfter): ClientError => ({
  status,
  code: kind === "circuit_open" ? "provider_circuit_open" : "provider_saturated",
  message:
    kind === "circuit_open" ? "LLM provider circuit breaker is open" : "The provider has no room for this call now.",
  // Only a command ends it: the longest that a client may be told.
  retryAfter:
    (mode === "cooldown" ? cooldown : undefined) ??
    retryAfter ??
    (kind === "circuit_open" ? Number.MAX_SAFE_INTEGER : 1000)
})

const ofOne = (each: Failed | Refused, mode: RetryAfter, own = false): ClientError =>
  each._tag === "Failed" ? ofProviderError(each.error, own) : ofRefusal(each, mode)

/** The first one's error, and in words what became of all (ROUTING F6). */
const ofExhausted = (errors: ReadonlyArray<Failed | Refused>, primary: ClientError, mode: RetryAfter): ClientError => {
  const parts = errors.map((each) => {
    const error = ofOne(each, mode)
    return `${each._tag === "Failed" ? `${each.model}: ` : ""}${error.code} (${error.status}): ${error.message}`
  })
  return { ...primary, message: `All ${errors.length} targets failed. ${parts.join(" | ")}` }
}

const ofReason = (model: string, reason: Reason, mode: RetryAfter, own: boolean): ClientError => {
  switch (reason._tag) {
    case "Failed":
    case "Refused":
      return ofOne(reason, mode, own)
    case "Exhausted": {
      const [first] = reason.errors
      return ofExhausted(reason.errors, first === undefined ? ofFailure(nothing) : ofOne(first, mode), mode)
    }
    case "NotAllowed":
      return { status: 403, code: "model_not_allowed", message: "This model is not allowed here.", param: "model" }
    case "PolicyUnavailable":
      return {
        status: 503,
        code: "policy_unavailable",
        message: "Whether this model is allowed cannot be said now; try again."
      }
    case "UnknownModel":
      return unknownModel(model)
    case "Ineligible":
      return {
        ...invalid(`This model cannot serve the request: ${Redact.text(reason.reason)}`),
        code: "unsupported_by_model"
      }
  }
}

const nothing: Failure = { kind: "unknown", scope: "none", message: "No target could be called." }

/** What a client is told about a call that was not served; `own`: with a key or an upstream of its own. */
export const ofCallError = (error: RouteError | Rejected, mode: RetryAfter, own: boolean): ClientError => {
  if (error._tag === "RouteError") return ofReason(error.model, error.reason, mode, own)
  const { code, message, retryAfter, status } = error
  return { status, code, message, ...(retryAfter === undefined ? {} : { retryAfter }) }
}
