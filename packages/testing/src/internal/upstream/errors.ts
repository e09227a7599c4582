import type { Call, Complaint } from "./model.js"

const openAiErrors: Readonly<Record<number, readonly [type: string, code: string | null, message: string]>> = {
  400: ["invalid_request_error", null, "Invalid request."],
  401: ["invalid_request_error", "invalid_api_key", "Incorrect API key provided."],
  403: ["invalid_request_error", "unsupported_country_region_territory", "Country not supported."],
  404: ["invalid_request_error", "model_not_found", "The model does not exist or you do not have access to it."],
  408: ["timeout", null, "Request timed out."],
  413: ["invalid_request_error", null, "Request body too large."],
  422: ["invalid_request_error", null, "Unprocessable."],
  429: ["requests", "rate_limit_exceeded", "Rate limit reached for requests per min."],
  503: ["server_error", "server_is_overloaded", "The engine is currently overloaded, please try again later."],
  529: ["server_error", "server_is_overloaded", "Overloaded."]
}

const anthropicErrors: Readonly<Record<number, readonly [type: string, message: string]>> = {
  400: ["invalid_request_error", "Invalid request."],
  401: ["authentication_error", "invalid x-api-key"],
  403: ["permission_error", "Your API key does not have permission to use the specified resource."],
  404: ["not_found_error", "model: not found"],
  408: ["timeout_error", "Request timed out."],
  413: ["request_too_large", "Request exceeds the maximum size"],
  422: ["invalid_request_error", "Unprocessable."],
  429: ["rate_limit_error", "Number of request tokens has exceeded your per-minute rate limit"],
  503: ["overloaded_error", "Overloaded"],
  529: ["overloaded_error", "Overloaded"]
}

const credential = (call: Call): string =>
  call.headers["authorization"] ?? call.headers["x-api-key"] ?? call.headers["api-key"] ?? "none"

const messageOf = (call: Call, complaint: Complaint, otherwise: string): string => {
  const message = complaint.message ?? otherwise
  return complaint.echoKey === true ? `${message} You sent: ${credential(call)}` : message
}

/** An error as the body of an answer, or as the data of an Anthropic error frame. */
export const errorBody = (call: Call, status: number, complaint: Complaint): Readonly<Record<string, unknown>> => {
  if (call.endpoint === "messages") {
    const [type, message] = anthropicErrors[status] ?? ["api_error", "Internal server error"]
    const error = { type: complaint.type ?? type, message: messageOf(call, complaint, message) }
    return {
      type: "error",
      error: complaint.code === undefined ? error : { ...error, details: { error_code: complaint.code } },
      request_id: `req_${call.index}`
    }
  }
  const [type, code, message] = openAiErrors[status] ?? ["server_error", null, "The server had an error."]
  return {
    error: {
      message: messageOf(call, complaint, message),
      type: complaint.type ?? type,
      param: null,
      code: complaint.code ?? (complaint.type === undefined ? code : null)
    }
  }
}

/** An error inside a 200 stream. */
export const errorFrame = (call: Call, status: number, complaint: Complaint): string => {
  const body = errorBody(call, status, complaint)
  switch (call.endpoint) {
    case "messages":
      return `event: error\ndata: ${JSON.stringify(body)}\n\n`
    case "responses":
      return `event: error\ndata: ${JSON.stringify({ type: "error", sequence_number: 1, ...body })}\n\n`
    default:
      return `data: ${JSON.stringify(body)}\n\n`
  }
}
