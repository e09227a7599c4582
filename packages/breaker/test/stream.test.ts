import { describe, it } from "@effect/vitest"
import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
import * as VirtualClock from "@switchgear/clock/VirtualClock"
import * as Breaker from "@switchgear/core/Breaker"
import * as Policy from "@switchgear/core/Policy"
import * as Chunk from "effect/Chunk"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { assert, expectTypeOf } from "vitest"
import { leasesOut, stateOf } from "./support/cell.js"

const policy = Policy.consecutive({ failureThreshold: 2, cooldown: { base: "30 seconds" } })
const virtual = Effect.provide(VirtualClock.layer)

const make = (given: Policy.Policy = policy) => CircuitBreaker.make({ name: "chat", policy: given })

const readyToProbe = (given: Policy.Policy = policy) =>
  Effect.gen(function* () {
    const breaker = yield* make(given)
    yield* CircuitBreaker.forceOpen(breaker)
    yield* CircuitBreaker.auto(breaker)
    return breaker
  })

const isOutput = (element: string) => element !== "ping"
const counters = (breaker: CircuitBreaker.CircuitBreaker) =>
  Effect.map(CircuitBreaker.status(breaker), (status) => status.counters)

/** Elements, each a second after the one before. */
const slow = (...elements: ReadonlyArray<string>) =>
  Stream.fromIterable(elements).pipe(
    Stream.rechunk(1),
    Stream.tap(() => Effect.sleep("1 second"))
  )

describe("guardStream", () => {
  it("adds CircuitOpen to the errors and nothing else", () => {
    const breaker = Effect.runSync(make())
    const stream: Stream.Stream<number, "down", "R"> = Stream.make(1)
    expectTypeOf(CircuitBreaker.guardStream(stream, breaker)).toEqualTypeOf<
      Stream.Stream<number, "down" | CircuitBreaker.CircuitOpen, "R">
    >()
    expectTypeOf(stream.pipe(CircuitBreaker.guardStream(breaker))).toEqualTypeOf<
      Stream.Stream<number, "down" | CircuitBreaker.CircuitOpen, "R">
    >()
  })

  it.live("passes every element, and the error, as they are", () =>
    Effect.gen(function* () {
      const breaker = yield* make()
      const stream = Stream.concat(Stream.range(1, 1_000).pipe(Stream.rechunk(7)), Stream.fail("down"))
      const seen: Array<number> = []
      const exit = yield* stream.pipe(
        CircuitBreaker.guardStream(breaker),
        Stream.runForEach((n) => Effect.sync(() => seen.push(n))),
        Effect.exit
      )
      assert.deepStrictEqual(seen, [...Chunk.range(1, 1_000)])
      assert.deepStrictEqual(exit, Exit.fail("down"))
    })
  )

  it.live("takes no permit before it runs, and one for each run", () =>
    Effect.gen(function* () {
      const breaker = yield* make()
      const guarded = CircuitBreaker.guardStream(Stream.make(1), breaker)
      assert.strictEqual((yield* counters(breaker)).admitted, 0)
      yield* Stream.runDrain(guarded)
      yield* Stream.runDrain(guarded)
      const { admitted, succeeded } = yield* counters(breaker)
      assert.deepStrictEqual([admitted, succeeded], [2, 2])
    })
  )

  it.live("fails with CircuitOpen without running the stream when the breaker is open", () =>
    Effect.gen(function* () {
      const breaker = yield* make()
      yield* CircuitBreaker.forceOpen(breaker)
      let ran = false
      const stream = Stream.fromEffect(Effect.sync(() => (ran = true)))
      const error = yield* Effect.flip(Stream.runDrain(CircuitBreaker.guardStream(stream, breaker)))
      assert.strictEqual(error._tag, "CircuitOpen")
      assert.isFalse(ran)
    })
  )

  it.live("reports a plain run once, at its end, and a broken one as a failure", () =>
    Effect.gen(function* () {
      const breaker = yield* make()
      const broken = Stream.concat(Stream.make("text"), Stream.fail({ kind: "network_error" })).pipe(
        CircuitBreaker.guardStream(breaker)
      )
      const atFirst = yield* broken.pipe(
        Stream.mapEffect(() => counters(breaker)),
        Stream.runHead
      )
      assert.deepInclude(atFirst._tag === "Some" ? atFirst.value : {}, { admitted: 1, succeeded: 0, failed: 0 })
      yield* Effect.ignore(Stream.runDrain(broken))
      assert.deepInclude(yield* counters(breaker), { failed: 1 })
      assert.deepStrictEqual((yield* CircuitBreaker.view(breaker)).kinds, { network_error: 1 })
    })
  )

  it.live("takes the time to the first output for its latency, not that to its end (SEMANTICS R1)", () =>
    Effect.gen(function* () {
      const rolling = Policy.rolling({
        window: "1 hour",
        bucketPeriod: "1 minute",
        minSamples: 10,
        failureRateThreshold: 1,
        slowCallDuration: "3 seconds",
        slowCallRateThreshold: 1
      })
      const breaker = yield* make(rolling)
      yield* slow("ping", "text", ...Array.from({ length: 30 }, () => "more")).pipe(
        CircuitBreaker.guardStream(breaker, { isOutput }),
        Stream.runDrain
      )
      assert.deepInclude(yield* CircuitBreaker.view(breaker), { samples: 1, slow: 0 })
      yield* slow("ping", "ping", "text").pipe(CircuitBreaker.guardStream(breaker, { isOutput }), Stream.runDrain)
      assert.deepInclude(yield* CircuitBreaker.view(breaker), { samples: 2, slow: 1 })
    }).pipe(virtual)
  )

  it.live("a probe reports success at its first output, long before it ends (SEMANTICS R7)", () =>
    Effect.gen(function* () {
      const breaker = yield* readyToProbe()
      const states: Array<string> = []
      yield* slow("ping", "text", "more").pipe(
        CircuitBreaker.guardStream(breaker, { isOutput }),
        Stream.runForEach((element) => Effect.sync(() => states.push(`${element}: ${stateOf(breaker)._tag}`)))
      )
      assert.deepStrictEqual(states, ["ping: HalfOpen", "text: Closed", "more: Closed"])
      assert.deepInclude(yield* counters(breaker), { admitted: 1, succeeded: 1, failed: 0 })
    }).pipe(virtual)
  )

  it.live("a probe that breaks after its output counts against the breaker that has recovered (SEMANTICS R7)", () =>
    Effect.gen(function* () {
      const breaker = yield* readyToProbe()
      const broken = Stream.concat(slow("text", "more"), Stream.fail({ kind: "network_error" }))
      yield* Effect.ignore(Stream.runDrain(CircuitBreaker.guardStream(broken, breaker)))
      const view = yield* CircuitBreaker.view(breaker)
      assert.deepInclude(view, { state: "Closed", streak: 1, kinds: { network_error: 1 } })
    }).pipe(virtual)
  )

  it.live("one that breaks while the breaker still wants more probes counts no more (SEMANTICS R7)", () =>
    Effect.gen(function* () {
      const breaker = yield* readyToProbe(
        Policy.consecutive({ failureThreshold: 2, halfOpen: { successThreshold: 2 } })
      )
      const broken = Stream.concat(slow("text"), Stream.fail({ kind: "network_error" }))
      yield* Effect.ignore(Stream.runDrain(CircuitBreaker.guardStream(broken, breaker)))
      assert.deepInclude(yield* CircuitBreaker.view(breaker), { state: "HalfOpen", successes: 1, leases: 0 })
    }).pipe(virtual)
  )

  it.live("a probe that breaks before any output opens again", () =>
    Effect.gen(function* () {
      const breaker = yield* readyToProbe()
      const broken = Stream.concat(slow("ping"), Stream.fail({ kind: "network_error" }))
      yield* Effect.ignore(Stream.runDrain(CircuitBreaker.guardStream(broken, breaker, { isOutput })))
      assert.strictEqual(stateOf(breaker)._tag, "Open")
    }).pipe(virtual)
  )

  it.live(
    "a reader who leaves before the first output releases, one who leaves after it was answered (SEMANTICS R1)",
    () =>
      Effect.gen(function* () {
        const breaker = yield* readyToProbe()
        const stream = slow("ping", "text", "more").pipe(CircuitBreaker.guardStream(breaker, { isOutput }))
        yield* Stream.runDrain(Stream.take(stream, 1))
        assert.deepInclude(yield* counters(breaker), { released: 1, succeeded: 0 })
        assert.strictEqual(leasesOut(breaker), 0)
        yield* Stream.runDrain(Stream.take(stream, 2))
        assert.strictEqual(stateOf(breaker)._tag, "Closed")
        yield* Stream.runDrain(Stream.take(stream, 1))
        yield* Stream.runDrain(Stream.take(stream, 2))
        assert.deepInclude(yield* counters(breaker), { released: 2, succeeded: 2 })
      }).pipe(virtual)
  )

  it.live("gives an interrupted probe's lease back", () =>
    Effect.gen(function* () {
      const breaker = yield* readyToProbe()
      const started = yield* Deferred.make<void>()
      const stream = Stream.concat(Stream.execute(Deferred.succeed(started, undefined)), Stream.never)
      const fiber = yield* Effect.fork(Stream.runDrain(CircuitBreaker.guardStream(stream, breaker)))
      yield* Deferred.await(started)
      assert.strictEqual(leasesOut(breaker), 1)
      yield* Fiber.interrupt(fiber)
      assert.strictEqual(leasesOut(breaker), 0)
    }).pipe(virtual)
  )

  it.live("a predicate or a classifier that throws changes nothing for the reader and leaks no lease", () =>
    Effect.gen(function* () {
      const breaker = yield* readyToProbe()
      const oops = (): never => {
        throw new Error("bug")
      }
      const stream = Stream.make(1, 2).pipe(CircuitBreaker.guardStream(breaker, { isOutput: oops, classify: oops }))
      assert.deepStrictEqual(Chunk.toReadonlyArray(yield* Stream.runCollect(stream)), [1, 2])
      assert.strictEqual(stateOf(breaker)._tag, "Closed")
    })
  )

  it.live("in shadow mode runs what it would have refused, without a report", () =>
    Effect.gen(function* () {
      const breaker = yield* CircuitBreaker.make({ name: "chat", policy, enforce: false })
      yield* CircuitBreaker.forceOpen(breaker)
      assert.strictEqual(yield* Stream.runCount(CircuitBreaker.guardStream(Stream.make(1, 2, 3), breaker)), 3)
      assert.deepInclude(yield* counters(breaker), { admitted: 0, rejected: 1, succeeded: 0 })
    })
  )

  it.live("a stream whose end is classified as a failure counts as one", () =>
    Effect.gen(function* () {
      const breaker = yield* make()
      const empty = CircuitBreaker.guardStream(Stream.empty, breaker, {
        classify: () => Breaker.failure("server_error")
      })
      yield* Stream.runDrain(empty)
      assert.deepStrictEqual((yield* CircuitBreaker.view(breaker)).kinds, { server_error: 1 })
    })
  )
})
