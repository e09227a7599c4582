import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { Duplex } from "node:stream"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Runtime from "effect/Runtime"
import * as Scope from "effect/Scope"
import { type ClientError, invalid } from "./clientError.js"
import { dialects } from "./dialects.js"
import * as Exchange from "./exchange.js"
import type { Handler } from "./handler.js"
import { readBody } from "./requestBody.js"

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

/** A request that is under way: its body is read, or its fiber runs. */
interface Running {
  readonly leave: () => void
}

/** ms; longer than the 60 s of common load balancers, who would else send a call into a connection that is closing. */
const keepAliveTimeout = 65_000

/** Callers that may wait to be accepted. Node's own 511 resets some of a thousand who come at once. */
const backlog = 4096

const reasons: Readonly<Record<string, ListenError["reason"]>> = { EADDRINUSE: "InUse", EACCES: "NotAllowed" }

/**
 * A plain node:http server with one fiber per request (DESIGN 11). A caller who leaves interrupts its fiber. When the
 * scope closes, running calls get `drain` to finish (ROUTING W8); the server listens until they have, so that it can
 * say it is not ready.
 */
export const listen = (
  options: Options,
  { bodyLimit, handle, over }: Handler
): Effect.Effect<Listening, ListenError, Scope.Scope> =>
  Effect.gen(function* () {
    const runtime = yield* Effect.runtime<never>()
    const fork = Runtime.runFork(runtime)
    const clock = yield* Effect.clock
    const idle = yield* Deferred.make<void>()
    const running = new Set<Running>()
    let draining = false

    const onRequest = (request: IncomingMessage, response: ServerResponse) => {
      if (draining) response.shouldKeepAlive = false
      const exchange = Exchange.make(request, response, clock.unsafeCurrentTimeNanos())
      let leave = (): void => {}
      const one: Running = { leave: () => leave() }
      running.add(one)
      const done = () => {
        running.delete(one)
        if (draining && running.size === 0) Deferred.unsafeDone(idle, Effect.void)
      }
      const begin = (effect: Effect.Effect<void, never, Scope.Scope>) => {
        const { close, fiber } = forkScoped(runtime, effect)
        leave = () => fiber.unsafeInterruptAsFork(FiberId.none)
        fiber.addObserver((exit) => {
          const rest = over(exchange, fiber, exit)
          if (rest === undefined && Exit.isSuccess(exit)) done()
          else fork(Effect.zipRight(close(exit), rest ?? Effect.void)).addObserver(done)
        })
      }
      // Whoever writes to a caller who has just left learns it from here.
      response.on("error", () => {})
      response.once("close", () => {
        if (!response.writableFinished) one.leave()
      })
      const limit = bodyLimit(exchange, draining)
      if (limit === undefined) {
        begin(Effect.suspend(() => handle(exchange, draining)))
        return
      }
      // A fiber that waits for the body would be put down and taken up once more for nothing.
      const stop = readBody(exchange, limit, (body) => {
        exchange.body = body
        begin(Effect.suspend(() => handle(exchange, draining)))
      })
      if (exchange.body === undefined) {
        leave = () => {
          stop()
          begin(Effect.interrupt)
        }
      }
    }
    const server = createServer({ keepAliveTimeout }, onRequest)
    // The body is asked for only when it is going to be read.
    server.on("checkContinue", onRequest)
    server.on("clientError", notHttp)

    const stop = Effect.gen(function* () {
      draining = true
      if (running.size > 0) yield* within(options.drain, Deferred.await(idle))
      const closed = Effect.async<void>((resume) => {
        server.close(() => resume(Effect.void))
        server.closeIdleConnections()
      })
      for (const one of running) one.leave()
      yield* within(1000, closed)
      server.closeAllConnections()
    })

    yield* Effect.acquireRelease(
      Effect.async<void, ListenError>((resume) => {
        server.once("error", (cause: NodeJS.ErrnoException) => {
          const reason = reasons[cause.code ?? ""] ?? "Unavailable"
          resume(Effect.fail(new ListenError({ host: options.host, port: options.port, reason })))
        })
        server.listen({ port: options.port, host: options.host, backlog }, () => resume(Effect.void))
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

/** Making one takes a fiber's time; a hundred take no longer. */
const makeScopes = Effect.replicateEffect(Scope.make(), 100)
let scopes: Array<Scope.CloseableScope> = []

const nextScope = (): Scope.CloseableScope => {
  let next = scopes.pop()
  while (next === undefined) {
    scopes = Effect.runSync(makeScopes)
    next = scopes.pop()
  }
  return next
}

/**
 * A fiber with a scope of its own from the start. `Effect.scoped` does the same by setting and taking back a reference of
 * the fiber under a mask, which costs as much as all the rest of an empty request. The scope is closed on the fiber
 * itself if that succeeds; else it is the caller's to close.
 */
const forkScoped = (
  { context, fiberRefs, runtimeFlags }: Runtime.Runtime<never>,
  effect: Effect.Effect<void, never, Scope.Scope>
) => {
  const scope = nextScope()
  const runtime = Runtime.make({ context: Context.add(context, Scope.Scope, scope), fiberRefs, runtimeFlags })
  const close = (exit: Exit.Exit<unknown>): Effect.Effect<void> => Scope.close(scope, exit)
  return { close, fiber: Runtime.runFork(runtime)(Effect.flatMap(effect, () => close(Exit.void))) }
}

/** Bytes that are no request never reach a handler; whoever sent them gets an answer all the same. */
const notHttp = (cause: NodeJS.ErrnoException, socket: Duplex): void => {
  if (cause.code === "ECONNRESET" || !socket.writable) {
    socket.destroy()
    return
  }
  const [status, error]: readonly [string, ClientError] =
    cause.code === "HPE_HEADER_OVERFLOW"
      ? [
          "431 Request Header Fields Too Large",
          { status: 431, code: "headers_too_large", message: "The request's headers are too large." }
        ]
      : ["400 Bad Request", invalid("This is not a valid HTTP request.")]
  const body = JSON.stringify(dialects.openAi.body(error, ""))
  socket.end(
    `HTTP/1.1 ${status}\r\ncontent-type: application/json; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`
  )
}

/**
 * Waits for something, but no longer than so many ms. A fiber of its own, because the one that closes the scope may have
 * been interrupted: there a timeout in an uninterruptible region would never fire, and in an interruptible one at once.
 */
const within = (ms: number, effect: Effect.Effect<void>): Effect.Effect<void> =>
  Effect.timeoutOption(effect, ms).pipe(
    Effect.interruptible,
    Effect.forkDaemon,
    Effect.flatMap(Fiber.await),
    Effect.asVoid
  )
