import { describe, it } from "@effect/vitest"
import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
import * as Registry from "@switchgear/breaker/CircuitBreakerRegistry"
import { CircuitBreakerStore } from "@switchgear/breaker/CircuitBreakerStore"
import type { RegistryEvent } from "@switchgear/breaker/RegistryEvent"
import * as Policy from "@switchgear/core/Policy"
import { ModelPolicies } from "@switchgear/routing/ModelPolicies"
import * as PostgresStore from "@switchgear/store/postgres"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { assert } from "vitest"
import { ownPostgres } from "../support/ownPostgres.js"

const policy = Policy.consecutive({ failureThreshold: 2, cooldown: { base: "1 hour" } })

const until = <E, R>(condition: Effect.Effect<boolean, E, R>): Effect.Effect<void, E, R> =>
  Effect.flatMap(condition, (met) => (met ? Effect.void : Effect.zipRight(Effect.sleep(20), until(condition))))

const succeeds = <A, E, R>(ask: Effect.Effect<A, E, R>) =>
  until(Effect.map(Effect.either(ask), ({ _tag }) => _tag === "Right"))

const trip = (registry: Registry.Service, name: string) =>
  Effect.gen(function* () {
    const breaker = yield* registry.get(name)
    yield* Effect.replicateEffect(Effect.ignore(CircuitBreaker.guard(Effect.fail("down"), breaker)), 2)
    assert.strictEqual((yield* CircuitBreaker.view(breaker)).state, "Open")
  })

const kept = Effect.map(
  Effect.flatMap(CircuitBreakerStore, (store) => store.entries),
  (entries) => new Map(entries.map(([name, { snapshot }]) => [name, snapshot.state._tag]))
)

describe("PostgreSQL that goes away after the start and comes back", () => {
  it.live(
    "stops no call, loses nothing, and is heard and read again",
    () =>
      Effect.gen(function* () {
        const server = yield* ownPostgres
        const layer = PostgresStore.layer({
          url: Redacted.make(server.url),
          queryTimeout: 5_000,
          connectTimeout: 5_000,
          pollInterval: 50
        })
        yield* Effect.gen(function* () {
          const store = yield* CircuitBreakerStore
          const policies = yield* ModelPolicies
          const registry = yield* Registry.makeStored({ policy, writeEvery: 100 })
          const events: Array<RegistryEvent["_tag"]> = []
          const heard: Array<string> = []
          yield* Effect.forkScoped(
            Stream.runForEach(registry.events, ({ _tag }) => Effect.sync(() => events.push(_tag)))
          )
          yield* Effect.forkScoped(Stream.runForEach(store.changes, ({ key }) => Effect.sync(() => heard.push(key))))
          const told = (key: string) =>
            until(
              Effect.map(Effect.ignore(store.modify(key, (_) => [undefined, undefined])), () =>
                heard.includes(key)
              ).pipe(Effect.zipLeft(Effect.ignore(store.modify(key, () => [undefined, record]))))
            )
          yield* policies.setRules([{ org: "acme", model: "gpt-*" }])
          yield* trip(registry, "before")
          yield* until(Effect.map(kept, (states) => states.get("before") === "Open"))
          yield* told("first")

          yield* server.crash
          const error = yield* Effect.flip(store.entries)
          assert.deepInclude(error, { _tag: "StoreError", reason: "Unavailable" })
          yield* trip(registry, "meanwhile")
          assert.strictEqual((yield* policies.decide("acme", "gpt-4o"))._tag, "Allowed")
          assert.deepInclude(yield* Effect.flip(policies.setRules([])), { _tag: "StoreError", reason: "Unavailable" })
          yield* until(Effect.sync(() => events.includes("StoreUnavailable")))

          yield* server.start
          yield* succeeds(store.entries)
          assert.strictEqual((yield* kept).get("before"), "Open")
          yield* until(Effect.map(kept, (states) => states.get("meanwhile") === "Open"))
          yield* until(Effect.sync(() => events.at(-1) === "StoreAvailable"))
          yield* told("second")
          yield* policies.setRules([])
          assert.strictEqual((yield* policies.decide("acme", "gpt-4o"))._tag, "Denied")
        }).pipe(Effect.scoped, Effect.provide(layer))
      }).pipe(Effect.scoped),
    120_000
  )
})

const record = {
  snapshot: { version: 1, wall: 0, era: 1, age: 0, openings: 0, state: { _tag: "ForcedClosed" } },
  writer: "w",
  transitions: []
} as const
