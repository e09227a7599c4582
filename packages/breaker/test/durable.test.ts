import { describe, it } from "@effect/vitest"
import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
import * as Registry from "@switchgear/breaker/CircuitBreakerRegistry"
import * as Store from "@switchgear/breaker/CircuitBreakerStore"
import type { RegistryEvent } from "@switchgear/breaker/RegistryEvent"
import type { Transition } from "@switchgear/breaker/Transition"
import * as VirtualClock from "@switchgear/clock/VirtualClock"
import * as Breaker from "@switchgear/core/Breaker"
import * as Policy from "@switchgear/core/Policy"
import * as Snapshot from "@switchgear/core/Snapshot"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as fc from "effect/FastCheck"
import * as Stream from "effect/Stream"
import { assert } from "vitest"

const policy = Policy.consecutive({ failureThreshold: 3, cooldown: { base: "30 seconds" } })

const fail = (breaker: CircuitBreaker.CircuitBreaker) =>
  Effect.ignore(CircuitBreaker.guard(Effect.fail("down"), breaker))
const succeed = (breaker: CircuitBreaker.CircuitBreaker) => Effect.ignore(CircuitBreaker.guard(Effect.void, breaker))

const life = <A, E, R>(
  store: Store.Service,
  f: (registry: Registry.Service) => Effect.Effect<A, E, R>,
  options?: Partial<Registry.StoredOptions>
) =>
  Effect.scoped(Effect.flatMap(Registry.makeStored({ policy, ...options }), f)).pipe(
    Effect.provideService(Store.CircuitBreakerStore, store)
  )

const under = <A, E>(program: Effect.Effect<A, E>) => Effect.provide(program, VirtualClock.layer)

/** A store that answers errors while `broken`, and counts what is asked of it. */
const breakable = Effect.map(Store.makeMemory, (memory) => {
  const control = { broken: false, asked: 0, writes: 0 }
  const store: Store.Service = {
    ...memory,
    modify: (key, f) =>
      Effect.suspend(() => {
        control.asked++
        if (control.broken) return Effect.fail(new Store.StoreError({ reason: "Unavailable" }))
        return memory.modify(key, (stored, now) => {
          const [a, next] = f(stored, now)
          if (next !== stored) control.writes++
          return [a, next]
        })
      })
  }
  return { control, store }
})

describe("a durable breaker", () => {
  it.live("S9: goes on in the next process where it was, with its deadline, openings and history", () =>
    under(
      Effect.gen(function* () {
        const store = yield* Store.makeMemory
        const before = yield* life(store, (registry) =>
          Effect.gen(function* () {
            const breaker = yield* registry.get("a")
            yield* Effect.replicateEffect(fail(breaker), 3)
            return yield* CircuitBreaker.status(breaker)
          })
        )
        yield* Effect.sleep("10 seconds")
        const after = yield* life(store, (registry) => Effect.flatMap(registry.get("a"), CircuitBreaker.status))
        assert.deepInclude(after.view, { state: "Open", openings: 1, retryAfter: 20_000 })
        assert.strictEqual(after.view.until, before.view.until)
        assert.deepStrictEqual(after.transitions, before.transitions)
      })
    )
  )

  it.live("S9: an Open whose cooldown ran out meanwhile is probed at once, not Closed", () =>
    under(
      Effect.gen(function* () {
        const store = yield* Store.makeMemory
        yield* life(store, (registry) => Effect.flatMap(registry.get("a"), (a) => Effect.replicateEffect(fail(a), 3)))
        yield* Effect.sleep("10 minutes")
        const after = yield* life(store, (registry) => Effect.flatMap(registry.get("a"), CircuitBreaker.view))
        assert.strictEqual(after.state, "HalfOpen")
      })
    )
  )

  it.live("S9: the way to the store and back moves a deadline by less than half of what it takes", () =>
    under(
      Effect.gen(function* () {
        for (const [there, back] of [
          [160, 0],
          [0, 160],
          [80, 80]
        ] as const) {
          const memory = yield* Store.makeMemory
          const store: Store.Service = {
            ...memory,
            modify: (key, f) =>
              Effect.gen(function* () {
                yield* Effect.sleep(there)
                // What it says was true when it was asked, and is heard later.
                const now = yield* Clock.currentTimeMillis
                yield* Effect.sleep(back)
                return yield* memory.modify(key, (stored) => f(stored, now))
              })
          }
          const before = yield* life(store, (registry) =>
            Effect.gen(function* () {
              const breaker = yield* registry.get("a")
              yield* Effect.replicateEffect(fail(breaker), 3)
              yield* Effect.sleep("1 second")
              return yield* CircuitBreaker.view(breaker)
            })
          )
          yield* Effect.sleep("10 seconds")
          const after = yield* life(store, (registry) => Effect.flatMap(registry.get("a"), CircuitBreaker.view))
          assert(before.until !== undefined && after.until !== undefined)
          assert.isAtMost(Math.abs(after.until - before.until), 160)
          if (there === back) assert.isAtMost(Math.abs(after.until - before.until), 1)
        }
      })
    )
  )

  it.live("STORES: a transition is in the store before it is announced", () =>
    under(
      Effect.gen(function* () {
        const store = yield* Store.makeMemory
        const held: Array<string> = []
        yield* life(store, (registry) =>
          Effect.gen(function* () {
            const reader = yield* Effect.fork(
              registry.changes.pipe(
                Stream.take(3),
                Stream.runForEach((transition: Transition) =>
                  Effect.map(store.entries, (entries) => {
                    const stored = entries.find(([key]) => key === "a")?.[1]
                    const isThere = stored?.transitions.some(
                      ({ era, to }) => era === transition.era && to === transition.to
                    )
                    held.push(`${transition.to} ${isThere === true}`)
                  })
                )
              )
            )
            yield* Effect.sleep(1)
            const a = yield* registry.get("a")
            yield* Effect.replicateEffect(fail(a), 3)
            yield* Effect.sleep("30 seconds")
            yield* succeed(a)
            yield* Effect.sleep(1)
            yield* reader
          })
        )
        assert.deepStrictEqual(held, ["Open true", "HalfOpen true", "Closed true"])
      })
    )
  )

  it.live("STORES: counters are written at most once a second, and at shutdown", () =>
    under(
      Effect.gen(function* () {
        const { control, store } = yield* breakable
        yield* life(store, (registry) =>
          Effect.gen(function* () {
            const a = yield* registry.get("a")
            for (let i = 0; i < 999; i++) {
              yield* i % 3 === 2 ? succeed(a) : fail(a)
              yield* Effect.sleep(10)
            }
            assert.isAtMost(control.writes, 10)
            assert.isAtLeast(control.writes, 9)
            yield* fail(a)
            yield* fail(a)
          })
        )
        const after = yield* life(store, (registry) => Effect.flatMap(registry.get("a"), CircuitBreaker.view))
        assert.strictEqual(after.streak, 2)
      })
    )
  )

  it.live("a call on it asks nothing of the store", () =>
    under(
      Effect.gen(function* () {
        const { control, store } = yield* breakable
        yield* life(store, (registry) =>
          Effect.gen(function* () {
            const a = yield* registry.get("a")
            const { asked } = control
            yield* Effect.replicateEffect(succeed(a), 100)
            yield* Effect.replicateEffect(fail(a), 3)
            yield* Effect.replicateEffect(succeed(a), 100)
            assert.strictEqual(control.asked, asked)
          })
        )
      })
    )
  )

  it.live(
    "STORES: while the store is away it goes on in this process and says so, and is written when it is back",
    () =>
      under(
        Effect.gen(function* () {
          const { control, store } = yield* breakable
          const events: Array<RegistryEvent["_tag"]> = []
          const announced: Array<string> = []
          yield* life(store, (registry) =>
            Effect.gen(function* () {
              yield* Effect.forkScoped(
                Stream.runForEach(registry.events, ({ _tag }) => Effect.sync(() => events.push(_tag)))
              )
              yield* Effect.forkScoped(
                Stream.runForEach(registry.changes, ({ to }) => Effect.sync(() => announced.push(to)))
              )
              yield* Effect.sleep(1)
              const a = yield* registry.get("a")
              control.broken = true
              yield* Effect.replicateEffect(fail(a), 3)
              yield* Effect.sleep("5 seconds")
              assert.deepStrictEqual(announced, ["Open"])
              assert.deepStrictEqual(events, ["StoreUnavailable"])
              control.broken = false
              yield* Effect.sleep("2 seconds")
              assert.deepStrictEqual(events, ["StoreUnavailable", "StoreAvailable"])
              assert.strictEqual((yield* store.entries)[0]?.[1].snapshot.state._tag, "Open")
            }).pipe(Effect.scoped)
          )
        })
      )
  )

  it.live(
    "STORES: an Open in a store that was away at the start is not lost to the Closed that was made meanwhile",
    () =>
      under(
        Effect.gen(function* () {
          const { control, store } = yield* breakable
          yield* life(store, (registry) => Effect.flatMap(registry.get("a"), (a) => CircuitBreaker.forceOpen(a)))
          yield* life(store, (registry) =>
            Effect.gen(function* () {
              control.broken = true
              const a = yield* registry.get("a")
              yield* succeed(a)
              yield* Effect.sleep("2 seconds")
              assert.strictEqual((yield* CircuitBreaker.view(a)).state, "Closed")
              control.broken = false
              yield* Effect.sleep("2 seconds")
              assert.strictEqual((yield* CircuitBreaker.view(a)).state, "Open")
            })
          )
        })
      )
  )

  it.live("`local` writes nothing, chosen by name", () =>
    under(
      Effect.gen(function* () {
        const { control, store } = yield* breakable
        yield* life(store, (registry) => Effect.flatMap(registry.get("b"), (b) => Effect.replicateEffect(fail(b), 3)), {
          mode: (name) => (name === "a" ? "durable" : "local")
        })
        assert.strictEqual(control.asked, 0)
      })
    )
  )

  it.live("Registry: a breaker that is swept takes its record with it, an Open one keeps it", () =>
    under(
      Effect.gen(function* () {
        const store = yield* Store.makeMemory
        yield* life(store, (registry) =>
          Effect.gen(function* () {
            yield* Effect.flatMap(registry.get("open"), (a) => Effect.replicateEffect(fail(a), 3))
            yield* Effect.flatMap(registry.get("idle"), succeed)
            yield* Effect.sleep("2 seconds")
            assert.strictEqual((yield* store.entries).length, 2)
            yield* Effect.sleep("40 minutes")
            assert.deepStrictEqual(
              (yield* store.entries).map(([key]) => key),
              ["open"]
            )
            assert.deepStrictEqual(
              (yield* registry.statuses).map(({ name }) => name),
              ["open"]
            )
          })
        )
      })
    )
  )
})

const json = fc.string({ maxLength: 20 })

describe("a record", () => {
  it("is read as it was written, whatever happened to the breaker", () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(json, fc.integer({ min: 0, max: 60_000 })), { maxLength: 30 }),
        json,
        (calls, writer) => {
          let state = Breaker.initial(Policy.hosted, 0)
          let now = 0
          for (const [kind, pause] of calls) {
            now += pause
            const [admission, next] = Breaker.acquire(Policy.hosted, state, now)
            if (admission._tag !== "Admitted") continue
            state = Breaker.report(Policy.hosted, next, admission.permit, Breaker.failure(kind), now, 0)[1]
          }
          const stored: Store.Stored = {
            snapshot: Snapshot.snapshot(state, now, 1_000_000),
            writer,
            transitions: [
              { breaker: writer, from: "Open", to: "HalfOpen", at: now, era: 3, reason: { rule: "A3", by: "deadline" } }
            ]
          }
          assert.deepStrictEqual(Store.decode(Store.encode(stored)), stored)
        }
      ),
      { numRuns: 200 }
    )
  })

  it("that is none is nothing, and never throws", () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        assert.strictEqual(Store.decode(text), undefined)
      })
    )
  })
})
