import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import * as Exchange from "./exchange.js"

/** The gateway could not listen where it was told to. */
export class ListenError extends Data.TaggedError("ListenError")<{
  readonly host: string
  readonly port: number
  readonly reason: "InUse" | "NotAllowed" | "Unavailable"
}> {
  override get message(): string {
    const where = `${this.host}:${this.port}`
    if (this.reason === "InUse") return `${where} is in use; stop the other program or choose another server.port`
    if (this.reason === "NotAllowed") return `this user may not listen on ${where}; choose a port above 1023`
    return `cannot listen on ${where}; is server.host an address of this machine?`
  }
}

export interface Listening {
  readonly host: string
  readonly port: number
  /** No new calls are taken: the gateway is on its way out. */
  readonly draining: () => boolean
}

export interface Options {
  readonly host: string
  readonly port: number
  /** ms that running calls get at the end. */
  readonly drain: number
}

const reasons: Readonly<Record<string, ListenError["reason"]>> = { EADDRINUSE: "InUse", EACCES: "NotAllowed" }

/**
 * A plain node:http server with one fiber per request (DESIGN 11). A caller who leaves interrupts its fiber. When the
 * scope closes, running calls get `drain` to finish (ROUTING W8); the server listens until they have, so that it can
 * say it is not ready.
 */
export const listen = <R>(
  options: Options,
  handle: (exchange: Exchange.Exchange, draining: boolean) => Effect.Effect<void, never, R>
): Effect.Effect<Listening, ListenError, R | Scope.Scope> =>
  Effect.gen(function* () {
    const fork = Runtime.runFork(yield* Effect.runtime<R>())
    const idle = yield* Deferred.make<void>()
    const running = new Set<ReturnType<typeof fork>>()
    let draining = false

    const onRequest = (request: IncomingMessage, response: ServerResponse) => {
      if (draining) response.shouldKeepAlive = false
      const fiber = fork(handle(Exchange.make(request, response), draining))
      running.add(fiber)
      fiber.addObserver(() => {
        running.delete(fiber)
        if (draining && running.size === 0) Deferred.unsafeDone(idle, Effect.void)
      })
      response.once("close", () => {
        if (!response.writableFinished) fiber.unsafeInterruptAsFork(FiberId.none)
      })
    }
    const server = createServer(onRequest)
    // The body is asked for only when it is going to be read.
    server.on("checkContinue", onRequest)

    const stop = Effect.gen(function* () {
      draining = true
      if (running.size > 0) yield* within(options.drain, Deferred.await(idle))
      const closed = Effect.async<void>((resume) => {
        server.close(() => resume(Effect.void))
        server.closeIdleConnections()
      })
      for (const fiber of running) fiber.unsafeInterruptAsFork(FiberId.none)
      yield* within(1000, closed)
      server.closeAllConnections()
    })

    yield* Effect.acquireRelease(
      Effect.async<void, ListenError>((resume) => {
        server.once("error", (cause: NodeJS.ErrnoException) => {
          const reason = reasons[cause.code ?? ""] ?? "Unavailable"
          resume(Effect.fail(new ListenError({ host: options.host, port: options.port, reason })))
        })
        server.listen(options.port, options.host, () => resume(Effect.void))
      }),
      () => stop
    )
    const address = server.address()
    return {
      host: options.host,
      port: typeof address === "object" && address !== null ? address.port : options.port,
      draining: () => draining
    }
  })

/** Waits for something, but no longer than so many ms; a finalizer is not interruptible otherwise. */
const within = (ms: number, effect: Effect.Effect<void>): Effect.Effect<void> =>
  Effect.interruptible(Effect.asVoid(Effect.timeoutOption(effect, ms)))
