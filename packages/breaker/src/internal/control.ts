import * as Breaker from "@switchgear/core/Breaker"
import * as Snapshot from "@switchgear/core/Snapshot"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import { cellOf } from "./cell.js"
import type { CircuitBreaker } from "./model.js"

/**
 * Takes manual control, or gives it back (SEMANTICS M1); see `Breaker.forceOpen`, `forceClosed`, `auto` and `reset`.
 *
 * @since 0.1.0
 * @category control
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
 * import * as Breaker from "@switchgear/core/Breaker"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function*() {
 *   const breaker = yield* CircuitBreaker.make({ name: "quotes", policy: Policy.hosted })
 *   yield* CircuitBreaker.command(breaker, Breaker.forceOpen(60_000))
 *   return (yield* CircuitBreaker.view(breaker)).retryAfter
 * })
 * assert.strictEqual(Effect.runSync(program), 60_000)
 * ```
 */
export const command: {
  (command: Breaker.Command): (breaker: CircuitBreaker) => Effect.Effect<void>
  (breaker: CircuitBreaker, command: Breaker.Command): Effect.Effect<void>
} = dual(
  2,
  (breaker: CircuitBreaker, given: Breaker.Command): Effect.Effect<void> =>
    Effect.flatMap(Effect.clock, (clock) => {
      const cell = cellOf(breaker)
      return cell.remote?.command(given, clock) ?? Effect.sync(() => cell.command(given, clock))
    })
)

/**
 * Rejects everything: for so long, or until another command. A duration is rounded up to whole ms, at least one.
 *
 * @since 0.1.0
 * @category control
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function*() {
 *   const breaker = yield* CircuitBreaker.make({ name: "quotes", policy: Policy.hosted })
 *   yield* CircuitBreaker.forceOpen(breaker, "10 minutes")
 *   return (yield* CircuitBreaker.view(breaker)).state
 * })
 * assert.strictEqual(Effect.runSync(program), "Open")
 * ```
 */
export const forceOpen = (breaker: CircuitBreaker, duration?: Duration.DurationInput): Effect.Effect<void> => {
  const millis = duration === undefined ? Number.POSITIVE_INFINITY : Math.max(1, Math.ceil(Duration.toMillis(duration)))
  return command(breaker, Number.isFinite(millis) ? Breaker.forceOpen(millis) : Breaker.forceOpen())
}

/**
 * Admits everything and counts nothing against the service.
 *
 * @since 0.1.0
 * @category control
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function*() {
 *   const breaker = yield* CircuitBreaker.make({ name: "quotes", policy: Policy.hosted })
 *   yield* CircuitBreaker.forceClosed(breaker)
 *   const { forced, state } = yield* CircuitBreaker.view(breaker)
 *   return [state, forced]
 * })
 * assert.deepStrictEqual(Effect.runSync(program), ["Closed", true])
 * ```
 */
export const forceClosed = (breaker: CircuitBreaker): Effect.Effect<void> => command(breaker, Breaker.forceClosed)

/**
 * Ends a forced state.
 *
 * @since 0.1.0
 * @category control
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function*() {
 *   const breaker = yield* CircuitBreaker.make({ name: "quotes", policy: Policy.hosted })
 *   yield* CircuitBreaker.forceOpen(breaker)
 *   yield* CircuitBreaker.auto(breaker)
 *   // an Open whose deadline is now: the next call is a probe
 *   return (yield* CircuitBreaker.view(breaker)).state
 * })
 * assert.strictEqual(Effect.runSync(program), "HalfOpen")
 * ```
 */
export const auto = (breaker: CircuitBreaker): Effect.Effect<void> => command(breaker, Breaker.auto)

/**
 * Starts anew: Closed, with no openings.
 *
 * @since 0.1.0
 * @category control
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function*() {
 *   const breaker = yield* CircuitBreaker.make({ name: "quotes", policy: Policy.hosted })
 *   yield* CircuitBreaker.forceOpen(breaker)
 *   yield* CircuitBreaker.reset(breaker)
 *   return (yield* CircuitBreaker.view(breaker)).state
 * })
 * assert.strictEqual(Effect.runSync(program), "Closed")
 * ```
 */
export const reset = (breaker: CircuitBreaker): Effect.Effect<void> => command(breaker, Breaker.reset)

/**
 * The breaker's state as versioned JSON (SEMANTICS S9).
 *
 * @since 0.1.0
 * @category snapshots
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function*() {
 *   const breaker = yield* CircuitBreaker.make({ name: "quotes", policy: Policy.hosted })
 *   return yield* CircuitBreaker.snapshot(breaker)
 * })
 * assert.strictEqual(Effect.runSync(program).state._tag, "Closed")
 * ```
 */
export const snapshot = (breaker: CircuitBreaker): Effect.Effect<Snapshot.Snapshot> =>
  Effect.map(Effect.clock, (clock) => {
    const cell = cellOf(breaker)
    return Snapshot.snapshot(cell.state, cell.now(clock), clock.unsafeCurrentTimeMillis())
  })

/**
 * Takes over a snapshot, aged by the wall time since; permits given before are stale (SEMANTICS S9). `Snapshot.decode`
 * reads a stored one.
 *
 * @since 0.1.0
 * @category snapshots
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function*() {
 *   const breaker = yield* CircuitBreaker.make({ name: "quotes", policy: Policy.hosted })
 *   yield* CircuitBreaker.forceOpen(breaker)
 *   const taken = yield* CircuitBreaker.snapshot(breaker)
 *   const next = yield* CircuitBreaker.make({ name: "quotes", policy: Policy.hosted })
 *   yield* CircuitBreaker.restore(next, taken)
 *   return (yield* CircuitBreaker.view(next)).state
 * })
 * assert.strictEqual(Effect.runSync(program), "Open")
 * ```
 */
export const restore: {
  (snapshot: Snapshot.Snapshot): (breaker: CircuitBreaker) => Effect.Effect<void>
  (breaker: CircuitBreaker, snapshot: Snapshot.Snapshot): Effect.Effect<void>
} = dual(
  2,
  (breaker: CircuitBreaker, from: Snapshot.Snapshot): Effect.Effect<void> =>
    Effect.flatMap(Effect.clock, (clock) => {
      const cell = cellOf(breaker)
      return cell.remote?.restore(from, clock) ?? Effect.sync(() => cell.restore(from, clock))
    })
)
