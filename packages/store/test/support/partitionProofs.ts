import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
import * as Registry from "@switchgear/breaker/CircuitBreakerRegistry"
import type { CircuitBreakerStore } from "@switchgear/breaker/CircuitBreakerStore"
import type { RegistryEvent } from "@switchgear/breaker/RegistryEvent"
import * as Policy from "@switchgear/core/Policy"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { assert } from "vitest"

const policy = Policy.consecutive({ failureThreshold: 3, cooldown: { base: "1 hour" } })

interface Replica {
  readonly registry: Registry.Service
  readonly events: Array<RegistryEvent["_tag"]>
}

const replica = (store: Layer.Layer<CircuitBreakerStore, unknown>) =>
  Effect.gen(function* () {
    const Live = Registry.layerStored({ policy, mode: "shared", pollInterval: "100 millis" }).pipe(Layer.provide(store))
    const context = yield* Layer.build(Live)
    const registry = yield* Effect.provide(Registry.CircuitBreakerRegistry, context)
    const events: Array<RegistryEvent["_tag"]> = []
    yield* Effect.forkScoped(Stream.runForEach(registry.events, ({ _tag }) => Effect.sync(() => events.push(_tag))))
    yield* Effect.yieldNow()
    return { registry, events }
  })

const state = ({ registry }: Replica, name: string) =>
  Effect.flatMap(registry.get(name), (breaker) => Effect.map(CircuitBreaker.view(breaker), ({ state }) => state))

/** Waits for as long as the test may take. */
const until = <E, R>(holds: Effect.Effect<boolean, E, R>): Effect.Effect<void, E, R> =>
  Effect.flatMap(holds, (yes) =>
    yes
      ? Effect.void
      : Effect.zipRight(
          Effect.sleep(5),
          Effect.suspend(() => until(holds))
        )
  )

const trip = ({ registry }: Replica, name: string) =>
  Effect.flatMap(registry.get(name), (breaker) =>
    Effect.replicateEffect(Effect.exit(CircuitBreaker.guard(Effect.fail("down"), breaker)), 3)
  )

/** Calls on a Closed breaker, one after the other, until it is interrupted; how many, and what went wrong. */
const load = ({ registry }: Replica, counts: { made: number; lost: number; longest: number }) =>
  Effect.flatMap(registry.get("healthy"), (breaker) =>
    Effect.forever(
      Effect.gen(function* () {
        const before = performance.now()
        const exit = yield* Effect.exit(CircuitBreaker.guard(Effect.succeed(1), breaker))
        counts.made++
        counts.longest = Math.max(counts.longest, performance.now() - before)
        if (Exit.isFailure(exit)) counts.lost++
        yield* Effect.sleep(1)
      })
    )
  )

/**
 * Two processes' worth of registries, under load, whose store goes and comes back.
 *
 * While it is away, and only then: calls go through, one of the two trips by itself, and both say that the store is away.
 * When it is back both say so, and the trip is in force in both.
 */
export const goesAndComesBack = (
  title: string,
  store: Layer.Layer<CircuitBreakerStore, unknown>,
  away: Effect.Effect<unknown>,
  back: Effect.Effect<unknown>
) =>
  Effect.gen(function* () {
    const [a, b] = [yield* replica(store), yield* replica(store)]
    // One that was Open before, and stays it.
    yield* trip(a, "before")
    yield* until(Effect.map(state(b, "before"), (is) => is === "Open"))
    yield* Effect.all([a.registry.get("meanwhile"), b.registry.get("meanwhile")])
    const counts = { made: 0, lost: 0, longest: 0 }
    const loads = yield* Effect.forkScoped(Effect.all([load(a, counts), load(b, counts)], { concurrency: 2 }))
    // On a busy machine a store may seem away for a moment before it is.
    const last = (each: Replica) => each.events[each.events.length - 1] ?? "StoreAvailable"
    const both = (tag: string) => Effect.sync(() => last(a) === tag && last(b) === tag)
    yield* until(Effect.sync(() => counts.made > 50))
    yield* until(both("StoreAvailable"))
    yield* away
    const made = counts.made
    yield* trip(a, "meanwhile")
    assert.strictEqual(yield* state(a, "meanwhile"), "Open")
    // A first use while the store is away is answered, too.
    yield* a.registry.get(`new of ${title}`)
    yield* until(both("StoreUnavailable"))
    yield* until(Effect.sync(() => counts.made > made + 100))
    assert.strictEqual(yield* state(b, "meanwhile"), "Closed")
    assert.isTrue(yield* both("StoreUnavailable"))
    yield* back
    yield* until(both("StoreAvailable"))
    yield* until(Effect.map(state(b, "meanwhile"), (is) => is === "Open"))
    for (const each of [a, b]) {
      for (const name of ["before", "meanwhile"]) assert.strictEqual(yield* state(each, name), "Open")
      assert.strictEqual(yield* state(each, "healthy"), "Closed")
    }
    yield* Fiber.interrupt(loads)
    assert.strictEqual(counts.lost, 0)
    process.stdout.write(
      `${title}: ${counts.made} calls, ${counts.lost} lost, the longest took ${counts.longest.toFixed(1)} ms\n`
    )
  }).pipe(Effect.scoped)

/** How often a store is asked by so many calls on a Closed breaker. */
export const askedByCalls = (store: Layer.Layer<CircuitBreakerStore, unknown>, sent: () => number, calls: number) =>
  Effect.gen(function* () {
    const Live = Registry.layerStored({ policy, mode: "shared", pollInterval: "1 hour" }).pipe(Layer.provide(store))
    const registry = yield* Effect.provide(Registry.CircuitBreakerRegistry, yield* Layer.build(Live))
    const breaker = yield* registry.get("counted")
    // What a store sends to begin with, in the background, has been sent.
    let before = -1
    while (before !== sent()) {
      before = sent()
      yield* Effect.sleep(500)
    }
    for (let call = 0; call < calls; call++) {
      yield* Effect.exit(
        CircuitBreaker.guard(call % 2 === 0 ? Effect.succeed(1) : Effect.fail("now and then"), breaker)
      )
      if (call % 100 === 0) yield* Effect.sleep(1)
    }
    yield* Effect.sleep(50)
    return sent() - before
  }).pipe(Effect.scoped)
