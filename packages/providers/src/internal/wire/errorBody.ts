import { get, isObject, type Json, parse, stringAt } from "./json.js"
import type { Fault } from "./model.js"

/** An error's members, whichever dialect it is in: both put them under `error`. */
export const faultOf = (body: unknown): Fault | undefined => {
  const error = get(body, "error")
  if (typeof error === "string" && error !== "") return { type: undefined, code: undefined, message: error }
  if (!isObject(error)) return undefined
  const code = get(error, "code")
  return {
    type: stringAt(error, "type"),
    code: typeof code === "string" ? code : stringAt(get(error, "details"), "error_code"),
    message: stringAt(error, "message") ?? ""
  }
}

export const faultIn = (text: string): Fault | undefined => faultOf(parse(text))

const messagesTypes: { readonly [status: number]: string } = {
  400: "invalid_request_error",
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  408: "timeout_error",
  413: "request_too_large",
  422: "invalid_request_error",
  429: "rate_limit_error",
  503: "overloaded_error",
  504: "timeout_error",
  529: "overloaded_error"
}

/** Without a status an error is what its type says. */
const messagesTypeOf = ({ code, type }: Fault): string => {
  const word = `${type ?? ""} ${code ?? ""}`
  if (/rate_limit|quota|\btokens\b|\brequests\b/.test(word)) return "rate_limit_error"
  if (/overload|slow_down|unavailable/.test(word)) return "overloaded_error"
  if (/authentication|api_key/.test(word)) return "authentication_error"
  if (/permission/.test(word)) return "permission_error"
  if (/not_found/.test(word)) return "not_found_error"
  if (/timeout/.test(word)) return "timeout_error"
  return /invalid_request/.test(word) ? "invalid_request_error" : "api_error"
}

/** As Messages words it. */
export const messagesError = (fault: Fault, status: number | undefined): Json => {
  const ofStatus = status === undefined || status < 400 ? undefined : (messagesTypes[status] ?? "")
  const type =
    ofStatus === undefined
      ? messagesTypeOf(fault)
      : ofStatus || (status !== undefined && status < 500 ? "invalid_request_error" : "api_error")
  return {
    type: "error",
    error: {
      type,
      message: fault.message,
      ...(fault.code !== undefined && { details: { error_code: fault.code } })
    }
  }
}

interface Word {
  readonly type: string
  readonly code: string | null
}

const chatWords: { readonly [type: string]: Word } = {
  invalid_request_error: { type: "invalid_request_error", code: null },
  authentication_error: { type: "authentication_error", code: "invalid_api_key" },
  billing_error: { type: "insufficient_quota", code: "insufficient_quota" },
  permission_error: { type: "permission_error", code: "permission_denied" },
  not_found_error: { type: "invalid_request_error", code: "not_found" },
  request_too_large: { type: "invalid_request_error", code: "request_too_large" },
  rate_limit_error: { type: "rate_limit_error", code: "rate_limit_exceeded" },
  timeout_error: { type: "server_error", code: "timeout" },
  api_error: { type: "server_error", code: null },
  overloaded_error: { type: "server_error", code: "overloaded" }
}

/** As Chat Completions words it. */
export const chatError = (fault: Fault, status: number | undefined): Json => {
  const otherwise: Word = {
    type: status !== undefined && status < 500 && status >= 400 ? "invalid_request_error" : "server_error",
    code: null
  }
  const word =
    fault.type !== undefined && Object.hasOwn(chatWords, fault.type) ? (chatWords[fault.type] ?? otherwise) : otherwise
  return { error: { message: fault.message, type: word.type, param: null, code: fault.code ?? word.code } }
}
