import { isRecord } from "./decode.js"
import type { Outcome } from "./model.js"

/** The kind a status alone speaks for. The `failures` package knows what the vendors' bodies add to it. */
const kindOfStatus = (status: number): string => {
  switch (status) {
    case 401:
    case 403:
      return "auth"
    case 408:
    case 504:
      return "timeout"
    case 402:
      return "quota_exhausted"
    case 429:
      return "rate_limit"
    case 529:
      return "overloaded"
    default:
      return status >= 500 ? "server_error" : "client_fault"
  }
}

const number = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined)

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> => isRecord(value)

const failed = (kind: string, status?: number, retryAfter?: number): Outcome => ({
  _tag: "Failure",
  kind,
  status,
  retryAfter
})

/** ms of a `Retry-After` in seconds, the one form that needs no clock. */
const retryAfterOf = (headers: unknown): number | undefined => {
  if (!isObject(headers) || typeof headers.get !== "function") return undefined
  const value: unknown = headers.get("retry-after")
  return typeof value === "string" && /^\d+(\.\d+)?$/.test(value.trim()) ? Number(value) * 1_000 : undefined
}

const isNetworkCode = (code: unknown): boolean => typeof code === "string" && /^(E[A-Z_]+|UND_ERR_[A-Z_]+)$/.test(code)

/** What a rejected promise says: by the error's own `kind`, its name, its status, the code of the socket's error. */
export const outcomeOfError = (error: unknown): Outcome => {
  if (!isObject(error)) return failed("unknown")
  if (error._tag === "CircuitOpenError" || error._tag === "CircuitOpen") return { _tag: "Released" }
  const response = isObject(error.response) ? error.response : undefined
  const status = number(error.status) ?? number(error.statusCode) ?? number(response?.status)
  if (typeof error.kind === "string") return failed(error.kind, status, number(error.retryAfter))
  if (error.name === "AbortError") return { _tag: "Released" }
  if (error.name === "TimeoutError") return failed("timeout")
  if (status !== undefined) {
    return failed(kindOfStatus(status), status, retryAfterOf(error.headers) ?? retryAfterOf(response?.headers))
  }
  const cause = isObject(error.cause) ? error.cause : undefined
  if (isNetworkCode(error.code) || isNetworkCode(cause?.code)) return failed("network_error")
  return failed("unknown")
}

/** What a resolved promise says. `fetch` resolves with a 503 as it does with a 200, so a `Response` is looked at. */
export const outcomeOfValue = (value: unknown): Outcome => {
  if (isObject(value) && value.ok === false && typeof value.status === "number" && isObject(value.headers)) {
    return failed(kindOfStatus(value.status), value.status, retryAfterOf(value.headers))
  }
  return { _tag: "Success" }
}
