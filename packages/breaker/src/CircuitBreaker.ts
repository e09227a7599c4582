/**
 * Circuit breakers for Effect: stop calling what keeps failing, and try again when it may have recovered.
 *
 * The machine is `@switchgear/core/Breaker`; this is its shell. Guarding an effect or a stream adds `CircuitOpen` to
 * its errors and nothing else. Time comes from the `Clock` in force, by its monotonic reading, and jitter from
 * `Random`.
 *
 * @since 0.1.0
 */
import type * as Breaker from "@switchgear/core/Breaker"
import type { Policy } from "@switchgear/core/Policy"
import * as Effect from "effect/Effect"
import { constTrue, dual } from "effect/Function"
import * as Predicate from "effect/Predicate"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { CircuitOpen } from "./CircuitOpen.js"
import { Cell, cellOf } from "./internal/cell.js"
import { classify as classifyExit } from "./internal/classify.js"
import * as guards from "./internal/guard.js"
import { Hub } from "./internal/hub.js"
import { publish } from "./internal/metrics.js"
import { type CircuitBreaker, TypeId } from "./internal/model.js"
import type { Classify, Settings } from "./internal/settings.js"
import { statusOf, viewOf } from "./internal/status.js"
import * as streams from "./internal/stream.js"
import { monotonicMillis } from "./internal/time.js"
import type { Status, Transition } from "./Transition.js"

export { CircuitOpen, findOpen, isCircuitOpen, toHttp } from "./CircuitOpen.js"
export { auto, command, forceClosed, forceOpen, reset, restore, snapshot } from "./internal/control.js"
export { type CircuitBreaker, type Permit, TypeId } from "./internal/model.js"
export { acquire, report, tailPermit, unsafeAcquire } from "./internal/permits.js"
export type { Classify } from "./internal/settings.js"
export type { Counters, Status, Transition } from "./Transition.js"

/**
 * How a breaker is made.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** Shows in errors, transitions, metrics. */
  readonly name: string
  readonly policy: Policy
  /** `false`: shadow mode. It counts, changes state, says what it would reject, and rejects nothing. Default true. */
  readonly enforce?: boolean | undefined
  /** What an ended call means for health. Default `classify`. */
  readonly classify?: Classify | undefined
}

/**
 * Whether a value is a breaker of this package.
 *
 * @since 0.1.0
 * @category guards
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function*() {
 *   const breaker = yield* CircuitBreaker.make({ name: "quotes", policy: Policy.hosted })
 *   return CircuitBreaker.isCircuitBreaker(breaker)
 * })
 * assert.ok(Effect.runSync(program))
 * ```
 */
export const isCircuitBreaker = (u: unknown): u is CircuitBreaker => Predicate.hasProperty(u, TypeId)

/**
 * A breaker of its own, Closed. For breakers by key, with metrics and events of all of them, see
 * `CircuitBreakerRegistry`.
 *
 * @since 0.1.0
 * @category constructors
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function*() {
 *   const breaker = yield* CircuitBreaker.make({
 *     name: "quotes",
 *     policy: Policy.consecutive({ failureThreshold: 2 })
 *   })
 *   const quote = Effect.fail("down").pipe(CircuitBreaker.guard(breaker))
 *   yield* Effect.ignore(quote)
 *   yield* Effect.ignore(quote)
 *   return yield* Effect.flip(quote)
 * })
 * assert.ok(CircuitBreaker.isCircuitOpen(Effect.runSync(program)))
 * ```
 */
export const make = (options: Options): Effect.Effect<CircuitBreaker> =>
  Effect.map(Effect.clock, (clock): Cell => {
    const hub = new Hub()
    const settings: Settings = {
      policy: options.policy,
      enforce: options.enforce ?? true,
      classify: options.classify ?? classifyExit,
      origin: monotonicMillis(clock),
      hub,
      deliver: (_, transitions) => hub.deliverAll(transitions)
    }
    return new Cell(options.name, settings, 0)
  })

/**
 * What an ended call means, unless a breaker or a guard is told otherwise.
 *
 * - A success is a success.
 * - Interruption releases: the caller went away. So does `CircuitOpen`, or an error caused by it: nothing was called.
 * - An Effect `TimeoutException` is a failure of kind `timeout`. Put the timeout inside the guard: one around it is the
 *   caller going away.
 * - An error with a string `kind`, its own or that of its `failure`, is a failure of that kind, with its numeric
 *   `status` and its `retryAfter` (a Duration, or ms). `cancelled` and `circuit_open` release.
 * - Anything else that failed or was thrown is read by `@switchgear/failures`; what that does not know is `unknown`.
 * - A defect is a failure.
 *
 * @since 0.1.0
 * @category classification
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
 * import * as Breaker from "@switchgear/core/Breaker"
 * import * as Exit from "effect/Exit"
 *
 * const exit = Exit.fail({ kind: "rate_limit", status: 429, retryAfter: 2_000 })
 * const outcome = CircuitBreaker.classify(exit, Date.UTC(2026, 0))
 * assert.deepStrictEqual(outcome, Breaker.failure("rate_limit", { status: 429, retryAfter: 2_000 }))
 * ```
 */
export const classify: Classify = classifyExit

/**
 * Runs an effect if the breaker admits it, and reports how it ended; else fails with `CircuitOpen` at once.
 *
 * A success costs about a microsecond. Interrupting the effect gives a probe's lease back. `classify` takes the place
 * of the breaker's own; one that throws is replaced by the default for that call.
 *
 * @since 0.1.0
 * @category combinators
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function*() {
 *   const breaker = yield* CircuitBreaker.make({ name: "quotes", policy: Policy.hosted })
 *   const guarded = Effect.succeed(42).pipe(CircuitBreaker.guard(breaker)) // Effect<number, CircuitOpen>
 *   const same = CircuitBreaker.guard(Effect.succeed(42), breaker)
 *   return [yield* guarded, yield* same]
 * })
 * assert.deepStrictEqual(Effect.runSync(program), [42, 42])
 * ```
 */
export const guard: {
  <A = unknown, E = unknown>(
    breaker: CircuitBreaker,
    options?: { readonly classify?: Classify<A, E> | undefined }
  ): <A1 extends A, E1 extends E, R>(self: Effect.Effect<A1, E1, R>) => Effect.Effect<A1, E1 | CircuitOpen, R>
  <A, E, R>(
    self: Effect.Effect<A, E, R>,
    breaker: CircuitBreaker,
    options?: { readonly classify?: Classify<A, E> | undefined }
  ): Effect.Effect<A, E | CircuitOpen, R>
} = dual(
  (args) => Effect.isEffect(args[0]),
  <A, E, R>(
    self: Effect.Effect<A, E, R>,
    breaker: CircuitBreaker,
    options?: { readonly classify?: Classify<A, E> | undefined }
  ): Effect.Effect<A, E | CircuitOpen, R> => {
    const cell = cellOf(breaker)
    return guards.guard(self, cell, options?.classify ?? cell.settings.classify)
  }
)

/**
 * How a stream is guarded.
 *
 * @since 0.1.0
 * @category models
 */
export interface StreamOptions<A, E> {
  /**
   * What counts as output: what a reader can show or act on, not a ping or an empty delta. Default: every element. One
   * that throws is taken to have said yes.
   */
  readonly isOutput?: Predicate.Predicate<A> | undefined
  readonly classify?: Classify<void, E> | undefined
}

/**
 * Runs a stream if the breaker admits it, under one permit for the run; else fails with `CircuitOpen`.
 *
 * Its latency is the time to its first output. A plain run is reported once, when it ends. A probe reports success at
 * its first output; should the stream break after that, the failure counts against a breaker that has recovered
 * meanwhile (SEMANTICS R7). A reader who leaves before the first output releases; one who leaves after it was answered:
 * a success.
 *
 * @since 0.1.0
 * @category combinators
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Chunk from "effect/Chunk"
 * import * as Effect from "effect/Effect"
 * import * as Stream from "effect/Stream"
 *
 * const program = Effect.gen(function*() {
 *   const breaker = yield* CircuitBreaker.make({ name: "chat", policy: Policy.hosted })
 *   const deltas = Stream.make("", "Hel", "lo").pipe(
 *     CircuitBreaker.guardStream(breaker, { isOutput: (delta) => delta !== "" })
 *   )
 *   return Chunk.join(yield* Stream.runCollect(deltas), "")
 * })
 * assert.strictEqual(await Effect.runPromise(program), "Hello")
 * ```
 */
export const guardStream: {
  <A = unknown, E = unknown>(
    breaker: CircuitBreaker,
    options?: StreamOptions<A, E>
  ): <A1 extends A, E1 extends E, R>(self: Stream.Stream<A1, E1, R>) => Stream.Stream<A1, E1 | CircuitOpen, R>
  <A, E, R>(
    self: Stream.Stream<A, E, R>,
    breaker: CircuitBreaker,
    options?: StreamOptions<A, E>
  ): Stream.Stream<A, E | CircuitOpen, R>
} = dual(
  (args) => Predicate.hasProperty(args[0], Stream.StreamTypeId),
  <A, E, R>(
    self: Stream.Stream<A, E, R>,
    breaker: CircuitBreaker,
    options?: StreamOptions<A, E>
  ): Stream.Stream<A, E | CircuitOpen, R> => {
    const cell = cellOf(breaker)
    return streams.guardStream(self, cell, options?.isOutput ?? constTrue, options?.classify ?? cell.settings.classify)
  }
)

/**
 * What the breaker is now, with `since` and `until` as wall time in ms since 1970. A read: it changes nothing.
 *
 * @since 0.1.0
 * @category accessors
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function*() {
 *   const breaker = yield* CircuitBreaker.make({ name: "quotes", policy: Policy.hosted })
 *   yield* Effect.ignore(CircuitBreaker.guard(Effect.fail("down"), breaker))
 *   return yield* CircuitBreaker.view(breaker)
 * })
 * const { failures, state } = Effect.runSync(program)
 * assert.deepStrictEqual([state, failures], ["Closed", 1])
 * ```
 */
export const view = (breaker: CircuitBreaker): Effect.Effect<Breaker.View> =>
  Effect.map(Effect.clock, (clock) => viewOf(cellOf(breaker), clock))

/**
 * What the breaker is now, what it has counted, and its last 20 transitions with their reasons.
 *
 * @since 0.1.0
 * @category accessors
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function*() {
 *   const breaker = yield* CircuitBreaker.make({ name: "quotes", policy: Policy.hosted })
 *   yield* CircuitBreaker.guard(Effect.succeed(42), breaker)
 *   return (yield* CircuitBreaker.status(breaker)).counters
 * })
 * const { admitted, succeeded } = Effect.runSync(program)
 * assert.deepStrictEqual([admitted, succeeded], [1, 1])
 * ```
 */
export const status = (breaker: CircuitBreaker): Effect.Effect<Status> =>
  Effect.map(Effect.clock, (clock) => statusOf(cellOf(breaker), clock))

/**
 * The breaker's transitions from now on, in order, each after it was made. A reader that falls more than `capacity`
 * (default 256) behind loses the oldest; no reader can slow or harm the breaker.
 *
 * @since 0.1.0
 * @category events
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Effect from "effect/Effect"
 * import * as Fiber from "effect/Fiber"
 * import * as Stream from "effect/Stream"
 *
 * const program = Effect.gen(function*() {
 *   const breaker = yield* CircuitBreaker.make({ name: "quotes", policy: Policy.hosted })
 *   const first = yield* Effect.fork(Stream.runHead(CircuitBreaker.transitions(breaker)))
 *   yield* Effect.yieldNow()
 *   yield* CircuitBreaker.forceOpen(breaker)
 *   return yield* Effect.flatten(Fiber.join(first))
 * })
 * const { from, to } = await Effect.runPromise(program)
 * assert.deepStrictEqual([from, to], ["Closed", "ForcedOpen"])
 * ```
 */
export const transitions = (
  breaker: CircuitBreaker,
  options?: { readonly capacity?: number | undefined }
): Stream.Stream<Transition> =>
  Stream.suspend(() => {
    const cell = cellOf(breaker)
    return cell.settings.hub.stream(cell.name, options?.capacity ?? 256)
  })

/**
 * Shows the breaker among Effect's metrics until the scope closes; see `Metrics` for their names. A registry does this
 * for its breakers.
 *
 * @since 0.1.0
 * @category metrics
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
 * import * as Metrics from "@switchgear/breaker/Metrics"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Effect from "effect/Effect"
 * import * as Metric from "effect/Metric"
 *
 * const state = Metric.tagged(Metrics.state, "breaker", "gold")
 * const program = Effect.gen(function*() {
 *   const breaker = yield* CircuitBreaker.make({ name: "gold", policy: Policy.hosted })
 *   yield* CircuitBreaker.publishMetrics(breaker)
 *   return (yield* Metric.value(state)).value
 * })
 * assert.strictEqual(Effect.runSync(Effect.scoped(program)), 0)
 * assert.strictEqual(Effect.runSync(Metric.value(state)).value, -1) // it has gone
 * ```
 */
export const publishMetrics = (breaker: CircuitBreaker): Effect.Effect<void, never, Scope.Scope> =>
  Effect.asVoid(
    Effect.acquireRelease(
      Effect.map(Effect.clock, (clock) => publish(breaker.name, { cells: () => [cellOf(breaker)], clock })),
      (unpublish) => Effect.sync(unpublish)
    )
  )
