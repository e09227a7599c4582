/**
 * A clock that lies on a script: it jumps ahead, steps back and stands still, as clocks of suspended machines and of
 * hosts whose time is corrected do.
 *
 * It wraps another clock. Its readings are that clock's, plus what the script has done so far; its sleeps are that
 * clock's own, since a host's timers do not follow a correction of its time.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { mergeFreezes, type Step, shift } from "./internal/faults.js"

/**
 * What happens to the readings. `at` is the wrapped clock's time since this clock was made.
 *
 * - `Jump`: they go on from `by` ahead.
 * - `StepBack`: they go on from `by` behind.
 * - `Freeze`: they stand still for as long as `lasts`, then go on from there, so they stay behind.
 *
 * `of` says which readings: `"wall"` (milliseconds; what a correction of the host's time does), `"monotonic"`
 * (nanoseconds) or `"both"`. Default `"both"`.
 *
 * @since 0.1.0
 * @category models
 */
export type Fault =
  | {
      readonly _tag: "Jump" | "StepBack"
      readonly at: Duration.DurationInput
      readonly by: Duration.DurationInput
      readonly of?: Readings | undefined
    }
  | {
      readonly _tag: "Freeze"
      readonly at: Duration.DurationInput
      readonly lasts: Duration.DurationInput
      readonly of?: Readings | undefined
    }

/**
 * Which readings a fault touches.
 *
 * @since 0.1.0
 * @category models
 */
export type Readings = "wall" | "monotonic" | "both"

/**
 * Readings go on from `by` ahead, once the wrapped clock has run for `at`.
 *
 * @since 0.1.0
 * @category faults
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as FaultyClock from "@switchgear/clock/FaultyClock"
 * import * as VirtualClock from "@switchgear/clock/VirtualClock"
 * import * as Clock from "effect/Clock"
 * import * as Effect from "effect/Effect"
 *
 * const virtual = VirtualClock.make()
 * const faulty = FaultyClock.make(virtual, [FaultyClock.jump("3 seconds", "1 hour")])
 * const program = Effect.zipRight(Effect.sleep("10 seconds"), Clock.currentTimeMillis)
 * const time = program.pipe(Effect.withClock(faulty), VirtualClock.withClock(virtual))
 * assert.strictEqual(await Effect.runPromise(time), 3_610_000)
 * ```
 */
export const jump = (at: Duration.DurationInput, by: Duration.DurationInput, of: Readings = "both"): Fault => ({
  _tag: "Jump",
  at,
  by,
  of
})

/**
 * Readings go on from `by` behind, once the wrapped clock has run for `at`.
 *
 * @since 0.1.0
 * @category faults
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as FaultyClock from "@switchgear/clock/FaultyClock"
 * import * as VirtualClock from "@switchgear/clock/VirtualClock"
 * import * as Clock from "effect/Clock"
 * import * as Effect from "effect/Effect"
 *
 * const virtual = VirtualClock.make()
 * const faulty = FaultyClock.make(virtual, [FaultyClock.stepBack("3 seconds", "2 seconds", "wall")])
 * const program = Effect.zipRight(Effect.sleep("10 seconds"), Clock.currentTimeMillis)
 * const time = program.pipe(Effect.withClock(faulty), VirtualClock.withClock(virtual))
 * assert.strictEqual(await Effect.runPromise(time), 8_000)
 * ```
 */
export const stepBack = (at: Duration.DurationInput, by: Duration.DurationInput, of: Readings = "both"): Fault => ({
  _tag: "StepBack",
  at,
  by,
  of
})

/**
 * Readings stand still for as long as `lasts`, once the wrapped clock has run for `at`.
 *
 * @since 0.1.0
 * @category faults
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as FaultyClock from "@switchgear/clock/FaultyClock"
 * import * as VirtualClock from "@switchgear/clock/VirtualClock"
 * import * as Clock from "effect/Clock"
 * import * as Effect from "effect/Effect"
 *
 * const virtual = VirtualClock.make()
 * const faulty = FaultyClock.make(virtual, [FaultyClock.freeze("3 seconds", "5 seconds")])
 * const program = Effect.zipRight(Effect.sleep("10 seconds"), Clock.currentTimeMillis)
 * const time = program.pipe(Effect.withClock(faulty), VirtualClock.withClock(virtual))
 * assert.strictEqual(await Effect.runPromise(time), 5_000)
 * ```
 */
export const freeze = (at: Duration.DurationInput, lasts: Duration.DurationInput, of: Readings = "both"): Fault => ({
  _tag: "Freeze",
  at,
  lasts,
  of
})

const step = (fault: Fault): Step => {
  const at = Duration.toMillis(fault.at)
  if (fault._tag === "Freeze") return { at, by: Duration.toMillis(fault.lasts), freezes: true }
  const by = Duration.toMillis(fault.by)
  return { at, by: fault._tag === "Jump" ? by : -by, freezes: false }
}

const steps = (script: ReadonlyArray<Fault>, readings: "wall" | "monotonic"): ReadonlyArray<Step> => {
  const touching = script.filter(({ of = "both" }) => of === "both" || of === readings)
  return mergeFreezes(touching.map(step))
}

class FaultyClockImpl implements Clock.Clock {
  readonly [Clock.ClockTypeId]: Clock.ClockTypeId = Clock.ClockTypeId
  private readonly origin: bigint
  private readonly wall: ReadonlyArray<Step>
  private readonly monotonic: ReadonlyArray<Step>

  constructor(
    private readonly clock: Clock.Clock,
    script: ReadonlyArray<Fault>
  ) {
    this.origin = clock.unsafeCurrentTimeNanos()
    this.wall = steps(script, "wall")
    this.monotonic = steps(script, "monotonic")
  }

  unsafeCurrentTimeMillis(): number {
    return this.clock.unsafeCurrentTimeMillis() + Math.floor(shift(this.wall, this.age()))
  }

  unsafeCurrentTimeNanos(): bigint {
    return this.clock.unsafeCurrentTimeNanos() + BigInt(Math.round(shift(this.monotonic, this.age()) * 1_000_000))
  }

  readonly currentTimeMillis = Effect.sync(() => this.unsafeCurrentTimeMillis())
  readonly currentTimeNanos = Effect.sync(() => this.unsafeCurrentTimeNanos())

  sleep(duration: Duration.Duration): Effect.Effect<void> {
    return this.clock.sleep(duration)
  }

  private age(): number {
    return Number(this.clock.unsafeCurrentTimeNanos() - this.origin) / 1_000_000
  }
}

/**
 * Wraps a clock. The order of the script does not matter.
 *
 * @since 0.1.0
 * @category constructors
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as FaultyClock from "@switchgear/clock/FaultyClock"
 * import * as VirtualClock from "@switchgear/clock/VirtualClock"
 * import * as Clock from "effect/Clock"
 * import * as Effect from "effect/Effect"
 *
 * const virtual = VirtualClock.make()
 * const faulty = FaultyClock.make(virtual, [FaultyClock.stepBack("3 seconds", "2 seconds")])
 * const program = Effect.zipRight(Effect.sleep("10 seconds"), Clock.currentTimeMillis)
 * const time = program.pipe(Effect.withClock(faulty), VirtualClock.withClock(virtual))
 * assert.strictEqual(await Effect.runPromise(time), 8_000)
 * ```
 */
export const make = (clock: Clock.Clock, script: ReadonlyArray<Fault>): Clock.Clock =>
  new FaultyClockImpl(clock, script)

/**
 * Wraps the clock in force: provide the clock to be wrapped to this layer.
 *
 * @since 0.1.0
 * @category layers
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as FaultyClock from "@switchgear/clock/FaultyClock"
 * import * as VirtualClock from "@switchgear/clock/VirtualClock"
 * import * as Clock from "effect/Clock"
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 *
 * const Suspended = FaultyClock.layer([FaultyClock.freeze("1 second", "1 minute")]).pipe(
 *   Layer.provide(VirtualClock.layer)
 * )
 * const program = Effect.zipRight(Effect.sleep("30 seconds"), Clock.currentTimeMillis)
 * assert.strictEqual(await Effect.runPromise(Effect.provide(program, Suspended)), 1_000)
 * ```
 */
export const layer = (script: ReadonlyArray<Fault>): Layer.Layer<never> =>
  Layer.unwrapEffect(Effect.map(Effect.clock, (clock) => Layer.setClock(make(clock, script))))
