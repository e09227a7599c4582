/**
 * Effect's own clock, as a layer: to go back to real time inside a test or a simulation.
 *
 * Its milliseconds are wall time and may step when the host's clock is set. Its nanoseconds come from the host's
 * monotonic timer and never run backwards: they are what a circuit breaker reads (SEMANTICS T5).
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Layer from "effect/Layer"

/**
 * A clock that tells the host's time. A sleep longer than 2^31-1 ms (24.8 days) never ends, since a host timer cannot
 * hold it.
 *
 * @since 0.1.0
 * @category constructors
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as LiveClock from "@switchgear/clock/LiveClock"
 *
 * const clock = LiveClock.make()
 * const first = clock.unsafeCurrentTimeNanos()
 * assert.ok(clock.unsafeCurrentTimeNanos() >= first)
 * ```
 */
export const make = (): Clock.Clock => Clock.make()

/**
 * Puts the live clock in force.
 *
 * @since 0.1.0
 * @category layers
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as LiveClock from "@switchgear/clock/LiveClock"
 * import * as Clock from "effect/Clock"
 * import * as Effect from "effect/Effect"
 *
 * const program = Clock.currentTimeMillis.pipe(Effect.provide(LiveClock.layer))
 * assert.ok(Effect.runSync(program) > Date.UTC(2020, 0))
 * ```
 */
export const layer: Layer.Layer<never> = Layer.suspend(() => Layer.setClock(make()))
