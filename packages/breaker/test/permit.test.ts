import { describe, it } from "@effect/vitest"
import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
import * as VirtualClock from "@switchgear/clock/VirtualClock"
import * as Breaker from "@switchgear/core/Breaker"
import * as Policy from "@switchgear/core/Policy"
import * as Snapshot from "@switchgear/core/Snapshot"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import { assert } from "vitest"
import { leasesOut, stateOf } from "./support/cell.js"

const policy = Policy.consecutive({ failureThreshold: 2, cooldown: { base: "30 seconds" } })
const make = CircuitBreaker.make({ name: "queue", policy })
const virtual = Effect.provide(VirtualClock.layer)

const readyToProbe = Effect.tap(make, (breaker) =>
  Effect.zipRight(CircuitBreaker.forceOpen(breaker), CircuitBreaker.auto(breaker))
)

describe("permits", () => {
  it.effect("are released when their scope closes, however it does", () =>
    Effect.gen(function* () {
      for (const end of [Effect.void, Effect.fail("down"), Effect.die("bug"), Effect.interrupt]) {
        const breaker = yield* readyToProbe
        const use = Effect.zipRight(
          CircuitBreaker.acquire(breaker),
          Effect.suspend(() => {
            assert.strictEqual(leasesOut(breaker), 1)
            return end
          })
        )
        yield* Effect.exit(Effect.scoped(use))
        assert.strictEqual(leasesOut(breaker), 0)
        assert.strictEqual(stateOf(breaker)._tag, "HalfOpen")
      }
    })
  )

  it.effect("count once, whatever is reported later (SEMANTICS R2)", () =>
    Effect.gen(function* () {
      const breaker = yield* make
      yield* Effect.scoped(
        Effect.gen(function* () {
          const permit = yield* CircuitBreaker.acquire(breaker)
          assert.isFalse(permit.isProbe)
          assert.strictEqual(yield* CircuitBreaker.report(permit, Breaker.failure("timeout")), "Applied")
          assert.strictEqual(yield* CircuitBreaker.report(permit, Breaker.failure("timeout")), "Stale")
        })
      )
      const { counters, view } = yield* CircuitBreaker.status(breaker)
      assert.strictEqual(view.streak, 1)
      assert.deepInclude(counters, { admitted: 1, failed: 1, released: 0 })
    })
  )

  it.effect("are refused with CircuitOpen", () =>
    Effect.gen(function* () {
      const breaker = yield* readyToProbe
      const probe = yield* CircuitBreaker.unsafeAcquire(breaker)
      assert.isTrue(probe.isProbe)
      assert.strictEqual(probe.breaker, "queue")
      const open = yield* Effect.flip(CircuitBreaker.unsafeAcquire(breaker))
      assert.deepStrictEqual([open.state, open.retryAfterMillis], ["HalfOpen", 120_000])
      yield* CircuitBreaker.report(probe, Breaker.success())
      assert.strictEqual(stateOf(breaker)._tag, "Closed")
    })
  )

  it.effect("have a tail after a probe's first output, on which only a failure counts (SEMANTICS R7)", () =>
    Effect.gen(function* () {
      const breaker = yield* readyToProbe
      const probe = yield* CircuitBreaker.unsafeAcquire(breaker)
      assert.isTrue(Option.isNone(yield* CircuitBreaker.tailPermit(breaker)))
      yield* CircuitBreaker.report(probe, Breaker.success(5))
      const tail = yield* Effect.flatten(CircuitBreaker.tailPermit(breaker))
      assert.strictEqual(yield* CircuitBreaker.report(tail, Breaker.success()), "Stale")
      assert.strictEqual(yield* CircuitBreaker.report(tail, Breaker.failure("network_error")), "Applied")
      assert.strictEqual((yield* CircuitBreaker.view(breaker)).streak, 1)
    })
  )

  it.effect("of a breaker with jitter draw their random number uninterruptibly, so that no report is lost", () =>
    Effect.gen(function* () {
      const jittered = Policy.consecutive({ failureThreshold: 1, cooldown: { base: 1_000, jitter: 1 } })
      const breaker = yield* CircuitBreaker.make({ name: "queue", policy: jittered })
      const slow: Random.Random = {
        ...Random.fixed([0.25]),
        next: Effect.as(Effect.repeatN(Effect.yieldNow(), 5), 0.25)
      }
      const fiber = yield* Effect.fork(Effect.withRandom(CircuitBreaker.guard(Effect.fail("down"), breaker), slow))
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(fiber)
      assert.strictEqual((yield* CircuitBreaker.view(breaker)).retryAfter, 1_250)
    })
  )
})

describe("manual control and snapshots", () => {
  it.live("forceOpen refuses for its time, forceClosed admits, auto and reset end them (SEMANTICS M1)", () =>
    Effect.gen(function* () {
      const breaker = yield* make
      const call = Effect.exit(CircuitBreaker.guard(Effect.fail("down"), breaker))
      yield* CircuitBreaker.forceOpen(breaker, "90 seconds")
      assert.deepInclude(yield* CircuitBreaker.view(breaker), { state: "Open", forced: true, retryAfter: 90_000 })
      yield* Effect.sleep("90 seconds")
      assert.deepInclude(yield* CircuitBreaker.view(breaker), { state: "HalfOpen", forced: false })
      yield* CircuitBreaker.forceOpen(breaker)
      assert.deepStrictEqual(yield* call, Exit.fail(new CircuitBreaker.CircuitOpen("queue", "Open", undefined)))
      yield* CircuitBreaker.forceClosed(breaker)
      for (let i = 0; i < 5; i++) assert.deepStrictEqual(yield* call, Exit.fail("down"))
      assert.deepInclude(yield* CircuitBreaker.view(breaker), { state: "Closed", forced: true })
      yield* CircuitBreaker.auto(breaker)
      yield* call
      assert.deepInclude(yield* CircuitBreaker.view(breaker), { state: "Closed", forced: false, streak: 1 })
      yield* CircuitBreaker.command(breaker, Breaker.reset)
      assert.deepInclude(yield* CircuitBreaker.view(breaker), { streak: 0 })
    }).pipe(virtual)
  )

  it.live("a snapshot brings what is left of a cooldown to another breaker (SEMANTICS S9)", () =>
    Effect.gen(function* () {
      const breaker = yield* make
      const call = Effect.exit(CircuitBreaker.guard(Effect.fail("down"), breaker))
      yield* call
      yield* call
      yield* Effect.sleep("10 seconds")
      const stored = JSON.parse(JSON.stringify(yield* CircuitBreaker.snapshot(breaker)))
      yield* Effect.sleep("5 seconds")
      const decoded = Snapshot.decode(stored)
      const other = yield* make
      if (decoded._tag === "Success") yield* CircuitBreaker.restore(other, decoded.value)
      assert.deepInclude(yield* CircuitBreaker.view(other), { state: "Open", retryAfter: 15_000, openings: 1 })
    }).pipe(virtual)
  )

  it.live("a restore makes the permits of before stale", () =>
    Effect.gen(function* () {
      const breaker = yield* make
      const permit = yield* CircuitBreaker.unsafeAcquire(breaker)
      yield* CircuitBreaker.restore(breaker, yield* CircuitBreaker.snapshot(breaker))
      assert.strictEqual(yield* CircuitBreaker.report(permit, Breaker.failure("timeout")), "Stale")
    })
  )
})
