import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
import * as CircuitBreakerRegistry from "@switchgear/breaker/CircuitBreakerRegistry"
import * as VirtualClock from "@switchgear/clock/VirtualClock"
import * as Effect from "effect/Effect"
import { policy } from "./manyKeys.js"
import type { Subject } from "./report.js"

const names = 100_000

const micros = (start: number, times = 1): number => ((performance.now() - start) * 1_000) / times

/** us a new name costs, the forgetting of another included. */
const flood = (open: number) =>
  Effect.gen(function* () {
    const registry = yield* CircuitBreakerRegistry.make({ policy, bound: 500 })
    for (let key = 0; key < open; key++) yield* CircuitBreaker.forceOpen(yield* registry.get(`open-${key}`))
    const start = performance.now()
    for (let key = 0; key < names; key++) yield* registry.get(`key-${key}`)
    const cost = micros(start, names)
    return [cost, (yield* registry.statuses).length] as const
  }).pipe(Effect.scoped, Effect.provide(VirtualClock.layer))

/** us of one sweep. Time is virtual: what a sleep of five minutes takes is the sweep. */
const sweep = (breakers: number, open: boolean) =>
  Effect.gen(function* () {
    const registry = yield* CircuitBreakerRegistry.make({ policy, bound: breakers, hardLimit: breakers })
    for (let key = 0; key < breakers; key++) {
      const breaker = yield* registry.get(`key-${key}`)
      yield* open ? CircuitBreaker.forceOpen(breaker) : CircuitBreaker.guard(Effect.void, breaker)
    }
    const costs: Array<number> = []
    for (let round = 0; round < 5; round++) {
      const start = performance.now()
      yield* Effect.sleep("5 minutes")
      costs.push(micros(start))
    }
    return costs.sort((a, b) => a - b)[2] ?? Number.NaN
  }).pipe(Effect.scoped, Effect.orDie, Effect.provide(VirtualClock.layer))

/** 100 000 names through a registry of 500, and its sweep. */
export const registry: Subject = {
  name: "registry",
  run: async () => {
    const rows: Array<ReadonlyArray<string>> = []
    for (const open of [0, 400]) {
      const [cost, left] = await Effect.runPromise(flood(open))
      rows.push([`${names} new names, ${open} Open among 500`, cost.toFixed(2), `${left} left`])
    }
    for (const [breakers, open] of [
      [500, false],
      [10_000, true]
    ] as const) {
      const cost = await Effect.runPromise(sweep(breakers, open))
      rows.push([`a sweep of ${breakers} ${open ? "Open" : "Closed"} ones`, cost.toFixed(0), ""])
    }
    return { tables: [{ title: "Registry", columns: ["", "us", ""], rows }], aims: [] }
  }
}
