/**
 * A deterministic clock: sleeps end at once and in order, whatever their length.
 *
 * When every fiber is idle, time jumps to the next sleep that ends. Two runs of a program take the same steps in the
 * same order, and a day of simulated traffic takes as long as its computation.
 *
 * *Gotchas.* Only work that fibers do is seen. A socket, a file or a timer of the host counts as idle, and time jumps
 * over it. Programs that talk to the outside belong under the live clock, or under a manual one.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import { dual } from "effect/Function"
import * as Layer from "effect/Layer"
import type { Scheduler } from "effect/Scheduler"
import { type Sleeper, SleeperHeap } from "./internal/heap.js"
import { nextTurn, RunQueue } from "./internal/runQueue.js"

/**
 * A virtual clock.
 *
 * @since 0.1.0
 * @category models
 */
export interface Service extends Clock.Clock {
  /** Runs the fibers under this clock, so that it can tell when all of them are idle. */
  readonly scheduler: Scheduler
  /** How much virtual time has passed since the clock was made. */
  readonly elapsed: Effect.Effect<Duration.Duration>
  /** How many sleeps have neither ended nor been interrupted; endless ones are not among them. */
  readonly pending: Effect.Effect<number>
  /**
   * Lets time pass: ends every sleep that is due until then, each before the next, and returns at that time. On a
   * clock that is not manual this is a sleep.
   */
  readonly advance: (duration: Duration.DurationInput) => Effect.Effect<void>
  /**
   * `advance` for a driver that is no fiber: when it returns, time has passed and all that fibers had to do until then is
   * done. Only fibers run in it; what waits for a promise goes on after it has returned, so a program that has promises
   * belongs under `advance`. Makes no sense on a clock that is not manual, where time passes by itself as well.
   */
  readonly unsafeAdvance: (duration: Duration.DurationInput) => void
}

/**
 * How a virtual clock is made.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** Wall time at the start, in ms since 1970. Default 0. */
  readonly start?: number | undefined
  /** Time passes only through `advance`, so it never jumps over work it cannot see. Default false. */
  readonly manual?: boolean | undefined
}

/**
 * The virtual clock in force, to read it and to advance it.
 *
 * @since 0.1.0
 * @category tags
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as VirtualClock from "@switchgear/clock/VirtualClock"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function*() {
 *   const clock = yield* VirtualClock.VirtualClock
 *   yield* Effect.sleep("1 day")
 *   return clock.unsafeCurrentTimeMillis()
 * })
 * assert.strictEqual(await Effect.runPromise(Effect.provide(program, VirtualClock.layer)), 86_400_000)
 * ```
 */
export class VirtualClock extends Context.Tag("@switchgear/clock/VirtualClock")<VirtualClock, Service>() {}

/** Of the sleeps that end at one time, `advance` is the last. */
const afterAllOthers = Number.MAX_SAFE_INTEGER

class VirtualClockImpl implements Service {
  readonly [Clock.ClockTypeId]: Clock.ClockTypeId = Clock.ClockTypeId
  readonly scheduler = new RunQueue()
  private readonly sleepers = new SleeperHeap()
  private readonly start: number
  private now = 0
  private sequence = 0
  private armed = false
  /** Time passes up to here, inclusive. */
  private horizon: number

  constructor(options: Options | undefined) {
    this.start = Math.trunc(options?.start ?? 0)
    this.horizon = options?.manual === true ? 0 : Number.POSITIVE_INFINITY
  }

  unsafeCurrentTimeMillis(): number {
    return Math.floor(this.start + this.now)
  }

  unsafeCurrentTimeNanos(): bigint {
    return BigInt(this.start) * 1_000_000n + BigInt(Math.round(this.now * 1_000_000))
  }

  readonly currentTimeMillis = Effect.sync(() => this.unsafeCurrentTimeMillis())
  readonly currentTimeNanos = Effect.sync(() => this.unsafeCurrentTimeNanos())
  readonly elapsed = Effect.sync(() => Duration.millis(this.now))
  readonly pending = Effect.sync(() => this.sleepers.size)

  sleep(duration: Duration.Duration): Effect.Effect<void> {
    return Effect.async<void>((resume) => this.register(duration, this.sequence++, resume))
  }

  advance(duration: Duration.DurationInput): Effect.Effect<void> {
    const decoded = Duration.decode(duration)
    return Effect.async<void>((resume) => {
      this.horizon = Math.max(this.horizon, this.now + Duration.toMillis(decoded))
      return this.register(decoded, afterAllOthers, resume)
    })
  }

  unsafeAdvance(duration: Duration.DurationInput): void {
    const end = this.now + Duration.toMillis(duration)
    this.horizon = Math.max(this.horizon, end)
    this.scheduler.drainAll()
    let next = this.sleepers.peek()
    while (next !== undefined && next.deadline <= end) {
      this.sleepers.remove(next)
      this.now = Math.max(this.now, next.deadline)
      next.wake()
      this.scheduler.drainAll()
      next = this.sleepers.peek()
    }
    this.now = Math.max(this.now, end)
  }

  private register(
    duration: Duration.Duration,
    sequence: number,
    resume: (effect: Effect.Effect<void>) => void
  ): Effect.Effect<void> | undefined {
    const deadline = this.now + Duration.toMillis(duration)
    if (deadline === Number.POSITIVE_INFINITY) return
    const sleeper: Sleeper = { deadline, sequence, wake: () => resume(Effect.void), index: -1 }
    this.sleepers.push(sleeper)
    this.arm()
    return Effect.sync(() => {
      this.sleepers.remove(sleeper)
    })
  }

  private due(): Sleeper | undefined {
    const next = this.sleepers.peek()
    return next !== undefined && next.deadline <= this.horizon ? next : undefined
  }

  private arm(): void {
    if (this.armed || this.due() === undefined) return
    this.armed = true
    nextTurn(this.jump)
  }

  private readonly jump = (): void => {
    this.armed = false
    if (this.scheduler.drain()) {
      const first = this.due()
      if (first !== undefined) {
        this.now = Math.max(this.now, first.deadline)
        this.wakeAll(this.sequence)
      }
    }
    this.arm()
  }

  /** Sleeps registered meanwhile wait for the next turn, or a loop of empty sleeps would shut out the host. */
  private wakeAll(registeredBefore: number): void {
    let next = this.sleepers.peek()
    while (next !== undefined && next.deadline <= this.now) {
      if (next.sequence >= registeredBefore && next.sequence !== afterAllOthers) return
      this.sleepers.remove(next)
      next.wake()
      if (!this.scheduler.drain()) return
      next = this.sleepers.peek()
    }
  }
}

/**
 * A virtual clock of its own. Put it in force with `withClock`, which also runs the fibers on its scheduler.
 *
 * @since 0.1.0
 * @category constructors
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as VirtualClock from "@switchgear/clock/VirtualClock"
 * import * as Clock from "effect/Clock"
 * import * as Effect from "effect/Effect"
 *
 * const clock = VirtualClock.make({ start: Date.UTC(2026, 0, 1) })
 * const program = Effect.zipRight(Effect.sleep("1 hour"), Clock.currentTimeMillis)
 * const time = await Effect.runPromise(VirtualClock.withClock(program, clock))
 * assert.strictEqual(time, Date.UTC(2026, 0, 1, 1))
 * ```
 */
export const make = (options?: Options): Service => new VirtualClockImpl(options)

/**
 * Runs an effect under a virtual clock.
 *
 * @since 0.1.0
 * @category combinators
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as VirtualClock from "@switchgear/clock/VirtualClock"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.as(Effect.sleep("1 hour"), "awake").pipe(VirtualClock.withClock(VirtualClock.make()))
 * assert.strictEqual(await Effect.runPromise(program), "awake")
 * ```
 */
export const withClock: {
  (clock: Service): <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  <A, E, R>(self: Effect.Effect<A, E, R>, clock: Service): Effect.Effect<A, E, R>
} = dual(
  2,
  <A, E, R>(self: Effect.Effect<A, E, R>, clock: Service): Effect.Effect<A, E, R> =>
    self.pipe(Effect.withClock(clock), Effect.withScheduler(clock.scheduler))
)

/**
 * Puts this clock, and its scheduler, in force.
 *
 * @since 0.1.0
 * @category layers
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as VirtualClock from "@switchgear/clock/VirtualClock"
 * import * as Effect from "effect/Effect"
 *
 * const clock = VirtualClock.make()
 * await Effect.runPromise(Effect.provide(Effect.sleep("1 hour"), VirtualClock.layerFrom(clock)))
 * assert.strictEqual(clock.unsafeCurrentTimeMillis(), 3_600_000)
 * ```
 */
export const layerFrom = (clock: Service): Layer.Layer<VirtualClock> =>
  Layer.scoped(
    VirtualClock,
    Effect.as(
      Effect.zipRight(Effect.withClockScoped(clock), Effect.locallyScoped(FiberRef.currentScheduler, clock.scheduler)),
      clock
    )
  )

/**
 * Puts a new virtual clock in force, with these options.
 *
 * @since 0.1.0
 * @category layers
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as VirtualClock from "@switchgear/clock/VirtualClock"
 * import * as Clock from "effect/Clock"
 * import * as Effect from "effect/Effect"
 *
 * const start = Date.UTC(2026, 0, 1)
 * const program = Effect.provide(Clock.currentTimeMillis, VirtualClock.layerWith({ start }))
 * assert.strictEqual(await Effect.runPromise(program), start)
 * ```
 */
export const layerWith = (options: Options): Layer.Layer<VirtualClock> => Layer.suspend(() => layerFrom(make(options)))

/**
 * Puts a new virtual clock in force. It starts at 0.
 *
 * @since 0.1.0
 * @category layers
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as VirtualClock from "@switchgear/clock/VirtualClock"
 * import * as Clock from "effect/Clock"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function*() {
 *   yield* Effect.sleep("30 seconds") // virtual: no time passes
 *   return yield* Clock.currentTimeMillis
 * })
 * assert.strictEqual(await Effect.runPromise(Effect.provide(program, VirtualClock.layer)), 30_000)
 * ```
 */
export const layer: Layer.Layer<VirtualClock> = layerWith({})

const withService = <A>(f: (clock: Service) => Effect.Effect<A>): Effect.Effect<A, never, VirtualClock> =>
  Effect.flatMap(VirtualClock, f)

/**
 * Lets virtual time pass and runs what is due until then.
 *
 * @since 0.1.0
 * @category accessors
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as VirtualClock from "@switchgear/clock/VirtualClock"
 * import * as Effect from "effect/Effect"
 * import * as Fiber from "effect/Fiber"
 *
 * const program = Effect.gen(function*() {
 *   const fiber = yield* Effect.fork(Effect.as(Effect.sleep("5 minutes"), "awake"))
 *   yield* VirtualClock.advance("5 minutes")
 *   return yield* Fiber.join(fiber)
 * }).pipe(Effect.provide(VirtualClock.layerWith({ manual: true })))
 * assert.strictEqual(await Effect.runPromise(program), "awake")
 * ```
 */
export const advance = (duration: Duration.DurationInput): Effect.Effect<void, never, VirtualClock> =>
  withService((clock) => clock.advance(duration))

/**
 * How much virtual time has passed since the clock was made.
 *
 * @since 0.1.0
 * @category accessors
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as VirtualClock from "@switchgear/clock/VirtualClock"
 * import * as Duration from "effect/Duration"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.zipRight(Effect.sleep("90 seconds"), VirtualClock.elapsed)
 * const elapsed = await Effect.runPromise(Effect.provide(program, VirtualClock.layer))
 * assert.strictEqual(Duration.format(elapsed), "1m 30s")
 * ```
 */
export const elapsed: Effect.Effect<Duration.Duration, never, VirtualClock> = withService((clock) => clock.elapsed)

/**
 * How many sleeps have neither ended nor been interrupted.
 *
 * @since 0.1.0
 * @category accessors
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as VirtualClock from "@switchgear/clock/VirtualClock"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function*() {
 *   yield* Effect.fork(Effect.sleep("1 hour"))
 *   yield* VirtualClock.advance("30 minutes")
 *   return yield* VirtualClock.pending
 * }).pipe(Effect.provide(VirtualClock.layerWith({ manual: true })))
 * assert.strictEqual(await Effect.runPromise(program), 1)
 * ```
 */
export const pending: Effect.Effect<number, never, VirtualClock> = withService((clock) => clock.pending)
