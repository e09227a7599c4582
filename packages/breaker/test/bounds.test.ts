import { describe, it } from "@effect/vitest"
import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
import * as Registry from "@switchgear/breaker/CircuitBreakerRegistry"
import * as Metrics from "@switchgear/breaker/Metrics"
import type { RegistryEvent } from "@switchgear/breaker/RegistryEvent"
import * as VirtualClock from "@switchgear/clock/VirtualClock"
import * as Policy from "@switchgear/core/Policy"
import * as Effect from "effect/Effect"
import * as fc from "effect/FastCheck"
import * as Metric from "effect/Metric"
import * as Stream from "effect/Stream"
import { assert } from "vitest"

const policy = Policy.consecutive({ failureThreshold: 2, cooldown: { base: "30 seconds" } })

const fail = (registry: Registry.Service, name: string) =>
  Effect.flatMap(registry.get(name), (breaker) => Effect.ignore(CircuitBreaker.guard(Effect.fail("down"), breaker)))
const succeed = (registry: Registry.Service, name: string) =>
  Effect.flatMap(registry.get(name), (breaker) => Effect.ignore(CircuitBreaker.guard(Effect.void, breaker)))

const within = <A, E>(options: Partial<Registry.Options>, f: (registry: Registry.Service) => Effect.Effect<A, E>) =>
  Effect.scoped(Effect.flatMap(Registry.make({ policy, ...options }), f)).pipe(Effect.provide(VirtualClock.layer))

const names = (registry: Registry.Service) =>
  Effect.map(registry.statuses, (statuses) => statuses.map(({ name }) => name))

/** Each breaker's name, and whether it may not be forgotten. */
const counting = (registry: Registry.Service) =>
  Effect.map(
    registry.statuses,
    (statuses) =>
      new Map(
        statuses.map(({ name, view }) => [name, view.state !== "Closed" || view.forced || view.streak !== 0] as const)
      )
  )

const tags = (registry: Registry.Service) =>
  Effect.gen(function* () {
    const seen: Array<RegistryEvent["_tag"]> = []
    yield* Effect.forkDaemon(Stream.runForEach(registry.events, ({ _tag }) => Effect.sync(() => seen.push(_tag))))
    yield* Effect.sleep(1)
    return seen
  })

describe("Registry: bounded", () => {
  it.live("over its bound the least recently used that count nothing go", () =>
    within({ bound: 4 }, (registry) =>
      Effect.gen(function* () {
        for (const name of ["a", "b", "c", "d", "a"]) {
          yield* succeed(registry, name)
          yield* Effect.sleep(1)
        }
        yield* succeed(registry, "e")
        assert.deepStrictEqual(yield* names(registry), ["a", "c", "d", "e"])
      })
    )
  )

  it.live("never over its bound but for those that count, are open or forced, and none of these is forgotten", () =>
    Effect.promise(() =>
      fc.assert(
        fc.asyncProperty(
          fc.array(fc.tuple(fc.nat(30), fc.constantFrom("ok", "fail", "open", "closed")), { maxLength: 80 }),
          (steps) =>
            Effect.runPromise(
              within({ bound: 5 }, (registry) =>
                Effect.gen(function* () {
                  for (const [key, what] of steps) {
                    const name = `k${key}`
                    if (what === "ok") yield* succeed(registry, name)
                    else if (what === "fail") yield* fail(registry, name)
                    else if (what === "open")
                      yield* Effect.flatMap(registry.get(name), (a) => CircuitBreaker.forceOpen(a))
                    else yield* Effect.flatMap(registry.get(name), CircuitBreaker.forceClosed)
                    const before = yield* counting(registry)
                    yield* registry.get(`new${key}`)
                    const after = yield* counting(registry)
                    for (const [name, counts] of before) assert.isTrue(!counts || after.has(name))
                    // Room is made when a breaker comes, not when one stops counting.
                    const free = [...after.values()].filter((counts) => !counts).length
                    assert.isTrue(before.has(`new${key}`) || after.size <= 5 || free <= 1)
                  }
                })
              )
            )
        ),
        { numRuns: 60 }
      )
    )
  )

  it.live("grows with an event when none may be forgotten, and above the hard limit runs new names unguarded", () =>
    within({ bound: 2, hardLimit: 4 }, (registry) =>
      Effect.gen(function* () {
        const seen = yield* tags(registry)
        for (const name of ["a", "b", "c", "d"]) yield* Effect.replicateEffect(fail(registry, name), 2)
        for (let i = 0; i < 5; i++) yield* fail(registry, `e${i % 2}`)
        yield* Effect.sleep(1)
        assert.deepStrictEqual(seen, ["Grown", "Unguarded"])
        assert.deepStrictEqual(yield* names(registry), ["a", "b", "c", "d"])
        const statuses = yield* registry.statuses
        assert.isTrue(statuses.every(({ view }) => view.state === "Open"))
      })
    )
  )

  it.live("a sweep takes what reads Closed, counts nothing and was idle for half an hour", () =>
    within({}, (registry) =>
      Effect.gen(function* () {
        yield* succeed(registry, "idle")
        yield* fail(registry, "counting")
        yield* Effect.replicateEffect(fail(registry, "open"), 2)
        yield* Effect.sleep("20 minutes")
        yield* succeed(registry, "used")
        yield* Effect.sleep("16 minutes")
        assert.deepStrictEqual(yield* names(registry), ["counting", "open", "used"])
      })
    )
  )

  it.live("who holds a breaker that was forgotten shares it with who asks for its name, its counts kept", () =>
    within({}, (registry) =>
      Effect.gen(function* () {
        const held = yield* registry.get("held-and-forgotten")
        yield* CircuitBreaker.guard(Effect.void, held)
        yield* Effect.sleep("36 minutes")
        assert.deepStrictEqual(yield* names(registry), [])
        yield* CircuitBreaker.guard(Effect.void, held)
        assert.strictEqual(yield* registry.get("held-and-forgotten"), held)
        const admitted = Metrics.admissions.pipe(
          Metric.tagged("breaker", "held-and-forgotten"),
          Metric.tagged("admission", "admitted")
        )
        assert.strictEqual((yield* Metric.value(admitted)).count, 2)
        yield* Effect.sleep("36 minutes")
        const bad = Effect.ignore(CircuitBreaker.guard(Effect.fail("down"), held))
        yield* Effect.replicateEffect(bad, 2)
        assert.deepStrictEqual(yield* names(registry), ["held-and-forgotten"])
      })
    )
  )
})
