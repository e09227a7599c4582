import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
import * as CircuitBreakerRegistry from "@switchgear/breaker/CircuitBreakerRegistry"
import * as Guard from "@switchgear/core/Guard"
import * as Policy from "@switchgear/core/Policy"
import { ConsecutiveBreaker, circuitBreaker, handleAll, SamplingBreaker } from "cockatiel"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import * as contestants from "./contestants.js"
import * as HandWritten from "./handwritten.js"

/** Makes so many breakers under names of their own, and keeps them. */
export type Fill = (entries: number) => unknown

const nameOf = (index: number): string => `provider-${index}`

const down = { kind: "server_error" }

const registry =
  (policy: Policy.Policy, failures: number): Fill =>
  (entries) =>
    Effect.runSync(
      Effect.gen(function* () {
        const scope = yield* Scope.make()
        const made = yield* Scope.extend(CircuitBreakerRegistry.make({ policy }), scope)
        for (let index = 0; index < entries; index++) {
          const breaker = yield* made.get(nameOf(index))
          for (let failure = 0; failure < failures; failure++) {
            yield* Effect.ignore(CircuitBreaker.guard(Effect.fail(down), breaker))
          }
        }
        return { scope, made }
      })
    )

const mapped =
  (make: (name: string) => unknown): Fill =>
  (entries) => {
    const map = new Map<string, unknown>()
    for (let index = 0; index < entries; index++) {
      const name = nameOf(index)
      map.set(name, make(name))
    }
    return map
  }

const consecutive = Policy.consecutive({ failureThreshold: 5 })
const rolling = Policy.rolling({ window: 30_000, bucketPeriod: 3_000, minSamples: 10, failureRateThreshold: 0.5 })

/** What is filled, by name; peers in a `Map`, since they have no registry. */
export const fills: Readonly<Record<string, Fill>> = {
  "registry, consecutive": registry(consecutive, 0),
  "registry, consecutive, after a failure": registry(consecutive, 1),
  "registry, consecutive, once opened": registry(consecutive, 5),
  "registry, rolling": registry(rolling, 0),
  "registry, rolling, after a failure": registry(rolling, 1),
  "registry, hosted": registry(Policy.hosted, 0),
  "Guard, consecutive": mapped((name) => Guard.make({ name, policy: consecutive })),
  "cockatiel, consecutive": mapped(() =>
    circuitBreaker(handleAll, { halfOpenAfter: 30_000, breaker: new ConsecutiveBreaker(5) })
  ),
  "cockatiel, sampling": mapped(() =>
    circuitBreaker(handleAll, {
      halfOpenAfter: 30_000,
      breaker: new SamplingBreaker({ threshold: 0.5, duration: 30_000, minimumRps: 1 })
    })
  ),
  opossum: mapped((name) => contestants.opossum({ name }).breaker),
  "hand-written Effect": mapped(() => Effect.runSync(HandWritten.make({ failureThreshold: 5, cooldown: 30_000 })))
}

/** The entry whose size is aimed at. */
export const aimed = "registry, consecutive"

/** opossum's are too large for a machine of ordinary size. */
export const entriesOf = (name: string): number => (name === "opossum" ? 10_000 : 100_000)
