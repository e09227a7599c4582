import type { IncomingMessage } from "node:http"
import * as Effect from "effect/Effect"
import type { ClientError } from "./clientError.js"
import type { Dialect } from "./dialects.js"
import type { Exchange } from "./exchange.js"
import { linger } from "./requestBody.js"

type Headers = Readonly<Record<string, string>>

/** Every answer carries these (ROUTING W9). */
export const common = (exchange: Exchange): Headers => ({
  "x-request-id": exchange.id,
  "x-switchgear-attempts": String(exchange.attempts)
})

/** Whole seconds, rounded up, within 1..3600 (ROUTING W2). */
export const retryAfterSeconds = (ms: number): string => String(Math.min(3600, Math.max(1, Math.ceil(ms / 1000))))

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0"

/** A complete answer. */
export const send = (
  exchange: Exchange,
  status: number,
  headers: Headers,
  body: Uint8Array | string
): Effect.Effect<void> => {
  const { request, response } = exchange
  if (response.destroyed || response.headersSent) return Effect.void
  const bytes = typeof body === "string" ? Buffer.from(body) : body
  const early = !request.complete && hasBody(request)
  response.writeHead(status, {
    ...headers,
    ...common(exchange),
    "content-length": bytes.length,
    ...(early ? { connection: "close" } : {})
  })
  if (exchange.method === "HEAD") {
    response.end()
    return Effect.void
  }
  if (!early) {
    response.end(bytes)
    return Effect.void
  }
  response.write(bytes)
  return Effect.ensuring(
    linger(request),
    Effect.sync(() => response.end())
  )
}

export const sendJson = (
  exchange: Exchange,
  status: number,
  value: unknown,
  headers: Headers = {}
): Effect.Effect<void> =>
  send(exchange, status, { "content-type": "application/json; charset=utf-8", ...headers }, JSON.stringify(value))

/** An error in the dialect its client speaks. */
export const sendError = (exchange: Exchange, dialect: Dialect, error: ClientError): Effect.Effect<void> => {
  exchange.log.error = error.code
  return sendJson(exchange, error.status, dialect.body(error, exchange.id), {
    ...(dialect.idHeader === undefined ? {} : { [dialect.idHeader]: exchange.id }),
    ...error.headers,
    ...(error.retryAfter === undefined ? {} : { "retry-after": retryAfterSeconds(error.retryAfter) })
  })
}
