import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberRef from "effect/FiberRef"
import * as HashSet from "effect/HashSet"
import * as Logger from "effect/Logger"
import * as Predicate from "effect/Predicate"
import * as Tracer from "effect/Tracer"
import { maskText } from "./mask.js"
import { type Options, redactUnknown, showCause } from "./redact.js"
import { isHarmlessHeader } from "./secrets.js"

/**
 * The client packages log what they could not decode, and end spans with their raw errors, both before a guard around them sees
 * anything. So while a model runs, what it gives to loggers and tracers is redacted on the way.
 */
export interface Insulation {
  /** Runs the model's own work. */
  readonly inside: <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /** Runs the caller's work inside of it, its tools, under what was in force before. */
  readonly outside: <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

type Loggers = HashSet.HashSet<Logger.Logger<unknown, unknown>>

const put =
  (tracer: Tracer.Tracer, loggers: Loggers) =>
  <A, E, R>(self: Effect.Effect<A, E, R>) =>
    Effect.locally(Effect.withTracer(self, tracer), FiberRef.currentLoggers, loggers)

/** Of the fiber that asks. */
export const make = (wrap: Wrappers): Effect.Effect<Insulation> =>
  Effect.zipWith(Effect.tracer, FiberRef.get(FiberRef.currentLoggers), (tracer, loggers) => ({
    inside: put(wrap.tracer(tracer), wrap.loggers(loggers)),
    outside: put(tracer, loggers)
  }))

export interface Wrappers {
  readonly tracer: (tracer: Tracer.Tracer) => Tracer.Tracer
  readonly loggers: (loggers: Loggers) => Loggers
}

/** Wrapped once each, and never twice: a guarded model may be the target of another. */
export const wrappers = (options: Options): Wrappers => ({
  tracer: cached((tracer) => redactTracer(tracer, options)),
  loggers: cached((loggers) => HashSet.map(loggers, (logger) => redactLogger(logger, options)))
})

const wrapped = new WeakSet<object>()

const cached = <A extends object>(wrap: (inner: A) => A): ((inner: A) => A) => {
  const known = new WeakMap<A, A>()
  return (inner) => {
    if (wrapped.has(inner)) return inner
    const found = known.get(inner)
    if (found !== undefined) return found
    const outer = wrap(inner)
    known.set(inner, outer)
    wrapped.add(outer)
    return outer
  }
}

const redactLogger = (logger: Logger.Logger<unknown, unknown>, options: Options): Logger.Logger<unknown, unknown> =>
  Logger.make((log) =>
    logger.log({
      ...log,
      message: redactUnknown(log.message, options.secrets),
      cause: showCause(log.cause, options)
    })
  )

/** Attributes that name the server are what they are for. */
const isAddress = (key: string): boolean => /^(?:server|network)\./.test(key)

const attribute = (key: string, value: unknown, options: Options): unknown => {
  if (isAddress(key)) return value
  const header = /^http\.request\.header\.(.+)$/.exec(key)?.[1]
  if (header !== undefined && !isHarmlessHeader(header)) return "[masked]"
  if (!Predicate.isString(value)) return redactUnknown(value, options.secrets)
  // A query's first pair has its question mark elsewhere.
  return key === "url.query" ? maskText(`?${value}`, options.secrets).slice(1) : maskText(value, options.secrets)
}

const attributes = (
  all: Readonly<Record<string, unknown>> | undefined,
  options: Options
): Record<string, unknown> | undefined =>
  all && Object.fromEntries(Object.entries(all).map(([key, value]) => [key, attribute(key, value, options)]))

/** The span itself, but for what is written to it: tracers look for fields of their own on the spans they made. */
const redactSpan = (span: Tracer.Span, options: Options): Tracer.Span =>
  Object.create(span, {
    end: {
      // What a span brought forth may be a whole answer, with the request it answers.
      value: (time: bigint, exit: Exit.Exit<unknown, unknown>) =>
        span.end(time, exit._tag === "Success" ? Exit.void : Exit.failCause(showCause(exit.cause, options)))
    },
    attribute: {
      value: (key: string, value: unknown) => span.attribute(key, attribute(key, value, options))
    },
    event: {
      value: (name: string, time: bigint, given?: Record<string, unknown>) =>
        span.event(maskText(name, options.secrets), time, attributes(given, options))
    },
    addLinks: { value: (links: ReadonlyArray<Tracer.SpanLink>) => span.addLinks(links) }
  })

const redactTracer = (tracer: Tracer.Tracer, options: Options): Tracer.Tracer =>
  Tracer.make({
    span: (name, parent, context, links, startTime, kind, given) =>
      redactSpan(tracer.span(name, parent, context, links, startTime, kind, given), options),
    context: (f, fiber) => tracer.context(f, fiber)
  })
