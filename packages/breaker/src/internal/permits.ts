import * as Breaker from "@switchgear/core/Breaker"
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type { CircuitOpen } from "../CircuitOpen.js"
import { cellOf } from "./cell.js"
import type { CircuitBreaker, Permit } from "./model.js"
import { HeldPermit, tailOf, acquire as take } from "./permit.js"

const heldOf = (permit: Permit): HeldPermit => {
  if (permit instanceof HeldPermit) return permit
  throw new TypeError("not a permit of CircuitBreaker.acquire")
}

/**
 * Takes a permit that is released when the scope closes, unless its outcome was reported before.
 *
 * @since 0.1.0
 * @category permits
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
 * import * as Breaker from "@switchgear/core/Breaker"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function*() {
 *   const breaker = yield* CircuitBreaker.make({ name: "queue", policy: Policy.hosted })
 *   const permit = yield* CircuitBreaker.acquire(breaker)
 *   return yield* CircuitBreaker.report(permit, Breaker.failure("overloaded"))
 * })
 * assert.strictEqual(Effect.runSync(Effect.scoped(program)), "Applied")
 * ```
 */
export const acquire = (breaker: CircuitBreaker): Effect.Effect<Permit, CircuitOpen, Scope.Scope> =>
  Effect.acquireRelease(take(cellOf(breaker)), (permit) => permit.report(Breaker.released))

/**
 * Takes a permit that nobody releases. Report it on every path, interruption included: a probe that is not reported
 * holds back recovery until its lease ends.
 *
 * @since 0.1.0
 * @category permits
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
 * import * as Breaker from "@switchgear/core/Breaker"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function*() {
 *   const breaker = yield* CircuitBreaker.make({ name: "quotes", policy: Policy.hosted })
 *   const permit = yield* CircuitBreaker.unsafeAcquire(breaker)
 *   const first = yield* CircuitBreaker.report(permit, Breaker.success(120))
 *   return [first, yield* CircuitBreaker.report(permit, Breaker.success(120))]
 * })
 * assert.deepStrictEqual(Effect.runSync(program), ["Applied", "Stale"])
 * ```
 */
export const unsafeAcquire = (breaker: CircuitBreaker): Effect.Effect<Permit, CircuitOpen> => take(cellOf(breaker))

/**
 * Reports the outcome of a permit's call. `Stale`: it came too late to count, or the permit was reported before
 * (SEMANTICS R2).
 *
 * @since 0.1.0
 * @category permits
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
 * import * as Breaker from "@switchgear/core/Breaker"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function*() {
 *   const breaker = yield* CircuitBreaker.make({ name: "quotes", policy: Policy.hosted })
 *   const permit = yield* CircuitBreaker.acquire(breaker)
 *   yield* CircuitBreaker.report(permit, Breaker.failure("rate_limit", { retryAfter: 2_000 }))
 *   return (yield* CircuitBreaker.view(breaker)).failures
 * })
 * assert.strictEqual(Effect.runSync(Effect.scoped(program)), 1)
 * ```
 */
export const report: {
  (outcome: Breaker.Outcome): (permit: Permit) => Effect.Effect<Breaker.Reported>
  (permit: Permit, outcome: Breaker.Outcome): Effect.Effect<Breaker.Reported>
} = dual(
  2,
  (permit: Permit, outcome: Breaker.Outcome): Effect.Effect<Breaker.Reported> => heldOf(permit).report(outcome)
)

/**
 * After the report of a probe's first output: a permit for what follows, on which only a failure counts (SEMANTICS R7).
 * None if the breaker has not recovered.
 *
 * @since 0.1.0
 * @category permits
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Effect from "effect/Effect"
 * import * as Option from "effect/Option"
 *
 * const program = Effect.gen(function*() {
 *   const breaker = yield* CircuitBreaker.make({ name: "quotes", policy: Policy.hosted })
 *   const tail = yield* CircuitBreaker.tailPermit(breaker)
 *   yield* CircuitBreaker.forceOpen(breaker)
 *   return [Option.isSome(tail), Option.isSome(yield* CircuitBreaker.tailPermit(breaker))]
 * })
 * assert.deepStrictEqual(Effect.runSync(program), [true, false])
 * ```
 */
export const tailPermit = (breaker: CircuitBreaker): Effect.Effect<Option.Option<Permit>> =>
  Effect.map(Effect.clock, (clock) => Option.fromNullable(tailOf(cellOf(breaker), clock)))
