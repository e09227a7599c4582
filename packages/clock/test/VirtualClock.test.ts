import { describe, it } from "@effect/vitest"
import * as VirtualClock from "@switchgear/clock/VirtualClock"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Schedule from "effect/Schedule"
import * as fc from "fast-check"
import { assert } from "vitest"

/** Forks one sleeper per entry and gives the order in which they woke, with the times. */
const wakeOrder = (sleeps: ReadonlyArray<number>) =>
  Effect.gen(function* () {
    const woke: Array<readonly [index: number, at: number]> = []
    yield* Effect.forEach(
      sleeps,
      (ms, index) =>
        Effect.andThen(
          Effect.sleep(ms),
          Effect.map(Clock.currentTimeMillis, (at) => void woke.push([index, at]))
        ),
      { concurrency: "unbounded", discard: true }
    )
    return woke
  }).pipe(Effect.provide(VirtualClock.layer))

const durations = fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 40 })

describe("VirtualClock", () => {
  it("wakes sleeps in order of deadline, ties in order of registration, at their deadlines", () =>
    fc.assert(
      fc.asyncProperty(durations, async (sleeps) => {
        const expected = sleeps.map((ms, index) => [index, ms] as const).sort((a, b) => a[1] - b[1])
        assert.deepStrictEqual(await Effect.runPromise(wakeOrder(sleeps)), expected)
      })
    ))

  it("takes the same steps in the same order in two runs", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 6 }), { maxLength: 12 }),
        async (scripts) => {
          const run = Effect.gen(function* () {
            const log: Array<string> = []
            yield* Effect.forEach(
              scripts,
              (script, fiber) =>
                Effect.forEach(script, (ms, step) =>
                  Effect.gen(function* () {
                    if (ms === 0) yield* Effect.yieldNow()
                    else if (ms === 1) yield* Effect.promise(() => Promise.resolve())
                    else yield* Effect.sleep(ms)
                    log.push(`${fiber}.${step}@${yield* Clock.currentTimeMillis}`)
                  })
                ),
              { concurrency: "unbounded", discard: true }
            )
            return log
          }).pipe(Effect.provide(VirtualClock.layer))
          assert.deepStrictEqual(await Effect.runPromise(run), await Effect.runPromise(run))
        }
      ),
      { numRuns: 50 }
    ))

  it("never lets time go backwards", () =>
    fc.assert(
      fc.asyncProperty(durations, async (sleeps) => {
        const clock = VirtualClock.make({ start: 1_000 })
        const readings: Array<bigint> = [clock.unsafeCurrentTimeNanos()]
        const program = Effect.forEach(
          sleeps,
          (ms) =>
            Effect.andThen(
              Effect.sleep(Duration.micros(BigInt(ms * 300))),
              Effect.map(Clock.currentTimeNanos, (at) => void readings.push(at))
            ),
          { concurrency: 3 }
        )
        await Effect.runPromise(VirtualClock.withClock(program, clock))
        for (const [i, reading] of readings.entries()) assert.isTrue(i === 0 || reading >= (readings[i - 1] ?? 0n))
      })
    ))

  it("removes a sleep that is interrupted, wherever it stands, and wakes the others in order", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.integer({ min: 1, max: 30 }), fc.boolean()), { maxLength: 40 }),
        async (sleeps) => {
          const clock = VirtualClock.make()
          const woke: Array<number> = []
          const program = Effect.gen(function* () {
            const fibers = yield* Effect.forEach(sleeps, ([ms], index) =>
              Effect.fork(
                Effect.andThen(
                  Effect.sleep(ms),
                  Effect.sync(() => void woke.push(index))
                )
              )
            )
            yield* Effect.yieldNow()
            assert.strictEqual(yield* clock.pending, sleeps.length)
            yield* Effect.forEach(fibers, (fiber, index) =>
              sleeps[index]?.[1] === true ? Fiber.interrupt(fiber) : Effect.void
            )
            assert.strictEqual(yield* clock.pending, sleeps.filter(([, interrupted]) => !interrupted).length)
            yield* Fiber.awaitAll(fibers)
          })
          await Effect.runPromise(VirtualClock.withClock(program, clock))
          const expected = sleeps
            .map(([ms, interrupted], index) => ({ ms, interrupted, index }))
            .filter((sleep) => !sleep.interrupted)
            .sort((a, b) => a.ms - b.ms)
          assert.deepStrictEqual(
            woke,
            expected.map((sleep) => sleep.index)
          )
          assert.strictEqual(Effect.runSync(clock.pending), 0)
        }
      )
    ))

  it.live("waits for fibers that are still running, through thousands of yields, before time jumps", () =>
    Effect.gen(function* () {
      const busy = yield* Effect.fork(
        Effect.andThen(Effect.repeatN(Effect.yieldNow(), 10_000), Clock.currentTimeMillis)
      )
      yield* Effect.sleep("1 hour")
      assert.strictEqual(yield* Fiber.join(busy), 0)
    }).pipe(Effect.provide(VirtualClock.layer))
  )

  it.live("waits for promises that are settled, before time jumps", () =>
    Effect.gen(function* () {
      const promises = yield* Effect.fork(
        Effect.andThen(
          Effect.repeatN(
            Effect.promise(() => Promise.resolve()),
            100
          ),
          Clock.currentTimeMillis
        )
      )
      yield* Effect.sleep("1 hour")
      assert.strictEqual(yield* Fiber.join(promises), 0)
    }).pipe(Effect.provide(VirtualClock.layer))
  )

  it.live("lets a fiber that wakes interrupt another whose sleep ends at the same time", () =>
    Effect.gen(function* () {
      const victim = yield* Deferred.make<Fiber.RuntimeFiber<string>>()
      yield* Effect.fork(
        Effect.sleep("1 second").pipe(Effect.andThen(Deferred.await(victim)), Effect.andThen(Fiber.interruptFork))
      )
      yield* Effect.yieldNow()
      const fiber = yield* Effect.fork(Effect.as(Effect.sleep("1 second"), "woke"))
      yield* Deferred.succeed(victim, fiber)
      assert.isTrue(Exit.isInterrupted(yield* Fiber.await(fiber)))
    }).pipe(Effect.provide(VirtualClock.layer))
  )

  it.live("serves timeouts, schedules and days of waiting", () =>
    Effect.gen(function* () {
      const timedOut = yield* Effect.never.pipe(
        Effect.timeoutTo({ duration: "3 hours", onSuccess: () => "ok", onTimeout: () => "late" })
      )
      assert.strictEqual(timedOut, "late")
      yield* Effect.repeat(
        Effect.void,
        Schedule.addDelay(Schedule.recurs(10), () => "30 days")
      )
      assert.strictEqual(
        yield* Clock.currentTimeMillis,
        Duration.toMillis("3 hours") + 10 * Duration.toMillis("30 days")
      )
      assert.strictEqual(Duration.toDays(Duration.subtract(yield* VirtualClock.elapsed, "3 hours")), 300)
      assert.strictEqual(yield* VirtualClock.pending, 0)
    }).pipe(Effect.provide(VirtualClock.layer))
  )

  it.live("under manual control passes only when told, and ends what is due until then in order", () =>
    Effect.gen(function* () {
      const log: Array<string> = []
      const sleeper = (name: string, ms: number) =>
        Effect.fork(
          Effect.andThen(
            Effect.sleep(ms),
            Effect.sync(() => void log.push(name))
          )
        )
      yield* sleeper("b", 200)
      yield* sleeper("a", 100)
      yield* sleeper("c", 300)
      yield* VirtualClock.advance(200)
      assert.deepStrictEqual(log, ["a", "b"])
      yield* Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 5)))
      assert.deepStrictEqual(log, ["a", "b"])
      assert.strictEqual(yield* Clock.currentTimeMillis, 200)
      assert.strictEqual(yield* VirtualClock.pending, 1)
      yield* VirtualClock.advance(100)
      assert.deepStrictEqual(log, ["a", "b", "c"])
    }).pipe(Effect.provide(VirtualClock.layerWith({ manual: true })))
  )

  it.live("gives each program that is provided the layer a clock of its own", () =>
    Effect.gen(function* () {
      const program = Effect.zipRight(Effect.sleep(10), Clock.currentTimeMillis).pipe(
        Effect.provide(VirtualClock.layer)
      )
      assert.strictEqual(yield* program, 10)
      assert.strictEqual(yield* program, 10)
      assert.isAbove(yield* Clock.currentTimeMillis, Date.UTC(2020, 0))
    })
  )

  it("reads whole ms and exact nanoseconds from any start", () => {
    const start = Date.UTC(2026, 10, 30)
    const clock = VirtualClock.make({ start })
    return Effect.gen(function* () {
      yield* Effect.sleep(Duration.nanos(1_500_001n))
      assert.strictEqual(clock.unsafeCurrentTimeMillis(), start + 1)
      assert.strictEqual(clock.unsafeCurrentTimeNanos(), BigInt(start) * 1_000_000n + 1_500_001n)
    }).pipe(VirtualClock.withClock(clock), Effect.runPromise)
  })

  it("advances for a driver that is no fiber, and wakes as it does for one", () => {
    fc.assert(
      fc.property(durations, fc.array(fc.nat(15), { maxLength: 5 }), (sleeps, steps) => {
        const clock = VirtualClock.make({ manual: true })
        const woke: Array<readonly [index: number, at: number]> = []
        const sleeper = (ms: number, index: number) =>
          Effect.map(Effect.zipRight(Effect.sleep(ms), Clock.currentTimeMillis), (at) => void woke.push([index, at]))
        for (const [index, ms] of sleeps.entries()) Effect.runFork(VirtualClock.withClock(sleeper(ms, index), clock))
        let now = 0
        for (const step of [...steps, 100]) {
          clock.unsafeAdvance(step)
          now += step
          assert.strictEqual(clock.unsafeCurrentTimeMillis(), now)
          const due = sleeps.map((ms, index) => [index, ms] as const).filter(([, ms]) => ms <= now)
          assert.deepStrictEqual(
            woke,
            [...due].sort((a, b) => a[1] - b[1] || a[0] - b[0])
          )
        }
      })
    )
  })

  it("runs all that a wake-up makes due before the driver has its turn back", () => {
    const clock = VirtualClock.make({ manual: true })
    let ticks = 0
    const tick = Effect.zipRight(
      Effect.sleep(1),
      Effect.sync(() => {
        ticks++
      })
    )
    const fiber = Effect.runFork(VirtualClock.withClock(Effect.forever(tick), clock))
    clock.unsafeAdvance("10 seconds")
    assert.strictEqual(ticks, 10_000)
    fiber.unsafeInterruptAsFork(fiber.id())
  })
})
