import { describe, it } from "@effect/vitest"
import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
import * as Registry from "@switchgear/breaker/CircuitBreakerRegistry"
import * as PolicySchema from "@switchgear/breaker/PolicySchema"
import type { Transition } from "@switchgear/breaker/Transition"
import * as VirtualClock from "@switchgear/clock/VirtualClock"
import * as Policy from "@switchgear/core/Policy"
import * as Chunk from "effect/Chunk"
import * as Config from "effect/Config"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { assert } from "vitest"
import { Hub } from "../src/internal/hub.js"

const policy = Policy.consecutive({ failureThreshold: 1, cooldown: { base: "30 seconds" } })
const lenient = Policy.consecutive({ failureThreshold: 100 })
const live = Layer.provideMerge(Registry.layer({ policy, policies: { lenient } }), VirtualClock.layer)

const registry = Registry.CircuitBreakerRegistry
const moves = (transitions: Iterable<Transition>) =>
  Array.from(transitions, ({ breaker, from, to }) => `${breaker}: ${from} -> ${to}`)

const trip = (key: string) => Effect.ignore(Registry.withCircuitBreaker(Effect.fail("down"), { key }))

describe("CircuitBreakerRegistry", () => {
  it.live("makes a breaker on first use, with the policy of its name", () =>
    Effect.gen(function* () {
      const breakers = yield* registry
      assert.isTrue(Option.isNone(yield* breakers.find("a")))
      const a = yield* breakers.get("a")
      assert.strictEqual(yield* breakers.get("a"), a)
      assert.deepStrictEqual(yield* breakers.find("a"), Option.some(a))
      assert.strictEqual(a.policy, policy)
      assert.strictEqual((yield* breakers.get("lenient")).policy, lenient)
      assert.strictEqual((yield* breakers.get("constructor")).policy, policy)
    }).pipe(Effect.provide(live))
  )

  it.live("keeps what one key does from the others", () =>
    Effect.gen(function* () {
      yield* trip("a")
      const refused = yield* Effect.flip(Registry.withCircuitBreaker(Effect.void, { key: "a" }))
      assert.strictEqual(refused._tag, "CircuitOpen")
      assert.strictEqual(yield* Effect.succeed(1).pipe(Registry.withCircuitBreaker({ key: "b" })), 1)
    }).pipe(Effect.provide(live))
  )

  it.live("tells what every breaker is, has counted, and its last 20 transitions with their reasons", () =>
    Effect.gen(function* () {
      const breakers = yield* registry
      yield* breakers.get("idle")
      for (let round = 0; round < 15; round++) {
        yield* trip("a")
        yield* Effect.sleep("30 seconds")
        yield* Registry.withCircuitBreaker(Effect.void, { key: "a" })
      }
      yield* trip("a")
      const [idle, a] = yield* breakers.statuses
      assert.deepInclude(idle, { name: "idle", enforced: true, transitions: [] })
      assert.deepInclude(a?.counters, { admitted: 31, succeeded: 15, failed: 16, transitions: 46 })
      assert.strictEqual(a?.transitions.length, 20)
      const last = a?.transitions.at(-1)
      assert.deepStrictEqual(last, {
        breaker: "a",
        from: "Closed",
        to: "Open",
        at: 450_000,
        era: last?.era ?? -1,
        reason: { rule: "P1", by: "streak", kind: "unknown", failures: 1, threshold: 1 }
      })
      assert.deepInclude(a?.view, { state: "Open", since: 450_000, until: 480_000 })
      const chain = a?.transitions ?? []
      for (const [i, transition] of chain.entries()) {
        assert.isTrue(i === 0 || chain[i - 1]?.to === transition.from)
      }
    }).pipe(Effect.provide(live))
  )

  it.live("in shadow mode refuses nothing", () =>
    Effect.gen(function* () {
      yield* trip("a")
      yield* Registry.withCircuitBreaker(Effect.void, { key: "a" })
      const [a] = yield* Effect.flatMap(registry, (breakers) => breakers.statuses)
      assert.isFalse(a?.enforced)
      assert.deepInclude(a?.counters, { admitted: 1, rejected: 1 })
    }).pipe(Effect.provide(Registry.layer({ policy, enforce: false })))
  )

  it.effect("takes its policies from configuration, and names every fault in it", () =>
    Effect.gen(function* () {
      const layer = (policies: Record<string, string>) =>
        Registry.layerConfig({
          policy: PolicySchema.config("POLICY"),
          enforce: Config.withDefault(Config.boolean("ENFORCE"), true)
        }).pipe(Layer.provide(Layer.setConfigProvider(ConfigProvider.fromMap(new Map(Object.entries(policies))))))
      const first = Effect.flatMap(registry, (breakers) => breakers.get("a"))
      const json = JSON.stringify({ trip: { _tag: "Consecutive", failureThreshold: 7 } })
      const made = yield* Effect.provide(first, layer({ POLICY: json, ENFORCE: "false" }))
      assert.deepInclude(made.policy.trip, { failureThreshold: 7 })
      const faulty = JSON.stringify({ trip: { _tag: "Consecutive", failureThreshold: 0 }, jitter: 2 })
      for (const [text, ...said] of [
        [faulty, "trip.failureThreshold", "jitter"],
        ["hostd", "hostd", "nrLlm"],
        ["{", "JSON"]
      ]) {
        const error = yield* Effect.flip(Effect.provide(first, layer({ POLICY: text ?? "" })))
        for (const words of said) assert.include(String(error), words)
      }
    })
  )
})

describe("changes", () => {
  it.live("gives the transitions of all breakers in order, each after it was made", () =>
    Effect.gen(function* () {
      const breakers = yield* registry
      const states: Array<string> = []
      const reader = yield* breakers.changes.pipe(
        Stream.tap((transition) =>
          Effect.gen(function* () {
            const breaker = yield* breakers.get(transition.breaker)
            states.push((yield* CircuitBreaker.view(breaker)).state)
          })
        ),
        Stream.take(4),
        Stream.runCollect,
        Effect.fork
      )
      yield* Effect.sleep(1)
      yield* trip("a")
      yield* trip("b")
      yield* Effect.sleep("30 seconds")
      yield* Registry.withCircuitBreaker(Effect.void, { key: "a" })
      assert.deepStrictEqual(moves(yield* Fiber.join(reader)), [
        "a: Closed -> Open",
        "b: Closed -> Open",
        "a: Open -> HalfOpen",
        "a: HalfOpen -> Closed"
      ])
      assert.deepStrictEqual(states.slice(0, 2), ["Open", "Open"])
    }).pipe(Effect.provide(live))
  )

  it.live("a breaker's own transitions are its alone", () =>
    Effect.gen(function* () {
      const breakers = yield* registry
      const b = yield* breakers.get("b")
      const reader = yield* Effect.fork(Stream.runHead(CircuitBreaker.transitions(b)))
      yield* Effect.sleep(1)
      yield* trip("a")
      yield* trip("b")
      assert.deepStrictEqual(moves(Option.toArray(yield* Fiber.join(reader))), ["b: Closed -> Open"])
    }).pipe(Effect.provide(live))
  )

  it.live("slow, stuck, dead and throwing readers change nothing, for breakers and for each other", () =>
    Effect.gen(function* () {
      const breakers = yield* registry
      const gate = yield* Deferred.make<void>()
      const stuck = yield* Effect.fork(Stream.runForEach(breakers.changes, () => Deferred.await(gate)))
      const throwing = yield* Effect.fork(
        Stream.runForEach(breakers.changes, () =>
          Effect.sync(() => {
            throw new Error("bug in a reader")
          })
        )
      )
      const dead = yield* Effect.fork(Stream.runDrain(breakers.changes))
      const seen: Array<Transition> = []
      const good = yield* Effect.fork(Stream.runForEach(breakers.changes, (t) => Effect.sync(() => seen.push(t))))
      yield* Effect.sleep(1)
      yield* Fiber.interrupt(dead)
      for (let i = 0; i < 1_000; i++) {
        yield* trip(`b${i}`)
        if (i % 100 === 0) yield* Effect.sleep(1)
      }
      yield* Effect.sleep(1)
      assert.strictEqual(seen.length, 1_000)
      assert.isTrue(Exit.isFailure(yield* Fiber.await(throwing)))
      assert.isTrue((yield* breakers.statuses).every(({ view }) => view.state === "Open"))
      yield* Fiber.interruptAll([stuck, good])
    }).pipe(Effect.provide(live))
  )

  it.live("a reader that has gone is forgotten, one that is stuck keeps no more than its capacity, the newest", () =>
    Effect.gen(function* () {
      const hub = new Hub()
      const gate = yield* Deferred.make<void>()
      const got: Array<number> = []
      const read = (capacity: number) =>
        Stream.runForEach(hub.stream(undefined, capacity), ({ at }) =>
          Effect.zipRight(
            Effect.sync(() => got.push(at)),
            Deferred.await(gate)
          )
        )
      const fiber = yield* Effect.fork(read(8))
      const gone = yield* Effect.fork(read(8))
      yield* Effect.sleep(1)
      assert.strictEqual(hub.size, 2)
      yield* Fiber.interrupt(gone)
      assert.strictEqual(hub.size, 1)
      const transition: Transition = {
        breaker: "a",
        from: "Closed",
        to: "Open",
        at: 0,
        era: 1,
        reason: { rule: "A3", by: "deadline" }
      }
      hub.deliver(transition)
      yield* Effect.sleep(1)
      for (let at = 1; at <= 1_000; at++) hub.deliver({ ...transition, at })
      yield* Deferred.succeed(gate, undefined)
      yield* Effect.sleep(1)
      assert.deepStrictEqual(got, [0, ...Chunk.range(993, 1_000)])
      yield* Fiber.interrupt(fiber)
      assert.strictEqual(hub.size, 0)
    }).pipe(Effect.provide(VirtualClock.layer))
  )
})
