import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import type { RuntimeFiber } from "effect/Fiber"

/** Monotonic time in ms, of the clock in force (SEMANTICS T5). */
export const monotonicMillis = (clock: Clock.Clock): number => Number(clock.unsafeCurrentTimeNanos() / 1_000n) / 1_000

/** The clock in force on a fiber, without an effect. */
export const clockOf = (fiber: RuntimeFiber<unknown, unknown>): Clock.Clock =>
  Context.unsafeGet(fiber.currentDefaultServices, Clock.Clock)
