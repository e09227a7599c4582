import { describe, it } from "@effect/vitest"
import * as FaultyClock from "@switchgear/clock/FaultyClock"
import * as LiveClock from "@switchgear/clock/LiveClock"
import * as VirtualClock from "@switchgear/clock/VirtualClock"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as fc from "fast-check"
import { assert } from "vitest"

/** Readings of wall and monotonic time, in ms, once a second. */
const readings = (script: ReadonlyArray<FaultyClock.Fault>, seconds: number) =>
  Effect.forEach(Array.from({ length: seconds }), () =>
    Effect.gen(function* () {
      yield* Effect.sleep("1 second")
      return [yield* Clock.currentTimeMillis, Number(yield* Clock.currentTimeNanos) / 1_000_000] as const
    })
  ).pipe(Effect.provide(FaultyClock.layer(script).pipe(Layer.provideMerge(VirtualClock.layer))), Effect.runPromise)

const both = (times: ReadonlyArray<number>) => times.map((time) => [time, time] as const)

const at = fc.integer({ min: 0, max: 5_000 })

describe("FaultyClock", () => {
  it("jumps ahead", async () =>
    assert.deepStrictEqual(
      await readings([FaultyClock.jump("2 seconds", "1 hour")], 3),
      both([1_000, 3_602_000, 3_603_000])
    ))

  it("steps back", async () =>
    assert.deepStrictEqual(await readings([FaultyClock.stepBack(2_500, 2_000)], 4), both([1_000, 2_000, 1_000, 2_000])))

  it("stands still, then goes on from there", async () =>
    assert.deepStrictEqual(
      await readings([FaultyClock.freeze(1_500, 2_000)], 5),
      both([1_000, 1_500, 1_500, 2_000, 3_000])
    ))

  it("touches only the readings a fault names", async () =>
    assert.deepStrictEqual(
      await readings([FaultyClock.jump(0, 500, "wall"), FaultyClock.stepBack(1_000, 100, "monotonic")], 2),
      [
        [1_500, 900],
        [2_500, 1_900]
      ]
    ))

  it("without a step back never runs backwards, however freezes overlap", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.oneof(
            fc.record({ _tag: fc.constant("Jump" as const), at, by: at }),
            fc.record({ _tag: fc.constant("Freeze" as const), at, lasts: at })
          )
        ),
        async (script) => {
          const times = (await readings(script, 10)).map(([wall]) => wall)
          assert.deepStrictEqual(
            times,
            [...times].sort((a, b) => a - b)
          )
        }
      )
    ))

  it("of an empty script reads as the clock it wraps", async () =>
    assert.deepStrictEqual(await readings([], 2), both([1_000, 2_000])))
})

describe("LiveClock", () => {
  it.effect("tells the host's time inside a test, with monotonic nanoseconds", () =>
    Effect.gen(function* () {
      assert.isAbove(yield* Clock.currentTimeMillis, Date.UTC(2020, 0))
      let last = yield* Clock.currentTimeNanos
      for (let i = 0; i < 100; i++) {
        const next = yield* Clock.currentTimeNanos
        assert.isTrue(next >= last)
        last = next
      }
      yield* Effect.sleep(1)
      assert.isTrue((yield* Clock.currentTimeNanos) > last)
    }).pipe(Effect.provide(LiveClock.layer))
  )
})
