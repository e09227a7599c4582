import { describe, it } from "@effect/vitest"
import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
import * as FaultyClock from "@switchgear/clock/FaultyClock"
import * as LiveClock from "@switchgear/clock/LiveClock"
import * as VirtualClock from "@switchgear/clock/VirtualClock"
import * as Policy from "@switchgear/core/Policy"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as TestClock from "effect/TestClock"
import { assert } from "vitest"

const policy = Policy.consecutive({ failureThreshold: 2, cooldown: { base: "30 seconds" } })

/** A service that fails as long as it is told to, and counts its calls. */
const service = () => {
  const upstream = { up: false, calls: 0 }
  const call = Effect.suspend(() => {
    upstream.calls++
    return upstream.up ? Effect.succeed("back") : Effect.fail("down")
  })
  return { upstream, call }
}

/** Trips, is refused until the deadline, then sends one probe and recovers. */
const roundTrip = (pass: (ms: number) => Effect.Effect<void>) =>
  Effect.gen(function* () {
    const { call, upstream } = service()
    const breaker = yield* CircuitBreaker.make({ name: "upstream", policy })
    const guarded = Effect.either(CircuitBreaker.guard(call, breaker))
    assert.deepStrictEqual(yield* guarded, Either.left("down"))
    assert.deepStrictEqual(yield* guarded, Either.left("down"))
    assert.strictEqual(upstream.calls, 2)

    yield* pass(29_999)
    const refused = yield* guarded
    assert.isTrue(Either.isLeft(refused) && CircuitBreaker.isCircuitOpen(refused.left))
    if (Either.isLeft(refused) && CircuitBreaker.isCircuitOpen(refused.left)) {
      assert.strictEqual(refused.left.retryAfterMillis, 1)
    }
    assert.strictEqual(upstream.calls, 2)

    yield* pass(1)
    upstream.up = true
    assert.strictEqual((yield* CircuitBreaker.view(breaker)).state, "HalfOpen")
    assert.deepStrictEqual(yield* guarded, Either.right("back"))
    assert.strictEqual((yield* CircuitBreaker.view(breaker)).state, "Closed")
  })

describe("a guarded effect", () => {
  it.live("under the virtual clock opens, and probes at exactly its deadline (SEMANTICS T3)", () =>
    roundTrip(Effect.sleep).pipe(Effect.provide(VirtualClock.layer))
  )

  it.live("under the virtual clock does so from any start, since only differences matter (SEMANTICS T1)", () =>
    Effect.forEach(
      [1, 999_999_999_999, Date.UTC(2026, 10, 30, 13, 7, 11) + 123, 8_000_000_000_000],
      (start) => roundTrip(Effect.sleep).pipe(Effect.provide(VirtualClock.layerWith({ start }))),
      { discard: true }
    )
  )

  it.effect("under Effect's test clock does so too", () => roundTrip(TestClock.adjust))

  it.effect("under the live clock opens, and tells how long", () =>
    Effect.gen(function* () {
      const { call, upstream } = service()
      const breaker = yield* CircuitBreaker.make({ name: "upstream", policy })
      const guarded = CircuitBreaker.guard(call, breaker)
      yield* Effect.ignore(guarded)
      yield* Effect.ignore(guarded)
      const refused = yield* Effect.flip(guarded)
      assert.isTrue(CircuitBreaker.isCircuitOpen(refused))
      if (CircuitBreaker.isCircuitOpen(refused)) {
        assert.isAbove(refused.retryAfterMillis ?? 0, 0)
        assert.isAtMost(refused.retryAfterMillis ?? 0, 30_000)
      }
      assert.strictEqual(upstream.calls, 2)
      const { until = 0 } = yield* CircuitBreaker.view(breaker)
      assert.isAtMost(Math.abs(until - (yield* Clock.currentTimeMillis) - 30_000), 30_000)
    }).pipe(Effect.provide(LiveClock.layer))
  )

  const faulty = (script: ReadonlyArray<FaultyClock.Fault>) =>
    FaultyClock.layer(script).pipe(Layer.provideMerge(VirtualClock.layer))

  const tripped = Effect.gen(function* () {
    const { call, upstream } = service()
    const breaker = yield* CircuitBreaker.make({ name: "upstream", policy })
    const guarded = Effect.either(CircuitBreaker.guard(call, breaker))
    yield* Effect.sleep("1 second")
    yield* guarded
    yield* guarded
    const retryAfter = Effect.map(CircuitBreaker.view(breaker), (view) => view.retryAfter)
    return { upstream, guarded, retryAfter, breaker }
  })

  it.live(
    "stays open for its cooldown when the clock steps back: time stands still in it meanwhile (SEMANTICS T2)",
    () =>
      Effect.gen(function* () {
        const { retryAfter, upstream, guarded } = yield* tripped
        yield* Effect.sleep("2 seconds")
        assert.strictEqual(yield* retryAfter, 30_000)
        yield* Effect.sleep("8 seconds")
        assert.strictEqual(yield* retryAfter, 30_000)
        yield* Effect.sleep("29 seconds")
        yield* guarded
        assert.strictEqual(upstream.calls, 2)
        yield* Effect.sleep("1 second")
        yield* guarded
        assert.strictEqual(upstream.calls, 3)
      }).pipe(Effect.provide(faulty([FaultyClock.stepBack("2 seconds", "10 seconds")])))
  )

  it.live("probes at once when the clock jumps past its deadline", () =>
    Effect.gen(function* () {
      const { retryAfter, upstream, guarded } = yield* tripped
      yield* Effect.sleep("1 second")
      assert.strictEqual(yield* retryAfter, 0)
      yield* guarded
      assert.strictEqual(upstream.calls, 3)
    }).pipe(Effect.provide(faulty([FaultyClock.jump("2 seconds", "1 day")])))
  )

  it.live("neither opens nor closes while the clock stands still", () =>
    Effect.gen(function* () {
      const { retryAfter, upstream, guarded } = yield* tripped
      yield* Effect.sleep("1 hour")
      assert.strictEqual(yield* retryAfter, 30_000)
      yield* guarded
      assert.strictEqual(upstream.calls, 2)
      yield* Effect.sleep("30 seconds")
      assert.strictEqual(yield* retryAfter, 0)
    }).pipe(Effect.provide(faulty([FaultyClock.freeze("1 second", "1 hour")])))
  )

  it.live("does not notice wall time: a correction of it moves no deadline (SEMANTICS T5)", () =>
    Effect.gen(function* () {
      const { breaker, retryAfter } = yield* tripped
      yield* Effect.sleep("10 seconds")
      assert.strictEqual(yield* retryAfter, 20_000)
      // What people are told is wall time, as it is now.
      const { until } = yield* CircuitBreaker.view(breaker)
      assert.strictEqual(until, (yield* Clock.currentTimeMillis) + 20_000)
    }).pipe(
      Effect.provide(
        faulty([FaultyClock.jump("2 seconds", "1 day", "wall"), FaultyClock.stepBack("3 seconds", "2 days", "wall")])
      )
    )
  )
})
