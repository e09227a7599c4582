import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import type { RuntimeFiber } from "effect/Fiber"
import * as FiberRef from "effect/FiberRef"
import * as HashMap from "effect/HashMap"
import { withRedactableContext } from "effect/Inspectable"
import * as LogLevel from "effect/LogLevel"

type Fields = Readonly<Record<string, unknown>>

/**
 * What `Effect.annotateLogs` around `Effect.log` does, on a fiber that is at its end. There the annotations of a line
 * are set and taken back one map at a time, and every map is compared with the one before: half of what a line costs,
 * and the gateway writes one per request.
 */
export const logLine = (
  fiber: RuntimeFiber<unknown, unknown>,
  logLevel: LogLevel.LogLevel,
  message: string,
  fields: Fields
): void => {
  if (LogLevel.greaterThan(fiber.getFiberRef(FiberRef.currentMinimumLogLevel), logLevel)) return
  const around = fiber.getFiberRef(FiberRef.currentLogAnnotations)
  const own = HashMap.fromIterable(Object.entries(fields))
  const annotations = HashMap.isEmpty(around) ? own : HashMap.union(around, own)
  const clock = Context.unsafeGet(fiber.currentDefaultServices, Clock.Clock)
  const context = fiber.getFiberRefs()
  const options = {
    fiberId: fiber.id(),
    logLevel,
    message,
    cause: Cause.empty,
    context,
    spans: fiber.getFiberRef(FiberRef.currentLogSpan),
    annotations,
    date: new Date(clock.unsafeCurrentTimeMillis())
  }
  withRedactableContext(context, () => {
    for (const logger of fiber.getFiberRef(FiberRef.currentLoggers)) logger.log(options)
  })
}
