import type { ClientError } from "./clientError.js"
import type { Exchange } from "./exchange.js"

/** How one family of clients is spoken to when something went wrong. `id` is the request's. */
export interface Dialect {
  /** The body of an error. */
  readonly body: (error: ClientError, id: string) => unknown
  /** The frame that ends a stream after output; a dialect's sign of a good end never follows it (ROUTING F7). */
  readonly frame: (error: ClientError, id: string) => string
  /** The header in which its clients look for the request's id, beside `x-request-id`. */
  readonly idHeader?: string
  /** The answer of `GET /v1/models`. When a model was made is not known here. */
  readonly models: (names: ReadonlyArray<string>) => unknown
}

const openAiTypes: Readonly<Record<number, string>> = {
  401: "authentication_error",
  402: "insufficient_quota",
  403: "permission_error",
  429: "rate_limit_error"
}

const openAiError = ({ code, message, param, status }: ClientError) => ({
  message,
  type: openAiTypes[status] ?? (status < 500 ? "invalid_request_error" : "server_error"),
  param: param ?? null,
  code
})

const openAiBody = (error: ClientError) => ({ error: openAiError(error) })

const openAiModels: Dialect["models"] = (names) => ({
  object: "list",
  data: names.map((id) => ({ id, object: "model", created: 0, owned_by: "switchgear" }))
})

const openAi: Dialect = {
  body: openAiBody,
  models: openAiModels,
  frame: (error) => `data: ${JSON.stringify(openAiBody(error))}\n\n`
}

/** Its streams have typed events. The error stands in the event and below `error`: clients look in either place. */
const responses: Dialect = {
  body: openAiBody,
  models: openAiModels,
  frame: (error) => {
    const { code, message, param } = openAiError(error)
    return `event: error\ndata: ${JSON.stringify({ type: "error", code, message, param, ...openAiBody(error) })}\n\n`
  }
}

const anthropicTypes: Readonly<Record<number, string>> = {
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  503: "overloaded_error",
  504: "timeout_error",
  529: "overloaded_error"
}

/** The code is no part of the error's own fields there; `details.error_code` is where that vendor puts its finer ones. */
const anthropicBody = ({ code, message, status }: ClientError, id: string) => ({
  type: "error",
  error: {
    type: anthropicTypes[status] ?? (status < 500 ? "invalid_request_error" : "api_error"),
    message,
    details: { error_code: code }
  },
  request_id: id
})

const anthropic: Dialect = {
  body: anthropicBody,
  frame: (error, id) => `event: error\ndata: ${JSON.stringify(anthropicBody(error, id))}\n\n`,
  idHeader: "request-id",
  models: (names) => ({
    data: names.map((id) => ({ type: "model", id, display_name: id, created_at: "1970-01-01T00:00:00Z" })),
    has_more: false,
    first_id: names[0] ?? null,
    last_id: names.at(-1) ?? null
  })
}

/** By the wire a client speaks (ROUTING W1). */
export const dialects = { openAi, responses, anthropic } satisfies Record<string, Dialect>

/** Who asks where no wire is spoken: the official Anthropic clients send a version everywhere. */
export const dialectOf = ({ request }: Exchange): Dialect =>
  request.headers["anthropic-version"] === undefined ? openAi : anthropic
