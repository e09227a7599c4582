import type { Options as ByoOptions } from "@switchgear/providers/Byo"
import type { Answer, JsonAnswer, StreamAnswer } from "@switchgear/providers/Provider"
import type { Request, Served } from "@switchgear/routing/Call"
import type { Service as Pipeline } from "@switchgear/routing/Pipeline"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { called, refusedKey } from "./attempts.js"
import { brought, isOwn } from "./byo.js"
import type { ClientError } from "./clientError.js"
import * as ClientErrors from "./clientError.js"
import { type Exchange, header } from "./exchange.js"
import { ofCallError, ofFailure, type RetryAfter } from "./failureAnswer.js"
import type { Gate } from "./gate.js"
import { send, sendError } from "./reply.js"
import { parse } from "./requestShape.js"
import { type HeldBack, openStream, pump } from "./streamReply.js"
import type { Wire } from "./wires.js"

export interface Services {
  readonly pipeline: Pipeline
  readonly gate: Gate
  /** Of the headers that tell of a substitution, in lower case (ROUTING W3). */
  readonly prefix: string
  readonly retryAfter: RetryAfter
  readonly heldBack: HeldBack
  /** Which upstreams a caller may bring along (ROUTING W7). */
  readonly byo: ByoOptions
}

/** Headers of the upstream's that mean something to the caller. */
const passed = /^(?:content-type|openai-(?:processing-ms|version)|(?:x|anthropic)-ratelimit-[a-z-]+)$/

/** A call from its bytes to the last byte of its answer. The scope is the request's: until it ends the upstream call is open. */
export const call = (wire: Wire, services: Services) => {
  const handle = (exchange: Exchange): Effect.Effect<void, ClientError, Scope.Scope> => {
    const { body } = exchange
    if (!(body instanceof Uint8Array)) return Effect.fail(body ?? ClientErrors.internal)
    const parsed = parse(body)
    if ("error" in parsed) return Effect.fail(parsed.error)
    const checked = wire.check(parsed.value)
    if ("code" in checked) return Effect.fail(checked)
    exchange.log.model = checked.model.slice(0, 256)
    exchange.log.stream = checked.stream
    const request: Request = {
      id: exchange.id,
      operation: wire.operation,
      model: checked.model,
      body,
      stream: checked.stream,
      headers: forward(exchange, wire.forwarded),
      fallback: header(exchange, "x-switchgear-no-fallback")?.toLowerCase() !== "true",
      clientKey: services.gate.keyOf(exchange),
      idempotencyKey: header(exchange, "idempotency-key")
    }
    if (!isOwn(exchange)) return answer(exchange, request, false)
    return Effect.flatMap(brought(exchange, wire.operation, services.byo), (own) =>
      answer(exchange, { ...request, ...own }, true)
    )
  }

  const answer = (
    exchange: Exchange,
    request: Request,
    own: boolean
  ): Effect.Effect<void, ClientError, Scope.Scope> => {
    const routed = Effect.catchAll(services.pipeline.run(request), (error) => {
      const told = Effect.fail(ofCallError(error, services.retryAfter, own))
      if (error._tag === "Rejected") return told
      exchange.attempts = called(error.attempts)
      return own ? told : Effect.zipRight(refusedKey(exchange, error.attempts), told)
    })
    return Effect.flatMap(request.stream ? held(exchange, routed) : routed, (served) => reply(exchange, served))
  }

  const held = <A, E, R>(exchange: Exchange, routed: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const release = services.heldBack.add(exchange, now)
      return Effect.ensuring(routed, Effect.sync(release))
    })

  const reply = (exchange: Exchange, served: Served): Effect.Effect<void, ClientError> => {
    exchange.attempts = called(served.attempts)
    exchange.log.served = served.model
    exchange.log.substituted = served.substituted
    const headers = { ...pick(served.answer), ...told(served) }
    const replied =
      served.answer._tag === "Json"
        ? json(exchange, served.answer, headers)
        : stream(exchange, served.answer, headers, served.substituted ? served.model : undefined)
    return Effect.zipRight(refusedKey(exchange, served.attempts), replied)
  }

  /** ROUTING W3, I2. */
  const told = ({ cached, model, replayed, substituted }: Served): Record<string, string> => ({
    ...(substituted ? { [`${services.prefix}-fallback`]: "true", [`${services.prefix}-used`]: model } : undefined),
    ...(replayed ? { "idempotent-replayed": "true" } : undefined),
    ...(cached ? { "x-switchgear-cached": "true" } : undefined)
  })

  const json = (
    exchange: Exchange,
    answer: JsonAnswer,
    headers: Record<string, string>
  ): Effect.Effect<void, ClientError> =>
    // A JSON answer to a client who has been promised a stream: nothing of it can be shown.
    exchange.response.headersSent
      ? Effect.fail(ClientErrors.internal)
      : send(exchange, answer.status, headers, answer.body)

  const stream = (
    exchange: Exchange,
    answer: StreamAnswer,
    headers: Record<string, string>,
    substitute: string | undefined
  ): Effect.Effect<void, ClientError> => {
    const { response } = exchange
    if (!response.headersSent) openStream(exchange, answer.status, headers)
    else if (substitute !== undefined) response.write(`: served by ${substitute}\n\n`)
    return pump(response, answer.body).pipe(
      Effect.mapError((error) => ofFailure(error.failure)),
      Effect.zipRight(Effect.sync(() => response.end()))
    )
  }

  /** Before the head an error is an answer; after it, the stream's last frame (ROUTING F7). */
  const fail = (exchange: Exchange, error: ClientError): Effect.Effect<void> => {
    if (!exchange.response.headersSent) return sendError(exchange, wire.dialect, error)
    return Effect.sync(() => {
      exchange.log.error = error.code
      exchange.response.end(wire.dialect.frame(error, exchange.id))
    })
  }

  return {
    handle: (exchange: Exchange): Effect.Effect<void, never, Scope.Scope> =>
      Effect.catchAll(
        Effect.suspend(() => handle(exchange)),
        (error) => fail(exchange, error)
      ),
    fail
  }
}

const forward = (exchange: Exchange, names: ReadonlyArray<string>): Record<string, string> => {
  const headers: Record<string, string> = {}
  for (const name of names) {
    const value = header(exchange, name)
    if (value !== undefined) headers[name] = value
  }
  return headers
}

const pick = (answer: Answer): Record<string, string> => {
  const headers: Record<string, string> = {}
  for (const name in answer.headers) {
    const value = answer.headers[name]
    if (value !== undefined && passed.test(name)) headers[name] = value
  }
  return headers
}
