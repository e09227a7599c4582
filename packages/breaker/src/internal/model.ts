import type { Policy } from "@switchgear/core/Policy"

/**
 * Marks a breaker of this package.
 *
 * @since 0.1.0
 * @category symbols
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function*() {
 *   const breaker = yield* CircuitBreaker.make({ name: "quotes", policy: Policy.hosted })
 *   return CircuitBreaker.TypeId in breaker
 * })
 * assert.ok(Effect.runSync(program))
 * ```
 */
export const TypeId: unique symbol = Symbol.for("@switchgear/breaker/CircuitBreaker")

/**
 * A breaker in this process. All who hold it share its state.
 *
 * @since 0.1.0
 * @category models
 */
export interface CircuitBreaker {
  readonly [TypeId]: typeof TypeId
  readonly name: string
  readonly policy: Policy
}

export const PermitTypeId: unique symbol = Symbol.for("@switchgear/breaker/Permit")

/**
 * The right to make one call. Report its outcome once; later reports do nothing.
 *
 * @since 0.1.0
 * @category models
 */
export interface Permit {
  readonly [PermitTypeId]: typeof PermitTypeId
  /** The breaker's name. */
  readonly breaker: string
  /** A probe holds a lease of `halfOpen.probeTimeout` (SEMANTICS A5). */
  readonly isProbe: boolean
}
