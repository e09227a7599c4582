import * as Cause from "effect/Cause"
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { RuntimeFiber } from "effect/Fiber"
import * as LogLevel from "effect/LogLevel"
import type * as Scope from "effect/Scope"
import { accessLog } from "./accessLog.js"
import type { Admin } from "./adminRoutes.js"
import { call, type Services } from "./callEndpoint.js"
import type { ClientError } from "./clientError.js"
import * as ClientErrors from "./clientError.js"
import { dialectOf } from "./dialects.js"
import type { Exchange } from "./exchange.js"
import { ofCallError } from "./failureAnswer.js"
import { logLine } from "./logLine.js"
import type { ModelConfig } from "./modelSection.js"
import { sendError, sendJson } from "./reply.js"
import { wires } from "./wires.js"

/** What answers one path, by method; `fail` says an error in the dialect of who asks there. */
interface Endpoint {
  readonly method: "GET" | "POST"
  /** bytes that its requests' bodies may have; absent: it reads none. */
  readonly bodyLimit?: number
  readonly handle: (exchange: Exchange, draining: boolean) => Effect.Effect<void, never, Scope.Scope>
  readonly fail: (exchange: Exchange, error: ClientError) => Effect.Effect<void>
}

export interface Parts extends Services {
  /** bytes */
  readonly bodyLimit: number
  readonly models: ReadonlyArray<ModelConfig>
  readonly admin: Admin
  /** Whether the store answers, or the gateway goes on without it (ROUTING W8). */
  readonly ready: () => boolean
}

const fail = (exchange: Exchange, error: ClientError): Effect.Effect<void> =>
  sendError(exchange, dialectOf(exchange), error)

const get = (handle: Endpoint["handle"]): Endpoint => ({ method: "GET", handle, fail })

/** The paths of the gateway. */
const endpoints = (parts: Parts): ReadonlyMap<string, Endpoint> => {
  const names = parts.models.map(({ name }) => name)
  const calls = Object.entries(wires).map(([path, wire]): [string, Endpoint] => {
    const endpoint = call(wire, parts)
    const handle: Endpoint["handle"] = (exchange, draining) =>
      draining ? endpoint.fail(exchange, ClientErrors.shuttingDown) : endpoint.handle(exchange)
    return [path, { method: "POST", bodyLimit: parts.bodyLimit, handle, fail: endpoint.fail }]
  })
  return new Map<string, Endpoint>([
    ...calls,
    [
      "/v1/models",
      get((exchange) =>
        Effect.matchEffect(parts.gate.visible(exchange, names), {
          onFailure: (error) => fail(exchange, ofCallError(error, parts.retryAfter, false)),
          onSuccess: (visible) => sendJson(exchange, 200, dialectOf(exchange).models(visible))
        })
      )
    ],
    ["/healthz", get((exchange) => sendJson(exchange, 200, { status: "ok" }))],
    [
      "/readyz",
      get((exchange, draining) =>
        draining
          ? sendJson(exchange, 503, { status: "draining" })
          : parts.ready()
            ? sendJson(exchange, 200, { status: "ready" })
            : sendJson(exchange, 503, { status: "store_unavailable" })
      )
    ]
  ])
}

const isAdmin = ({ path }: Exchange): boolean => path.startsWith("/admin/") || path === "/metrics"

/** What the listener asks for every request, and tells when its fiber is over. */
export interface Handler {
  /** Whether a request's body is to be read before it is handled, and how many bytes it may have. */
  readonly bodyLimit: (exchange: Exchange, draining: boolean) => number | undefined
  readonly handle: (exchange: Exchange, draining: boolean) => Effect.Effect<void, never, Scope.Scope>
  /** What is left to do then, if there is anything. It runs outside of the fiber, so that a call pays for no mask. */
  readonly over: (
    exchange: Exchange,
    fiber: RuntimeFiber<void>,
    exit: Exit.Exit<void>
  ) => Effect.Effect<void> | undefined
}

/** One request, whatever happens to it: an answer if there is someone to answer, and a line in the log. */
export const handler = (parts: Parts, clock: Clock.Clock): Handler => {
  const paths = endpoints(parts)
  const handle: Handler["handle"] = (exchange, draining) => {
    const endpoint = paths.get(exchange.path)
    if (endpoint === undefined && isAdmin(exchange)) return parts.admin.handle(exchange)
    if (endpoint === undefined) return fail(exchange, ClientErrors.unknownPath(exchange.path))
    const method = exchange.method === "HEAD" && endpoint.method === "GET" ? "GET" : exchange.method
    if (method === endpoint.method) return endpoint.handle(exchange, draining)
    return endpoint.fail(exchange, ClientErrors.wrongMethod(exchange.method, exchange.path, endpoint.method))
  }
  const failNow = (exchange: Exchange, error: ClientError): Effect.Effect<void> =>
    (paths.get(exchange.path)?.fail ?? fail)(exchange, error)

  const over: Handler["over"] = (exchange, fiber, exit) => {
    const log = (cancelled: boolean): undefined => {
      accessLog(fiber, exchange, cancelled, Number(clock.unsafeCurrentTimeNanos() - exchange.startedAt) / 1e6)
      return undefined
    }
    const answered = (error: ClientError) =>
      Effect.zipRight(
        failNow(exchange, error),
        Effect.sync(() => log(false))
      )
    const gone = exchange.response.destroyed
    if (Exit.isSuccess(exit)) return log(false)
    if (Cause.isInterruptedOnly(exit.cause)) {
      // Someone who still listens was cut off by the end of the drain.
      return gone ? log(true) : answered(ClientErrors.shuttingDown)
    }
    logDefect(fiber, exchange, exit.cause)
    return gone ? log(false) : answered(ClientErrors.internal)
  }
  return {
    bodyLimit: (exchange, draining) => {
      const { method, path } = exchange
      if (isAdmin(exchange)) return parts.admin.bodyLimit(exchange)
      const endpoint = draining ? undefined : paths.get(path)
      return endpoint?.method === method ? endpoint.bodyLimit : undefined
    },
    handle,
    over
  }
}

/** A defect's message may hold what it failed on, a key or an address: the log gets its name and where it happened. */
const logDefect = (fiber: RuntimeFiber<void>, exchange: Exchange, cause: Cause.Cause<never>): void => {
  const error = Cause.squash(cause)
  const name = error instanceof Error ? error.name : typeof error
  const stack = error instanceof Error ? (error.stack ?? "").split("\n").filter((line) => /^\s+at /.test(line)) : []
  logLine(fiber, LogLevel.Error, "a request failed by a defect", {
    id: exchange.id,
    defect: name,
    at: stack
      .slice(0, 5)
      .map((line) => line.trim())
      .join(" < ")
  })
}
