/**
 * Settings of the whole, as data: the recommended ones, and those of the systems whose documented behaviour is kept.
 *
 * @since 0.1.0
 */
import * as Dedupe from "@switchgear/core/Dedupe"
import * as Fallback from "@switchgear/core/Fallback"
import * as Policy from "@switchgear/core/Policy"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import * as Budget from "./Budget.js"
import * as Cache from "./Cache.js"
import * as Health from "./Health.js"
import * as Idempotency from "./Idempotency.js"
import type * as IdempotencyStore from "./IdempotencyStore.js"
import * as Pipeline from "./Pipeline.js"
import type { Stage } from "./Stage.js"
import * as Telemetry from "./Telemetry.js"
import type * as TelemetryStore from "./TelemetryStore.js"
import * as Usage from "./Usage.js"

/**
 * Settings of a pipeline and of what shows it to a client.
 *
 * @since 0.1.0
 * @category models
 */
export interface Settings {
  /** Of a provider's breaker, unless it has one of its own. */
  readonly breaker: Policy.Policy
  readonly fallback: Fallback.Settings
  /** Absent: every failure counts. */
  readonly dedupe?: Dedupe.Settings | undefined
  readonly idempotency: {
    readonly keep: "final" | "success"
    readonly ttl: Duration.DurationInput
    readonly lease: Duration.DurationInput
    readonly wait: Duration.DurationInput
  }
  readonly cache: { readonly enabled: boolean; readonly ttl: Duration.DurationInput }
  readonly budgets: ReadonlyArray<Budget.Limit>
  /** Of the headers that tell a client of a substitution (ROUTING W3). */
  readonly headerPrefix: string
  /** What a client is told whose circuit is open (ROUTING W2). */
  readonly retryAfter: "remaining" | "cooldown"
}

const common = {
  idempotency: { keep: "final", ttl: "24 hours", lease: "9 minutes", wait: 0 },
  cache: { enabled: false, ttl: "5 minutes" },
  budgets: [],
  headerPrefix: "X-Switchgear-Provider",
  retryAfter: "remaining"
} as const

/**
 * The recommended settings.
 *
 * @since 0.1.0
 * @category presets
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Presets from "@switchgear/routing/Presets"
 *
 * assert.strictEqual(Presets.recommended.fallback.budget, 0.5)
 * ```
 */
export const recommended: Settings = { ...common, breaker: Policy.hosted, fallback: Fallback.recommended }

/**
 * ADR-0076 and ADR-0077: breakers of self-hosted providers that trip on five failures in a row (`Policy.presets` has
 * `ibex.cloud` for those of hosted ones), the full cooldown as Retry-After; fallback on an open circuit, 5xx and timeout,
 * never on 4xx.
 *
 * @since 0.1.0
 * @category presets
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Presets from "@switchgear/routing/Presets"
 *
 * assert.strictEqual(Presets.ibex.retryAfter, "cooldown")
 * ```
 */
export const ibex: Settings = {
  ...common,
  breaker: Policy.presets["ibex.selfHosted"],
  fallback: Fallback.ibex,
  headerPrefix: "X-IBEX-Provider",
  retryAfter: "cooldown"
}

/**
 * ADR-063: the whole chain is walked, an open circuit is a hop that is passed, and a key keeps successes that are no
 * stream.
 *
 * @since 0.1.0
 * @category presets
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Presets from "@switchgear/routing/Presets"
 *
 * assert.strictEqual(Presets.nrLlm.idempotency.keep, "success")
 * ```
 */
export const nrLlm: Settings = {
  ...common,
  breaker: Policy.presets.nrLlm,
  fallback: Fallback.nrLlm,
  idempotency: { ...common.idempotency, keep: "success" }
}

/**
 * The OmniRoute article: four states, kinds with thresholds of their own, growing cooldowns, and one failure counted for
 * many at one moment. `Policy.presets` has its profiles by how a provider is signed in to.
 *
 * @since 0.1.0
 * @category presets
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Presets from "@switchgear/routing/Presets"
 *
 * assert.strictEqual(Presets.omniRoute.dedupe?.window, 5_000)
 * ```
 */
export const omniRoute: Settings = {
  ...common,
  breaker: Policy.presets["omniRoute.article"],
  fallback: Fallback.recommended,
  dedupe: Dedupe.defaults
}

/**
 * The presets by the name a configuration gives them.
 *
 * @since 0.1.0
 * @category presets
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Presets from "@switchgear/routing/Presets"
 *
 * assert.deepStrictEqual(Object.keys(Presets.presets), ["recommended", "ibex", "nrLlm", "omniRoute"])
 * ```
 */
export const presets: Readonly<Record<"recommended" | "ibex" | "nrLlm" | "omniRoute", Settings>> = {
  recommended,
  ibex,
  nrLlm,
  omniRoute
}

/**
 * What the stages of {@link stages} are built on. A stage whose store is absent is left out.
 *
 * @since 0.1.0
 * @category models
 */
export interface Stores {
  readonly telemetry?: TelemetryStore.Service | undefined
  /** How long telemetry is kept. Default: for ever, as far as this goes. */
  readonly retention?: Duration.DurationInput | undefined
  readonly idempotency?: IdempotencyStore.Service | undefined
  readonly cache?: Cache.Service | undefined
  readonly budgets?: Budget.Service | undefined
  readonly prices?: Usage.Prices | undefined
}

/**
 * The stages of these settings, for `Pipeline.make`. Cache and Budget are among them only if the settings say so too.
 *
 * @since 0.1.0
 * @category stages
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as IdempotencyStore from "@switchgear/routing/IdempotencyStore"
 * import * as Presets from "@switchgear/routing/Presets"
 * import * as TelemetryStore from "@switchgear/routing/TelemetryStore"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function*() {
 *   const telemetry = yield* TelemetryStore.makeMemory()
 *   const idempotency = yield* IdempotencyStore.makeMemory()
 *   return (yield* Presets.stages(Presets.recommended, { telemetry, idempotency })).map(({ name }) => name)
 * })
 * const names = await Effect.runPromise(Effect.scoped(program))
 * assert.deepStrictEqual(names, ["telemetry", "idempotency", "fallback", "usage", "breaker"])
 * ```
 */
export const stages = (
  { budgets, cache, dedupe, fallback, idempotency }: Settings,
  stores: Stores = {}
): Effect.Effect<ReadonlyArray<Stage>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const list: Array<Stage> = []
    if (stores.telemetry !== undefined) {
      const { retention, telemetry } = stores
      list.push((yield* Telemetry.make({ store: telemetry, retention })).stage)
    }
    if (stores.idempotency !== undefined) {
      list.push(yield* Idempotency.make({ ...idempotency, store: stores.idempotency }))
    }
    if (stores.cache !== undefined && cache.enabled) list.push(Cache.stage({ store: stores.cache, ttl: cache.ttl }))
    if (stores.budgets !== undefined && budgets.length > 0) {
      list.push(Budget.stage({ store: stores.budgets, limits: budgets }))
    }
    const health = stores.telemetry === undefined ? undefined : Health.make({ store: stores.telemetry }).scores
    list.push(Pipeline.fallback({ settings: fallback, health }))
    list.push(Usage.stage({ prices: stores.prices }), Pipeline.breaker({ dedupe }))
    return list
  })
