import { describe, it } from "@effect/vitest"
import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
import * as Metrics from "@switchgear/breaker/Metrics"
import type { RegistryEvent } from "@switchgear/breaker/RegistryEvent"
import type { Transition } from "@switchgear/breaker/Transition"
import * as Breaker from "@switchgear/core/Breaker"
import * as Policy from "@switchgear/core/Policy"
import * as Snapshot from "@switchgear/core/Snapshot"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Metric from "effect/Metric"
import * as Stream from "effect/Stream"
import { assert } from "vitest"
import { controlled, now, type Replica, replicas, under } from "./support/fleet.js"

const policy = Policy.consecutive({
  failureThreshold: 2,
  cooldown: { base: "10 seconds", multiplier: 2 },
  halfOpen: { maxProbes: 1, probeTimeout: "30 seconds" }
})

const get = (replica: Replica) => replica.get("openai")
const view = (replica: Replica) => Effect.flatMap(get(replica), CircuitBreaker.view)
const states = (all: ReadonlyArray<Replica>) =>
  Effect.forEach(all, (replica) => Effect.map(view(replica), ({ state }) => state))
const call = <A, E>(replica: Replica, self: Effect.Effect<A, E>) =>
  Effect.exit(Effect.flatMap(get(replica), (breaker) => CircuitBreaker.guard(self, breaker)))
const trip = (replica: Replica) => Effect.replicateEffect(call(replica, Effect.fail("down")), 2)
const isOpen = (exit: Exit.Exit<unknown, unknown>) =>
  Exit.isFailure(exit) && exit.cause._tag === "Fail" && CircuitBreaker.isCircuitOpen(exit.cause.error)
const soon = Effect.sleep(5)

const seen = <A>(stream: Stream.Stream<A>) =>
  Effect.gen(function* () {
    const all: Array<A> = []
    yield* Effect.forkScoped(Stream.runForEach(stream, (a) => Effect.sync(() => all.push(a))))
    yield* Effect.sleep(1)
    return all
  })

/** So many replicas that have all asked for the breaker. */
const fleet = (count: number, options?: Parameters<typeof replicas>[3] & { readonly policy?: Policy.Policy }) =>
  Effect.gen(function* () {
    const { control, memory, store } = yield* controlled
    const all = yield* replicas(store, options?.policy ?? policy, count, options)
    yield* Effect.forEach(all, get)
    const [a, b, c] = all
    assert.isDefined(a)
    const [first, second, third] = [a ?? assert.fail(), b ?? a ?? assert.fail(), c ?? a ?? assert.fail()]
    return { control, memory, store, all, first, second, third }
  })

describe("a shared breaker", () => {
  it.live("opens in all processes when one of them trips it, with one deadline", () =>
    under(
      Effect.gen(function* () {
        const { all, first } = yield* fleet(3)
        yield* trip(first)
        assert.isTrue(isOpen(yield* call(first, Effect.void)))
        yield* soon
        assert.deepStrictEqual(yield* states(all), ["Open", "Open", "Open"])
        const waits = yield* Effect.forEach(all, view)
        assert.deepStrictEqual(
          waits.map(({ retryAfter }) => retryAfter),
          [9_995, 9_995, 9_995]
        )
      })
    )
  )

  it.live("does so within a poll where no change is heard", () =>
    under(
      Effect.gen(function* () {
        const { all, control, first } = yield* fleet(3)
        control.deaf = true
        yield* trip(first)
        yield* soon
        assert.deepStrictEqual(yield* states(all), ["Open", "Closed", "Closed"])
        yield* Effect.sleep("1 second")
        assert.deepStrictEqual(yield* states(all), ["Open", "Open", "Open"])
      })
    )
  )

  it.live("polls many breakers in one go", () =>
    under(
      Effect.gen(function* () {
        const { all, control, first } = yield* fleet(2)
        const names = Array.from({ length: 40 }, (_, index) => `b${index}`)
        yield* Effect.forEach(all, (replica) => Effect.forEach(names, replica.get))
        control.deaf = true
        const tripped = yield* first.get("b39")
        yield* Effect.replicateEffect(Effect.exit(CircuitBreaker.guard(Effect.fail("down"), tripped)), 2)
        const asked = control.asked
        yield* Effect.sleep("1 second")
        assert.isBelow(control.asked - asked, 8)
        const open = yield* Effect.forEach(all, (replica) => Effect.flatMap(replica.get("b39"), CircuitBreaker.view))
        assert.deepStrictEqual(
          open.map(({ state }) => state),
          ["Open", "Open"]
        )
      })
    )
  )

  it.live("costs a call no question while it is Closed", () =>
    under(
      Effect.gen(function* () {
        const { control, first } = yield* fleet(1)
        const asked = control.asked
        for (let index = 0; index < 1_000; index++) {
          yield* call(first, index % 2 === 0 ? Effect.void : Effect.fail("now and then"))
        }
        assert.strictEqual(control.asked, asked)
      })
    )
  )

  it.live("refuses without a question while it is Open, and while its probes are out", () =>
    under(
      Effect.gen(function* () {
        const { control, first, second } = yield* fleet(2, { pollInterval: "1 hour" })
        yield* trip(first)
        yield* soon
        let asked = control.asked
        for (const replica of [first, second]) assert.isTrue(isOpen(yield* call(replica, Effect.void)))
        assert.strictEqual(control.asked, asked)
        yield* Effect.sleep("10 seconds")
        yield* Effect.fork(call(first, Effect.never))
        yield* soon
        asked = control.asked
        for (const replica of [first, second]) assert.isTrue(isOpen(yield* call(replica, Effect.void)))
        assert.strictEqual(control.asked, asked)
        const { leases, retryAfter } = yield* view(second)
        assert.deepStrictEqual([leases, retryAfter], [1, 29_995])
      })
    )
  )

  for (const apart of [0, 5_000]) {
    it.live(`sends maxProbes at the deadline from all processes together, wall clocks ${apart} ms apart`, () =>
      under(
        Effect.gen(function* () {
          const { all, first } = yield* fleet(3, {
            apart,
            policy: Policy.consecutive({
              failureThreshold: 2,
              cooldown: { base: "10 seconds" },
              halfOpen: { maxProbes: 2, successThreshold: 2 }
            })
          })
          yield* trip(first)
          const opened = yield* now
          const times: Array<number> = []
          const probe = Effect.zipRight(
            Effect.flatMap(now, (time) => Effect.sync(() => times.push(time - opened))),
            Effect.sleep("2 seconds")
          )
          // Forty callers in each process that try every 50 ms.
          const caller = (replica: Replica) =>
            Effect.repeatN(Effect.zipRight(Effect.sleep(50), call(replica, probe)), 235)
          yield* Effect.forEach(all, (replica) => Effect.replicateEffect(caller(replica), 40, { concurrency: 40 }), {
            concurrency: 3
          }).pipe(Effect.fork)
          yield* Effect.sleep("11.9 seconds")
          assert.deepStrictEqual(times, [10_000, 10_000])
          yield* Effect.sleep("200 millis")
          assert.deepStrictEqual(yield* states(all), ["Closed", "Closed", "Closed"])
        })
      )
    )
  }

  it.live("recovers for all when the probe succeeds, and opens for all and for longer when it fails", () =>
    under(
      Effect.gen(function* () {
        const { all, first, second } = yield* fleet(3)
        yield* trip(first)
        yield* Effect.sleep("10 seconds")
        yield* call(second, Effect.fail("still down"))
        yield* soon
        const [one] = yield* Effect.forEach(all, view)
        assert.deepInclude(one, { state: "Open", openings: 2, retryAfter: 19_995 })
        yield* Effect.sleep("20 seconds")
        yield* call(first, Effect.void)
        yield* soon
        assert.deepStrictEqual(yield* states(all), ["Closed", "Closed", "Closed"])
        const eras = yield* Effect.forEach(all, view)
        assert.deepStrictEqual(
          eras.map(({ era, streak }) => [era, streak]),
          [
            [5, 0],
            [5, 0],
            [5, 0]
          ]
        )
      })
    )
  )

  it.live("is told of once in each process, as one chain, whoever did it", () =>
    under(
      Effect.gen(function* () {
        const { all, first, second } = yield* fleet(3)
        const heard: Array<Array<Transition>> = []
        for (const replica of all) heard.push(yield* seen(replica.changes))
        yield* trip(first)
        yield* Effect.sleep("10 seconds")
        yield* call(second, Effect.void)
        yield* soon
        for (const transitions of heard) {
          assert.deepStrictEqual(
            transitions.map(({ era, from, reason, to }) => [from, to, era, reason.by]),
            [
              ["Closed", "Open", 1, "streak"],
              ["Open", "HalfOpen", 2, "deadline"],
              ["HalfOpen", "Closed", 3, "recovery"]
            ]
          )
          assert.deepStrictEqual(transitions, heard[0])
        }
        const status = yield* Effect.flatMap(get(second), CircuitBreaker.status)
        assert.deepStrictEqual(status.transitions, heard[0])
        assert.strictEqual(status.counters.transitions, 3)
      })
    )
  )

  it.live("is in the next process what it is in the others", () =>
    under(
      Effect.gen(function* () {
        const { first, store } = yield* fleet(1)
        yield* trip(first)
        yield* Effect.sleep("4 seconds")
        const [late] = yield* replicas(store, policy, 1)
        assert.isDefined(late)
        if (late === undefined) return
        const { retryAfter, state } = yield* view(late)
        assert.deepStrictEqual([state, retryAfter], ["Open", 5_999])
      })
    )
  )

  it.live("frees the probe of a process that was killed at the end of its lease", () =>
    under(
      Effect.gen(function* () {
        const { first, second } = yield* fleet(2)
        yield* trip(first)
        yield* Effect.sleep("10 seconds")
        yield* Effect.flatMap(get(first), CircuitBreaker.unsafeAcquire)
        yield* first.kill
        yield* Effect.sleep("29990 millis")
        assert.isTrue(isOpen(yield* call(second, Effect.void)))
        yield* Effect.sleep("10 millis")
        assert.isTrue(Exit.isSuccess(yield* call(second, Effect.void)))
        assert.strictEqual((yield* view(second)).state, "Closed")
      })
    )
  )

  it.live("gives the lease of an interrupted probe back", () =>
    under(
      Effect.gen(function* () {
        const { first, second } = yield* fleet(2)
        yield* trip(first)
        yield* Effect.sleep("10 seconds")
        const probe = yield* Effect.fork(call(first, Effect.never))
        yield* soon
        yield* Fiber.interrupt(probe)
        yield* soon
        assert.isTrue(Exit.isSuccess(yield* call(second, Effect.void)))
      })
    )
  )

  it.live("gives one lease for one probe, however its caller is interrupted while it asks", () =>
    under(
      Effect.gen(function* () {
        const { control, first, second } = yield* fleet(2)
        yield* trip(first)
        yield* Effect.sleep("10 seconds")
        control.latency = () => 10
        for (const after of [0, 5, 10, 15, 20, 25]) {
          const probe = yield* Effect.fork(call(first, Effect.never))
          yield* Effect.sleep(after)
          yield* Fiber.interrupt(probe)
        }
        yield* Effect.sleep(100)
        assert.strictEqual((yield* view(second)).leases, 0)
      })
    )
  )

  it.live("R2: a report of an era that is over opens nothing", () =>
    under(
      Effect.gen(function* () {
        const { control, first, second } = yield* fleet(2)
        control.deaf = true
        const late = yield* Effect.flatMap(get(second), CircuitBreaker.unsafeAcquire)
        yield* call(second, Effect.fail("down"))
        yield* Effect.flatMap(get(first), (breaker) => CircuitBreaker.forceOpen(breaker))
        yield* Effect.flatMap(get(first), CircuitBreaker.reset)
        // It has not heard of either, and trips in the era of before.
        yield* CircuitBreaker.report(late, Breaker.failure("timeout"))
        yield* soon
        assert.deepStrictEqual(yield* states([first, second]), ["Closed", "Closed"])
        assert.deepInclude(yield* view(second), { era: 2, streak: 0 })
      })
    )
  )

  it.live("M1: is commanded in all processes by a command in one", () =>
    under(
      Effect.gen(function* () {
        const { all, first, second } = yield* fleet(3)
        yield* Effect.flatMap(get(first), (breaker) => CircuitBreaker.forceOpen(breaker, "1 minute"))
        yield* soon
        assert.deepStrictEqual(yield* states(all), ["Open", "Open", "Open"])
        assert.isTrue((yield* view(second)).forced)
        yield* Effect.flatMap(get(second), CircuitBreaker.forceClosed)
        yield* soon
        yield* trip(first)
        assert.deepStrictEqual(yield* states(all), ["Closed", "Closed", "Closed"])
        yield* Effect.flatMap(get(second), CircuitBreaker.auto)
        yield* soon
        yield* trip(first)
        yield* soon
        assert.deepStrictEqual(yield* states(all), ["Open", "Open", "Open"])
        yield* Effect.flatMap(get(second), CircuitBreaker.reset)
        yield* soon
        assert.deepStrictEqual(yield* states(all), ["Closed", "Closed", "Closed"])
      })
    )
  )

  it.live("S9: takes a snapshot over for all", () =>
    under(
      Effect.gen(function* () {
        const { all, first } = yield* fleet(2)
        const [open] = Breaker.command(policy, Breaker.initial(policy, 0), Breaker.forceOpen(60_000), 0)
        const taken = Snapshot.snapshot(open, 0, yield* now)
        yield* Effect.flatMap(get(first), CircuitBreaker.restore(taken))
        yield* soon
        assert.deepStrictEqual(yield* states(all), ["Open", "Open"])
      })
    )
  )

  it.live("rejects nothing in shadow mode, and opens for all all the same", () =>
    under(
      Effect.gen(function* () {
        const { all, first, second } = yield* fleet(2, { enforce: false })
        yield* trip(first)
        yield* soon
        for (const replica of all) assert.isTrue(Exit.isSuccess(yield* call(replica, Effect.void)))
        assert.deepStrictEqual(yield* states(all), ["Open", "Open"])
        yield* Effect.sleep("10 seconds")
        yield* call(second, Effect.void)
        yield* soon
        assert.deepStrictEqual(yield* states(all), ["Closed", "Closed"])
      })
    )
  )

  it.live("R7: a stream that is a probe recovers it for all at its first output", () =>
    under(
      Effect.gen(function* () {
        const { all, first } = yield* fleet(2)
        yield* trip(first)
        yield* Effect.sleep("10 seconds")
        const breaker = yield* get(first)
        const stream = Stream.concat(Stream.make("a"), Stream.never).pipe(CircuitBreaker.guardStream(breaker))
        yield* Effect.fork(Stream.runDrain(stream))
        yield* soon
        assert.deepStrictEqual(yield* states(all), ["Closed", "Closed"])
      })
    )
  )
})

const events = (replica: Replica) => seen<RegistryEvent>(replica.events)
const tagsOf = (all: ReadonlyArray<RegistryEvent>) => all.map(({ _tag }) => _tag)

/** The virtual ms that an effect takes. */
const took = <A, E, R>(self: Effect.Effect<A, E, R>) =>
  Effect.flatMap(now, (before) =>
    Effect.zipRight(
      self,
      Effect.map(now, (after) => after - before)
    )
  )

describe("a shared breaker whose store is away", () => {
  for (const how of ["errors", "hangs"] as const) {
    it.live(`${how}: makes no call on a Closed breaker wait, goes on in each process, and says so`, () =>
      under(
        Effect.gen(function* () {
          const { control, first, second } = yield* fleet(2)
          const told = yield* events(first)
          const before = (yield* Metric.value(Metrics.storesAway)).value
          control.state = how
          assert.strictEqual(yield* took(call(first, Effect.void)), 0)
          assert.strictEqual(yield* took(trip(first)), 0)
          assert.strictEqual(yield* took(call(first, Effect.void)), 0)
          yield* Effect.sleep("2 seconds")
          assert.deepStrictEqual(tagsOf(told), ["StoreUnavailable"])
          assert.strictEqual((yield* Metric.value(Metrics.storesAway)).value, before + 2)
          assert.deepStrictEqual(yield* states([first, second]), ["Open", "Closed"])
          yield* Effect.sleep("8 seconds")
          assert.strictEqual(yield* took(call(first, Effect.void)), 0)
          assert.deepStrictEqual(yield* states([first, second]), ["Closed", "Closed"])
          control.state = "up"
          yield* Effect.sleep("1300 millis")
          assert.deepStrictEqual(tagsOf(told), ["StoreUnavailable", "StoreAvailable"])
          assert.strictEqual((yield* Metric.value(Metrics.storesAway)).value, before)
        })
      )
    )
  }

  it.live("costs a probe no more than storeWait, once", () =>
    under(
      Effect.gen(function* () {
        const { control, first } = yield* fleet(1, { pollInterval: "1 hour", storeWait: "80 millis" })
        yield* trip(first)
        yield* Effect.sleep("10 seconds")
        control.state = "hangs"
        const waits = yield* Effect.forEach([1, 2, 3], () => took(call(first, Effect.fail("down"))), {
          concurrency: 3
        })
        assert.isAtMost(Math.max(...waits), 80)
        assert.strictEqual(yield* took(call(first, Effect.void)), 0)
        assert.deepInclude(yield* view(first), { state: "Open", openings: 2 })
      })
    )
  )

  it.live("refuses every call where that is wanted, and none when it is back", () =>
    under(
      Effect.gen(function* () {
        const { control, first } = yield* fleet(1, { onStoreFailure: "closed" })
        control.state = "errors"
        yield* Effect.sleep("1 second")
        const refused = yield* call(first, Effect.void)
        assert.isTrue(isOpen(refused))
        const permit = yield* Effect.exit(Effect.flatMap(get(first), CircuitBreaker.unsafeAcquire))
        assert.isTrue(isOpen(permit))
        control.state = "up"
        yield* Effect.sleep("1 second")
        assert.isTrue(Exit.isSuccess(yield* call(first, Effect.void)))
      })
    )
  )

  it.live("an Open tripped meanwhile is not lost to the Closed of before, and reaches all with its deadline", () =>
    under(
      Effect.gen(function* () {
        const { all, control, first, second } = yield* fleet(3)
        // There is a record, of a recovery.
        yield* trip(second)
        yield* Effect.sleep("10 seconds")
        yield* call(second, Effect.void)
        yield* soon
        control.state = "errors"
        yield* Effect.sleep("1 second")
        yield* trip(first)
        yield* Effect.sleep("500 millis")
        control.state = "up"
        yield* Effect.sleep("1500 millis")
        assert.deepStrictEqual(yield* states(all), ["Open", "Open", "Open"])
        const left = yield* Effect.forEach(all, view)
        assert.deepStrictEqual(
          left.map(({ era, retryAfter }) => [era, retryAfter]),
          [
            [4, 8_000],
            [4, 8_000],
            [4, 8_000]
          ]
        )
      })
    )
  )

  it.live("of two Opens tripped apart the later deadline stands", () =>
    under(
      Effect.gen(function* () {
        const { all, control, first, second } = yield* fleet(3)
        control.state = "errors"
        yield* Effect.sleep("1 second")
        yield* trip(first)
        yield* Effect.sleep("3 seconds")
        yield* trip(second)
        control.state = "up"
        yield* Effect.sleep("2 seconds")
        const left = yield* Effect.forEach(all, view)
        assert.deepStrictEqual(
          left.map(({ retryAfter, state }) => [state, retryAfter]),
          [
            ["Open", 8_000],
            ["Open", 8_000],
            ["Open", 8_000]
          ]
        )
      })
    )
  )

  it.live("a recovery meanwhile stands over the Open of before", () =>
    under(
      Effect.gen(function* () {
        const { all, control, first } = yield* fleet(2)
        yield* trip(first)
        yield* Effect.sleep("9 seconds")
        control.state = "errors"
        yield* Effect.sleep("2 seconds")
        yield* call(first, Effect.void)
        assert.deepStrictEqual(yield* states(all), ["Closed", "HalfOpen"])
        control.state = "up"
        yield* Effect.sleep("2 seconds")
        assert.deepStrictEqual(yield* states(all), ["Closed", "Closed"])
      })
    )
  )

  it.live("a breaker first used meanwhile takes over what the store holds", () =>
    under(
      Effect.gen(function* () {
        const { control, first, store } = yield* fleet(1)
        yield* trip(first)
        yield* soon
        control.state = "errors"
        const [late] = yield* replicas(store, policy, 1)
        if (late === undefined) return assert.fail()
        yield* call(late, Effect.void)
        assert.strictEqual((yield* view(late)).state, "Closed")
        control.state = "up"
        yield* Effect.sleep("1 second")
        assert.strictEqual((yield* view(late)).state, "Open")
      })
    )
  )

  it.live("a command given meanwhile is not lost", () =>
    under(
      Effect.gen(function* () {
        const { all, control, first } = yield* fleet(2)
        control.state = "errors"
        yield* Effect.flatMap(get(first), (breaker) => CircuitBreaker.forceOpen(breaker))
        yield* Effect.sleep("1 second")
        assert.deepStrictEqual(yield* states(all), ["Open", "Closed"])
        control.state = "up"
        yield* Effect.sleep("2 seconds")
        assert.deepStrictEqual(yield* states(all), ["Open", "Open"])
      })
    )
  )

  it.live("an Open whose record was lost is put back", () =>
    under(
      Effect.gen(function* () {
        const { all, first, memory } = yield* fleet(2)
        yield* trip(first)
        yield* soon
        yield* memory.remove("openai")
        yield* Effect.sleep("1 second")
        assert.deepStrictEqual(yield* states(all), ["Open", "Open"])
        const entries = yield* memory.entries
        assert.deepStrictEqual(
          entries.map(([, { snapshot }]) => [snapshot.era, snapshot.state._tag]),
          [[1, "Open"]]
        )
      })
    )
  )

  it.live("a probe whose store went away in the middle of it ends in this process", () =>
    under(
      Effect.gen(function* () {
        const { all, control, first } = yield* fleet(2)
        yield* trip(first)
        yield* Effect.sleep("10 seconds")
        const probe = yield* Effect.fork(call(first, Effect.sleep("5 seconds")))
        yield* soon
        control.state = "hangs"
        yield* Fiber.join(probe)
        assert.strictEqual((yield* view(first)).state, "Closed")
        control.state = "up"
        yield* Effect.sleep("2 seconds")
        assert.deepStrictEqual(yield* states(all), ["Closed", "Closed"])
      })
    )
  )
})
