import { randomUUID } from "node:crypto"
import type { IncomingMessage, ServerResponse } from "node:http"
import type { ClientError } from "./clientError.js"

/** One request and the answer to it, with what the access log will say. */
export interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** Taken from the caller or made (ROUTING W9). */
  readonly id: string
  readonly method: string
  /** Without its query, which is logged nowhere. */
  readonly path: string
  /** ns, of the clock's monotonic reading. */
  readonly startedAt: bigint
  /** Of a request to an endpoint that takes one, once it is read. */
  body?: Body
  /** Calls that went upstream. */
  attempts: number
  readonly log: Log
}

/** Its bytes, or what is wrong with them. */
export type Body = Uint8Array | ClientError

export interface Log {
  model?: string
  stream?: boolean
  served?: string
  substituted?: boolean
  /** What went wrong: an error's code, or the kind of a failure after output. */
  error?: string
}

const goodId = /^[\x21-\x7e]{1,128}$/

export const make = (request: IncomingMessage, response: ServerResponse, startedAt: bigint): Exchange => {
  const given = request.headers["x-request-id"]
  const url = request.url ?? "/"
  const query = url.indexOf("?")
  return {
    request,
    response,
    id: typeof given === "string" && goodId.test(given) ? given : randomUUID(),
    method: request.method ?? "GET",
    path: query < 0 ? url : url.slice(0, query),
    startedAt,
    attempts: 0,
    log: {}
  }
}

/** A header of the request, if it was given once. */
export const header = (exchange: Exchange, name: string): string | undefined => {
  const value = exchange.request.headers[name]
  return typeof value === "string" ? value : undefined
}
