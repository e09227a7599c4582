import type { ClientError } from "./clientError.js"

/** How one family of clients is spoken to when something went wrong. */
export interface Dialect {
  /** The body of an error. */
  readonly body: (error: ClientError) => unknown
  /** The frame that ends a stream after output; a dialect's sign of a good end never follows it (ROUTING F7). */
  readonly frame: (error: ClientError) => string
}

const openAiTypes: Readonly<Record<number, string>> = {
  401: "authentication_error",
  402: "insufficient_quota",
  403: "permission_error",
  429: "rate_limit_error"
}

const openAiBody = (error: ClientError) => ({
  error: {
    message: error.message,
    type: openAiTypes[error.status] ?? (error.status < 500 ? "invalid_request_error" : "server_error"),
    param: error.param ?? null,
    code: error.code
  }
})

const openAi: Dialect = {
  body: openAiBody,
  frame: (error) => `data: ${JSON.stringify(openAiBody(error))}\n\n`
}

/** By the wire a client speaks (ROUTING W1). */
export const dialects = { openAi } satisfies Record<string, Dialect>
