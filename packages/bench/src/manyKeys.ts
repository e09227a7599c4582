import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
import type * as CircuitBreakerRegistry from "@switchgear/breaker/CircuitBreakerRegistry"
import * as Policy from "@switchgear/core/Policy"
import * as Effect from "effect/Effect"

/** What passed through a registry. */
export interface Passed {
  readonly rejected: number
  readonly opened: number
  readonly recovered: number
}

export const policy = Policy.consecutive({ failureThreshold: 3, cooldown: { base: "5 seconds" } })

/** Of so many new names one is a provider in trouble. */
const troubled = 250

const failing = Effect.fail({ kind: "timeout" })

const tripped = (registry: CircuitBreakerRegistry.Service, name: string) =>
  Effect.gen(function* () {
    const breaker = yield* registry.get(name)
    for (let failure = 0; failure < 3; failure++) yield* Effect.ignore(CircuitBreaker.guard(failing, breaker))
    const refused = yield* Effect.isFailure(CircuitBreaker.guard(Effect.void, breaker))
    return refused ? 1 : 0
  })

/**
 * Names `from` to `to`, each new and called once; one in 250 opens, and is called again when its cooldown has passed, by
 * its name alone: were it forgotten, there would be no recovery.
 */
export const pass = (
  registry: CircuitBreakerRegistry.Service,
  from: number,
  to: number,
  later: (millis: number) => Effect.Effect<void>
): Effect.Effect<Passed> =>
  Effect.gen(function* () {
    let rejected = 0
    const opened: Array<string> = []
    for (let key = from; key < to; key++) {
      if (key % troubled !== 0) {
        yield* CircuitBreaker.guard(Effect.void, yield* registry.get(`key-${key}`)).pipe(Effect.ignore)
        continue
      }
      rejected += yield* tripped(registry, `key-${key}`)
      opened.push(`key-${key}`)
    }
    yield* later(5_000)
    let recovered = 0
    for (const name of opened) {
      const breaker = yield* registry.get(name)
      const { state } = yield* CircuitBreaker.view(breaker)
      yield* Effect.ignore(CircuitBreaker.guard(Effect.void, breaker))
      if (state === "HalfOpen" && (yield* CircuitBreaker.view(breaker)).state === "Closed") recovered++
    }
    return { rejected, opened: opened.length, recovered }
  })
