import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import type { RuntimeFiber } from "effect/Fiber"

/** The clock in force on a fiber, without an effect. */
export const clockOf = (fiber: RuntimeFiber<unknown, unknown>): Clock.Clock =>
  Context.unsafeGet(fiber.currentDefaultServices, Clock.Clock)

/**
 * Monotonic time in whole ms (SEMANTICS T5). Nanoseconds since 1970 are beyond what a double holds exactly, by up to
 * 128 of them; half a microsecond more keeps a reading of whole ms whole.
 */
export const monotonicMillis = (clock: Clock.Clock): number =>
  Math.floor(Number(clock.unsafeCurrentTimeNanos()) / 1_000_000 + 0.000_5)
