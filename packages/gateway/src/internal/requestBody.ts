import type { IncomingMessage } from "node:http"
import * as Effect from "effect/Effect"
import { type ClientError, tooLarge, wrongContentType } from "./clientError.js"
import type { Body, Exchange } from "./exchange.js"
import { header } from "./exchange.js"

const json = /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i

/**
 * Reads the request's body to its end; it is refused as soon as it is known to be larger than the limit (ROUTING W5).
 * Returns what stops the reading.
 */
export const readBody = (exchange: Exchange, limit: number, take: (body: Body) => void): (() => void) => {
  const { request, response } = exchange
  const type = header(exchange, "content-type")
  const encoding = header(exchange, "content-encoding")
  const refuse = (error: ClientError) => {
    take(error)
    return () => {}
  }
  if ((type !== undefined && !json.test(type)) || (encoding !== undefined && encoding !== "identity")) {
    return refuse(wrongContentType)
  }
  if (Number(header(exchange, "content-length") ?? 0) > limit) return refuse(tooLarge(limit))
  if (header(exchange, "expect")?.toLowerCase() === "100-continue") response.writeContinue()
  const chunks: Array<Buffer> = []
  let size = 0
  const stop = () => {
    request.off("data", onData).off("end", onEnd)
  }
  const onData = (chunk: Buffer) => {
    size += chunk.length
    chunks.push(chunk)
    if (size <= limit) return
    stop()
    request.pause()
    take(tooLarge(limit))
  }
  const onEnd = () => {
    stop()
    const [first] = chunks
    take(chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks, size))
  }
  request.on("data", onData).on("end", onEnd)
  return stop
}

/** Bytes thrown away after an answer that came before the request's end, at most. */
const lingerBytes = 64 * 1024 * 1024

/**
 * Reads on without keeping anything until the caller has stopped sending. Closing at once would reset the connection,
 * and many a caller would see that instead of the answer.
 */
export const linger = (request: IncomingMessage): Effect.Effect<void> =>
  Effect.async<void>((resume) => {
    let size = 0
    const done = () => {
      request.off("data", onData).off("end", done).off("close", done)
      resume(Effect.void)
    }
    const onData = (chunk: Buffer) => {
      size += chunk.length
      if (size > lingerBytes) done()
    }
    request.on("data", onData).on("end", done).on("close", done)
    request.resume()
  }).pipe(Effect.timeoutOption("2 seconds"), Effect.asVoid)
