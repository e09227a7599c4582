import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
import * as CircuitBreakerRegistry from "@switchgear/breaker/CircuitBreakerRegistry"
import * as CircuitBreakerStore from "@switchgear/breaker/CircuitBreakerStore"
import * as Policy from "@switchgear/core/Policy"
import * as Effect from "effect/Effect"
import * as contestants from "./contestants.js"
import { figure, measure } from "./measure.js"
import { nanos, ratio, type Subject } from "./report.js"

/** What sharing costs a call on a Closed breaker, beside one of this process alone, in one registry. */
export const shared: Subject = {
  name: "shared",
  run: () =>
    Effect.gen(function* () {
      const registry = yield* CircuitBreakerRegistry.makeStored({
        policy: Policy.hosted,
        mode: (name) => (name === "shared" ? "shared" : "local")
      })
      const [local, together] = yield* Effect.all([registry.get("local"), registry.get("shared")])
      const figures = yield* Effect.promise(() =>
        measure([
          contestants.looped("local", CircuitBreaker.guard(Effect.succeed(1), local), "success"),
          contestants.looped("shared", CircuitBreaker.guard(Effect.succeed(1), together), "success")
        ])
      )
      const base = figure(figures, "local")
      const value = figure(figures, "shared") / base
      return {
        tables: [
          {
            title: "A breaker shared with other processes, Closed: a success through the guard",
            columns: ["", "ns/call", "to local"],
            rows: figures.map(({ name, nanos: of }) => [name, nanos(of), ratio(of, base)])
          }
        ],
        aims: [{ what: "shared guard to local", value, atMost: 1.3, unit: "x" }]
      }
    }).pipe(Effect.scoped, Effect.provide(CircuitBreakerStore.layerStoreMemory), Effect.runPromise)
}
