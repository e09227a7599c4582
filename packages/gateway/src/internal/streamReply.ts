import type { ServerResponse } from "node:http"
import type { StreamAnswer } from "@switchgear/providers/Provider"
import { ProviderError } from "@switchgear/providers/Provider"
import * as Effect from "effect/Effect"
import type { Exchange } from "./exchange.js"
import { common } from "./reply.js"

type Headers = Readonly<Record<string, string>>

const streamHeaders: Headers = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache",
  // nginx would gather the events and deliver them in lumps.
  "x-accel-buffering": "no"
}

/** Starts a stream's answer. */
export const openStream = (exchange: Exchange, status: number, headers: Headers): void => {
  exchange.response.writeHead(status, { ...headers, ...streamHeaders, ...common(exchange) })
}

/** Until the client has read enough, or is gone. */
const drained = (response: ServerResponse): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      response.off("drain", done).off("close", done)
      resolve()
    }
    response.on("drain", done).on("close", done)
  })

/**
 * Passes a stream on, chunk by chunk as it came, no faster than the client reads. It is a plain loop, because a stream
 * element per chunk costs half the throughput (DESIGN 11). Interrupted, it leaves the upstream call at once.
 */
export const pump = (response: ServerResponse, body: StreamAnswer["body"]): Effect.Effect<void, ProviderError> =>
  Effect.async((resume) => {
    const iterator = body[Symbol.asyncIterator]()
    let left = false
    const loop = async () => {
      while (!left) {
        const next = await iterator.next()
        if (next.done === true || left) return
        if (!response.write(next.value)) await drained(response)
      }
    }
    loop().then(
      () => resume(Effect.void),
      (cause: unknown) => resume(cause instanceof ProviderError ? Effect.fail(cause) : Effect.die(cause))
    )
    return Effect.suspend(() => {
      left = true
      const leaving = iterator.return?.()
      return leaving === undefined ? Effect.void : Effect.ignore(Effect.tryPromise(() => leaving))
    })
  })

/** Streams whose first output has not come yet; one sweep looks after all of them, so that a call pays for no timer. */
export interface HeldBack {
  readonly add: (exchange: Exchange, now: number) => () => void
  readonly sweep: (now: number) => void
}

/** After `holdBack` ms without output a client gets a 200 and comments, so that no proxy cuts it (ROUTING W9). */
export const heldBack = (holdBack: number): HeldBack => {
  const waiting = new Map<Exchange, number>()
  return {
    add: (exchange, now) => {
      waiting.set(exchange, now)
      return () => {
        waiting.delete(exchange)
      }
    },
    sweep: (now) => {
      for (const [exchange, since] of waiting) {
        if (now - since < holdBack) continue
        waiting.set(exchange, now)
        if (!exchange.response.headersSent) {
          exchange.response.writeHead(200, { ...streamHeaders, "x-request-id": exchange.id })
        }
        exchange.response.write(": waiting for the model\n\n")
      }
    }
  }
}
