import { describe, it } from "@effect/vitest"
import * as CircuitBreakerStore from "@switchgear/breaker/CircuitBreakerStore"
import * as Budget from "@switchgear/routing/Budget"
import * as IdempotencyStore from "@switchgear/routing/IdempotencyStore"
import * as ModelPolicies from "@switchgear/routing/ModelPolicies"
import * as TelemetryStore from "@switchgear/routing/TelemetryStore"
import * as StoreLaws from "@switchgear/testing/StoreLaws"
import * as Effect from "effect/Effect"
import { assert } from "vitest"

describe("the memory store of breakers", () => {
  for (const { check, name } of StoreLaws.breakers) {
    it.live(name, () => Effect.provide(check, CircuitBreakerStore.layerStoreMemory))
  }
})

describe("the memory store of claims", () => {
  for (const { check, name } of StoreLaws.idempotency) {
    it.live(name, () => Effect.provide(check, IdempotencyStore.layerMemory()))
  }
})

describe("the memory store of telemetry", () => {
  for (const { check, name } of StoreLaws.telemetry) {
    it.live(name, () => Effect.provide(check, TelemetryStore.layerMemory()))
  }
})

describe("the memory store of policies", () => {
  for (const { check, name } of StoreLaws.policies) {
    it.live(name, () => Effect.provide(check, ModelPolicies.layerMemory()))
  }
})

describe("the memory store of budgets", () => {
  for (const { check, name } of StoreLaws.budgets) it.live(name, () => Effect.provide(check, Budget.layerMemory()))
})

describe("the laws", () => {
  it.live("are broken by a store that forgets, one that loses a writer, and one that tells of nothing", () =>
    Effect.gen(function* () {
      const memory = yield* CircuitBreakerStore.makeMemory
      const wrong: ReadonlyArray<CircuitBreakerStore.Service> = [
        { ...memory, modify: (_, f) => Effect.sync(() => f(undefined, 0)[0]) },
        {
          ...memory,
          modify: (key, f) =>
            Effect.gen(function* () {
              const before = yield* memory.modify(key, (stored) => [stored, stored])
              yield* Effect.yieldNow()
              const [result, after] = f(before, 1)
              yield* memory.modify(key, () => [undefined, after])
              return result
            })
        }
      ]
      for (const store of wrong) {
        const broken = yield* Effect.forEach(StoreLaws.breakers, ({ check }) =>
          Effect.isFailure(Effect.provideService(check, CircuitBreakerStore.CircuitBreakerStore, store)).pipe(
            Effect.timeoutTo({ duration: "2 seconds", onSuccess: (failed) => failed, onTimeout: () => true })
          )
        )
        assert.isAtLeast(broken.filter(Boolean).length, 2)
      }
    })
  )
})
