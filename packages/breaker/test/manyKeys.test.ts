import { describe, it } from "@effect/vitest"
import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
import * as Registry from "@switchgear/breaker/CircuitBreakerRegistry"
import * as VirtualClock from "@switchgear/clock/VirtualClock"
import * as Policy from "@switchgear/core/Policy"
import * as Effect from "effect/Effect"
import { assert } from "vitest"

const policy = Policy.consecutive({ failureThreshold: 2, cooldown: { base: "1 hour" } })
const keys = 100_000
const bound = 500

describe("Registry: 100 000 keys through a bound of 500", () => {
  it.live(
    "never over it but for those that may not be forgotten; each Open survives",
    () =>
      Effect.gen(function* () {
        const registry = yield* Registry.make({ policy, bound })
        const open = new Set<string>()
        let largest = 0
        for (let key = 0; key < keys; key++) {
          const name = `key-${key}`
          const breaker = yield* registry.get(name)
          if (key % 130 === 0) {
            const failing = Effect.ignore(CircuitBreaker.guard(Effect.fail("down"), breaker))
            yield* Effect.replicateEffect(failing, 2)
            open.add(name)
          } else yield* Effect.ignore(CircuitBreaker.guard(Effect.void, breaker))
          if (key % 97 !== 0) continue
          const statuses = yield* registry.statuses
          const fixed = statuses.filter(({ view }) => view.state !== "Closed").length
          assert.strictEqual(fixed, open.size)
          // The newest stays until the next comes: it is about to be used.
          assert.isAtMost(statuses.length, Math.max(bound, fixed + 1))
          largest = Math.max(largest, statuses.length)
        }
        assert.isAbove(open.size, bound)
        assert.isAbove(largest, bound)
        for (const name of open) {
          const { state } = yield* CircuitBreaker.view(yield* registry.get(name))
          assert.strictEqual(state, "Open")
        }
      }).pipe(Effect.scoped, Effect.provide(VirtualClock.layer)),
    120_000
  )
})
