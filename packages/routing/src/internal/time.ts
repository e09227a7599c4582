import type { Clock } from "effect/Clock"

/** Monotonic time in ms, of the clock in force (SEMANTICS T5). */
export const monotonicMillis = (clock: Clock): number => Number(clock.unsafeCurrentTimeNanos() / 1_000n) / 1_000
