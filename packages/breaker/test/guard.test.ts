import { describe, it } from "@effect/vitest"
import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
import * as VirtualClock from "@switchgear/clock/VirtualClock"
import * as Breaker from "@switchgear/core/Breaker"
import * as Policy from "@switchgear/core/Policy"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Random from "effect/Random"
import * as fc from "fast-check"
import { assert, expectTypeOf } from "vitest"
import { leasesOut, stateOf } from "./support/cell.js"

const policy = Policy.consecutive({ failureThreshold: 2, cooldown: { base: "30 seconds" }, halfOpen: { maxProbes: 1 } })

const make = (options?: Partial<CircuitBreaker.Options>) =>
  CircuitBreaker.make({ name: "upstream", policy, ...options })

/** A breaker past its deadline: the next call is a probe. */
const readyToProbe = Effect.gen(function* () {
  const breaker = yield* make()
  const failing = CircuitBreaker.guard(Effect.fail("down"), breaker)
  yield* Effect.ignore(failing)
  yield* Effect.ignore(failing)
  yield* Effect.sleep("30 seconds")
  return breaker
})

const virtual = Effect.provide(VirtualClock.layer)

describe("guard", () => {
  it("adds CircuitOpen to the errors and nothing else", () => {
    const breaker = Effect.runSync(make())
    const effect: Effect.Effect<number, "down", "R"> = Effect.succeed(1)
    expectTypeOf(CircuitBreaker.guard(effect, breaker)).toEqualTypeOf<
      Effect.Effect<number, "down" | CircuitBreaker.CircuitOpen, "R">
    >()
    expectTypeOf(effect.pipe(CircuitBreaker.guard(breaker))).toEqualTypeOf<
      Effect.Effect<number, "down" | CircuitBreaker.CircuitOpen, "R">
    >()
  })

  it("leaves every exit as it is", () => {
    const exits: ReadonlyArray<Exit.Exit<number, string>> = [
      Exit.succeed(1),
      Exit.fail("down"),
      Exit.die(new Error("bug")),
      Exit.interrupt(Fiber.id(Effect.runFork(Effect.void))),
      Exit.failCause(Cause.parallel(Cause.fail("a"), Cause.die("b")))
    ]
    for (const exit of exits) {
      const breaker = Effect.runSync(make())
      assert.deepStrictEqual(Effect.runSyncExit(CircuitBreaker.guard(exit, breaker)), exit)
      const probing = Effect.gen(function* () {
        yield* CircuitBreaker.forceOpen(breaker)
        yield* CircuitBreaker.auto(breaker)
        return yield* Effect.exit(CircuitBreaker.guard(exit, breaker))
      })
      assert.deepStrictEqual(Effect.runSync(probing), exit)
      assert.strictEqual(leasesOut(breaker), 0)
    }
  })

  it("takes the steps of the machine, for any run of outcomes and pauses", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 20_000 }), fc.boolean()), { maxLength: 60 }),
        async (calls) => {
          const program = Effect.gen(function* () {
            const breaker = yield* make()
            let state = Breaker.initial(policy, 0)
            let now = 0
            for (const [pause, ok] of calls) {
              yield* Effect.sleep(pause)
              now += pause
              const [admission, admitted] = Breaker.acquire(policy, state, now)
              state = admitted
              const exit = yield* Effect.exit(CircuitBreaker.guard(ok ? Effect.void : Effect.fail("down"), breaker))
              if (admission._tag === "Admitted") {
                const outcome = ok ? Breaker.success() : Breaker.failure("unknown")
                state = Breaker.report(policy, state, admission.permit, outcome, now, 0)[1]
                assert.strictEqual(Exit.isSuccess(exit), ok)
              } else {
                assert.deepStrictEqual(
                  Exit.isFailure(exit)
                    ? Cause.failureOption(exit.cause).pipe((o) => (o._tag === "Some" ? o.value : undefined))
                    : undefined,
                  new CircuitBreaker.CircuitOpen("upstream", "Open", admission.retryAfter)
                )
              }
              assert.deepStrictEqual(stateOf(breaker), state)
            }
          })
          await Effect.runPromise(virtual(program))
        }
      )
    ))

  it.live("sends exactly one probe of 50 concurrent callers, and refuses the others with its lease", () =>
    Effect.gen(function* () {
      const breaker = yield* readyToProbe
      const gate = yield* Deferred.make<void>()
      let calls = 0
      const call = Effect.zipRight(
        Effect.sync(() => calls++),
        Deferred.await(gate)
      )
      const fibers = yield* Effect.forEach(Array.from({ length: 50 }), () =>
        Effect.fork(Effect.exit(CircuitBreaker.guard(call, breaker)))
      )
      yield* Effect.sleep("1 second")
      assert.strictEqual(calls, 1)
      yield* Deferred.succeed(gate, undefined)
      const exits = yield* Effect.forEach(fibers, Fiber.join)
      const refused = exits.filter((exit) => Exit.isFailure(exit))
      assert.strictEqual(refused.length, 49)
      assert.strictEqual(stateOf(breaker)._tag, "Closed")
    }).pipe(virtual)
  )

  it.live("gives the lease of an interrupted probe back, and another caller probes (DESIGN 3)", () =>
    Effect.gen(function* () {
      const breaker = yield* readyToProbe
      const fiber = yield* Effect.fork(CircuitBreaker.guard(Effect.never, breaker))
      yield* Effect.sleep("1 second")
      assert.strictEqual(leasesOut(breaker), 1)
      yield* Fiber.interrupt(fiber)
      assert.strictEqual(leasesOut(breaker), 0)
      assert.strictEqual((yield* CircuitBreaker.status(breaker)).counters.released, 1)
      assert.strictEqual(yield* CircuitBreaker.guard(Effect.succeed("back"), breaker), "back")
      assert.strictEqual(stateOf(breaker)._tag, "Closed")
    }).pipe(virtual)
  )

  it.live("releases a call whose caller's timeout ends it, and counts a timeout that is part of the call", () =>
    Effect.gen(function* () {
      const breaker = yield* make()
      yield* Effect.exit(CircuitBreaker.guard(Effect.never, breaker).pipe(Effect.timeout("1 second")))
      assert.deepStrictEqual((yield* CircuitBreaker.view(breaker)).kinds, {})
      yield* Effect.exit(CircuitBreaker.guard(Effect.never.pipe(Effect.timeout("1 second")), breaker))
      assert.deepStrictEqual((yield* CircuitBreaker.view(breaker)).kinds, { timeout: 1 })
    }).pipe(virtual)
  )

  it.live("lets a probe be interrupted while it runs, though it is taken under a mask", () =>
    Effect.gen(function* () {
      const breaker = yield* readyToProbe
      const exit = yield* CircuitBreaker.guard(Effect.never, breaker).pipe(Effect.timeout("1 second"), Effect.exit)
      assert.isTrue(Exit.isFailure(exit))
      assert.strictEqual(leasesOut(breaker), 0)
    }).pipe(virtual)
  )

  it.live("a classifier that throws neither leaks a lease nor hides the caller's result", () =>
    Effect.gen(function* () {
      const breaker = yield* make({
        classify: () => {
          throw new Error("bug in the classifier")
        }
      })
      assert.strictEqual(yield* CircuitBreaker.guard(Effect.succeed(1), breaker), 1)
      const failing = Effect.flip(CircuitBreaker.guard(Effect.fail("down" as const), breaker))
      assert.strictEqual(yield* failing, "down")
      assert.strictEqual(yield* failing, "down")
      assert.strictEqual(stateOf(breaker)._tag, "Open")
      yield* Effect.sleep("30 seconds")
      assert.strictEqual(yield* failing, "down")
      assert.strictEqual(leasesOut(breaker), 0)
      yield* Effect.sleep("30 seconds")
      assert.strictEqual(yield* CircuitBreaker.guard(Effect.succeed(2), breaker), 2)
      assert.strictEqual(stateOf(breaker)._tag, "Closed")
    }).pipe(virtual)
  )

  it("a classifier that uses the breaker finds it whole, and the step after it is made on what it left", () => {
    const breaker: CircuitBreaker.CircuitBreaker = Effect.runSync(
      make({
        classify: () => {
          Effect.runSync(CircuitBreaker.forceOpen(breaker))
          Effect.runSync(CircuitBreaker.reset(breaker))
          return Breaker.failure("timeout")
        }
      })
    )
    Effect.runSyncExit(CircuitBreaker.guard(Effect.fail("down"), breaker))
    // The permit is of an era that is over.
    assert.strictEqual(stateOf(breaker)._tag, "Closed")
    assert.deepStrictEqual(Effect.runSync(CircuitBreaker.view(breaker)).kinds, {})
    assert.deepStrictEqual(
      Effect.runSync(CircuitBreaker.status(breaker)).transitions.map(({ from, to }) => [from, to]),
      [
        ["Closed", "ForcedOpen"],
        ["ForcedOpen", "Closed"]
      ]
    )
  })

  it("asks a guard's own classifier, with the exit, in place of the breaker's", () => {
    const breaker = Effect.runSync(make())
    const guarded = CircuitBreaker.guard(Effect.succeed({ status: 503 }), breaker, {
      classify: (exit) =>
        Exit.isSuccess(exit) && exit.value.status >= 500 ? Breaker.failure("server_error") : Breaker.success()
    })
    Effect.runSync(guarded)
    Effect.runSync(guarded)
    assert.strictEqual(stateOf(breaker)._tag, "Open")
  })

  it("draws a random number only for a call that opens a breaker with jitter (SEMANTICS C4)", () => {
    let draws = 0
    const random: Random.Random = {
      ...Random.fixed([0.5]),
      next: Effect.sync(() => {
        draws++
        return 0.5
      })
    }
    const jittered = Policy.consecutive({ failureThreshold: 2, cooldown: { base: 1_000, jitter: 0.2 } })
    const program = Effect.gen(function* () {
      const breaker = yield* make({ policy: jittered })
      const failing = Effect.ignore(CircuitBreaker.guard(Effect.fail("down"), breaker))
      yield* failing
      yield* CircuitBreaker.guard(Effect.void, breaker)
      yield* failing
      assert.strictEqual(draws, 0)
      yield* failing
      assert.strictEqual(draws, 1)
      assert.strictEqual((yield* CircuitBreaker.view(breaker)).retryAfter, 1_100)
    })
    return Effect.runPromise(program.pipe(Effect.withRandom(random), virtual))
  })

  it.live("honours a retryAfter that a failure carries (SEMANTICS C3)", () =>
    Effect.gen(function* () {
      const breaker = yield* make({
        policy: Policy.consecutive({ failureThreshold: 1, cooldown: { base: 1_000, honorRetryAfter: true } })
      })
      yield* Effect.ignore(CircuitBreaker.guard(Effect.fail({ kind: "rate_limit", retryAfter: 60_000 }), breaker))
      assert.strictEqual((yield* CircuitBreaker.view(breaker)).retryAfter, 60_000)
    }).pipe(virtual)
  )

  it("in shadow mode counts, changes state and says what it would reject, and rejects nothing (DESIGN 12)", () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.integer({ min: 0, max: 20_000 }), fc.boolean()), { maxLength: 40 }),
        async (calls) => {
          const program = Effect.gen(function* () {
            const enforced = yield* make()
            const shadow = yield* make({ enforce: false })
            for (const [pause, ok] of calls) {
              yield* Effect.sleep(pause)
              const call = ok ? Effect.succeed("answer") : Effect.fail("down")
              yield* Effect.exit(CircuitBreaker.guard(call, enforced))
              assert.deepStrictEqual(yield* Effect.exit(CircuitBreaker.guard(call, shadow)), yield* Effect.exit(call))
              assert.deepStrictEqual(stateOf(shadow), stateOf(enforced))
            }
            const [one, other] = [yield* CircuitBreaker.status(enforced), yield* CircuitBreaker.status(shadow)]
            assert.deepStrictEqual(other, { ...one, enforced: false })
          })
          await Effect.runPromise(virtual(program))
        }
      ),
      { numRuns: 50 }
    ))
})
