/** An error as a client gets it, before it is put into the client's dialect. Fit to be shown: no key, no address. */
export interface ClientError {
  readonly status: number
  readonly code: string
  readonly message: string
  /** The field at fault, as a path (`messages[0].role`). */
  readonly param?: string
  /** ms until a try makes sense. */
  readonly retryAfter?: number
  /** Further headers, such as `allow`. */
  readonly headers?: Readonly<Record<string, string>>
}

export const invalid = (message: string, param?: string): ClientError => ({
  status: 400,
  code: "invalid_request",
  message,
  ...(param === undefined ? {} : { param })
})

export const tooLarge = (limit: number): ClientError => ({
  status: 413,
  code: "request_too_large",
  message: `The request body is larger than ${limit} bytes, the most this gateway takes.`
})

export const wrongContentType: ClientError = {
  status: 415,
  code: "unsupported_media_type",
  message: "The body must be JSON: send it uncompressed with the header content-type: application/json."
}

export const unknownPath = (path: string): ClientError => ({
  status: 404,
  code: "unknown_url",
  message: `There is no ${path.slice(0, 100)} here.`
})

export const wrongMethod = (method: string, path: string, allowed: string): ClientError => ({
  status: 405,
  code: "method_not_allowed",
  message: `${path} does not take ${method}; use ${allowed}.`,
  headers: { allow: allowed }
})

export const unknownModel = (model: string): ClientError => ({
  status: 404,
  code: "model_not_found",
  message: `The model ${JSON.stringify(model.slice(0, 256))} does not exist here; GET /v1/models lists those that do.`,
  param: "model"
})

export const loopbackOnly: ClientError = {
  status: 403,
  code: "loopback_only",
  message: "This address answers only callers on the gateway's own machine."
}

export const shuttingDown: ClientError = {
  status: 503,
  code: "shutting_down",
  message: "The gateway is shutting down and takes no new calls; try again.",
  retryAfter: 1000
}

/** A defect of ours: what it was stands in the log. */
export const internal: ClientError = {
  status: 500,
  code: "internal_error",
  message: "The gateway failed to handle this request; its log names the request id."
}
