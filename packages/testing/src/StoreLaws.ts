/**
 * What every backend of a port has to hold, as data: a store is right when they pass. For the backends of Switchgear and
 * for a user's own.
 *
 * @since 0.1.0
 */
import type { CircuitBreakerStore } from "@switchgear/breaker/CircuitBreakerStore"
import type { Budgets } from "@switchgear/routing/Budget"
import type { IdempotencyStore } from "@switchgear/routing/IdempotencyStore"
import type { ModelPolicies } from "@switchgear/routing/ModelPolicies"
import type { TelemetryStore } from "@switchgear/routing/TelemetryStore"
import * as breakerLaws from "./internal/storeLaws/breakers.js"
import * as budgetLaws from "./internal/storeLaws/budgets.js"
import * as idempotencyLaws from "./internal/storeLaws/idempotency.js"
import type { Law } from "./internal/storeLaws/law.js"
import * as policyLaws from "./internal/storeLaws/policies.js"
import * as telemetryLaws from "./internal/storeLaws/telemetry.js"

export { type Law, LawBroken } from "./internal/storeLaws/law.js"

/**
 * Of a `CircuitBreakerStore`: atomic per key, whatever the key and the value; and that it tells of writes. Each uses keys
 * of its own and removes them; the clock has to be a live one.
 *
 * @since 0.1.0
 * @category laws
 * @example
 * ```ts
 * import * as CircuitBreakerStore from "@switchgear/breaker/CircuitBreakerStore"
 * import * as StoreLaws from "@switchgear/testing/StoreLaws"
 * import * as Effect from "effect/Effect"
 *
 * // In a test file: one test for each law, against the layer of your own store.
 * for (const law of StoreLaws.breakers) {
 *   await Effect.runPromise(Effect.provide(law.check, CircuitBreakerStore.layerStoreMemory))
 * }
 * ```
 */
export const breakers: ReadonlyArray<Law<CircuitBreakerStore>> = breakerLaws.laws

/**
 * Of an `IdempotencyStore`: one claimant at a time, answers kept byte for byte, and gone in time.
 *
 * @since 0.1.0
 * @category laws
 * @example
 * ```ts
 * import * as IdempotencyStore from "@switchgear/routing/IdempotencyStore"
 * import * as StoreLaws from "@switchgear/testing/StoreLaws"
 * import * as Effect from "effect/Effect"
 *
 * for (const law of StoreLaws.idempotency) {
 *   await Effect.runPromise(Effect.provide(law.check, IdempotencyStore.layerMemory()))
 * }
 * ```
 */
export const idempotency: ReadonlyArray<Law<IdempotencyStore>> = idempotencyLaws.laws

/**
 * Of a `TelemetryStore`: rows come back as they were, and add up as `TelemetryStore.samplesOf` says. They need a store
 * that is theirs alone, as they purge it.
 *
 * @since 0.1.0
 * @category laws
 * @example
 * ```ts
 * import * as TelemetryStore from "@switchgear/routing/TelemetryStore"
 * import * as StoreLaws from "@switchgear/testing/StoreLaws"
 * import * as Effect from "effect/Effect"
 *
 * for (const law of StoreLaws.telemetry) {
 *   await Effect.runPromise(Effect.provide(law.check, TelemetryStore.layerMemory()))
 * }
 * ```
 */
export const telemetry: ReadonlyArray<Law<TelemetryStore>> = telemetryLaws.laws

/**
 * Of `ModelPolicies`: rules in order, chains of at most 8, clients by hash. They put rules of their own in place of all
 * there are.
 *
 * @since 0.1.0
 * @category laws
 * @example
 * ```ts
 * import * as ModelPolicies from "@switchgear/routing/ModelPolicies"
 * import * as StoreLaws from "@switchgear/testing/StoreLaws"
 * import * as Effect from "effect/Effect"
 *
 * for (const law of StoreLaws.policies) {
 *   await Effect.runPromise(Effect.provide(law.check, ModelPolicies.layerMemory()))
 * }
 * ```
 */
export const policies: ReadonlyArray<Law<ModelPolicies>> = policyLaws.laws

/**
 * Of `Budgets`: charges add up, by organisation and window, and are gone with the window.
 *
 * @since 0.1.0
 * @category laws
 * @example
 * ```ts
 * import * as Budget from "@switchgear/routing/Budget"
 * import * as StoreLaws from "@switchgear/testing/StoreLaws"
 * import * as Effect from "effect/Effect"
 *
 * for (const law of StoreLaws.budgets) {
 *   await Effect.runPromise(Effect.provide(law.check, Budget.layerMemory()))
 * }
 * ```
 */
export const budgets: ReadonlyArray<Law<Budgets>> = budgetLaws.laws
