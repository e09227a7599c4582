/**
 * Breakers by key, each made on first use.
 *
 * @since 0.1.0
 */
import type { Policy } from "@switchgear/core/Policy"
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Context from "effect/Context"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { dual } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import { CircuitBreakerStore } from "./CircuitBreakerStore.js"
import type { CircuitOpen } from "./CircuitOpen.js"
import { cellOf } from "./internal/cell.js"
import type { Cells } from "./internal/cells.js"
import { guard } from "./internal/guard.js"
import type { CircuitBreaker } from "./internal/model.js"
import { local, stored } from "./internal/registry.js"
import type { Classify } from "./internal/settings.js"
import { statusOf } from "./internal/status.js"
import { clockOf } from "./internal/time.js"
import type { RegistryEvent } from "./RegistryEvent.js"
import type { Status, Transition } from "./Transition.js"

/**
 * Breakers by name.
 *
 * @since 0.1.0
 * @category models
 */
export interface Service {
  /** The breaker of this name, made now if there is none. */
  readonly get: (name: string) => Effect.Effect<CircuitBreaker>
  /** The breaker of this name, if it was ever asked for. */
  readonly find: (name: string) => Effect.Effect<Option.Option<CircuitBreaker>>
  /** Every breaker: what it is, what it has counted, its last 20 transitions with their reasons. In order of making. */
  readonly statuses: Effect.Effect<ReadonlyArray<Status>>
  /**
   * The transitions of all breakers from now on, in order, each after it was made. A reader that falls more than
   * `bufferSize` behind loses the oldest; no reader can slow or harm a breaker.
   */
  readonly changes: Stream.Stream<Transition>
  /** What the registry has to say of itself: it has grown over its bound, its store is away. */
  readonly events: Stream.Stream<RegistryEvent>
}

/**
 * How a registry makes its breakers.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** The policy of every breaker that has none of its own. */
  readonly policy: Policy
  /** Policies by breaker name. */
  readonly policies?: Readonly<Record<string, Policy>> | undefined
  /** `false`: shadow mode for all of them. Default true. */
  readonly enforce?: boolean | undefined
  /** What an ended call means for health. Default `CircuitBreaker.classify`. */
  readonly classify?: Classify | undefined
  /** Transitions kept for a reader of `changes` that is behind. Default 256. */
  readonly bufferSize?: number | undefined
  /**
   * Breakers kept, default 500. Over it those that read Closed and count no failure go, the least recently used first.
   * Others are never forgotten: then there are more, and an event says so.
   */
  readonly bound?: number | undefined
  /** Breakers at most, default 10 000: above it a new name runs unguarded, and an event says so. */
  readonly hardLimit?: number | undefined
  /** How often unused breakers are looked for. Default 5 minutes. */
  readonly sweepEvery?: Duration.DurationInput | undefined
  /** After how long without a call a breaker that reads Closed and counts no failure goes. Default 30 minutes. */
  readonly idleAfter?: Duration.DurationInput | undefined
}

/**
 * Where a breaker lives. `local`: in this process, forgotten with it. `durable`: in this process, and written to the
 * store, so that the next one goes on from there: a transition before it is announced, counters at most once a second
 * and at shutdown. `shared`: one breaker in all processes over the store. Each counts by itself and asks nobody while the
 * breaker is Closed or Degraded; whoever trips it opens it for all; its probes are leased in the store, so that all
 * processes together send `maxProbes`; and the store's time decides.
 *
 * @since 0.1.0
 * @category models
 */
export type Mode = "local" | "durable" | "shared"

/**
 * How a registry over a store is made.
 *
 * @since 0.1.0
 * @category models
 */
export interface StoredOptions extends Options {
  /** For all, or by breaker name. Default `durable`. */
  readonly mode?: Mode | ((name: string) => Mode) | undefined
  /** Of durable breakers: how often changed counters are written. Default 1 second. */
  readonly writeEvery?: Duration.DurationInput | undefined
  /**
   * What shared breakers do while the store is away: go on in each process (`local`, the default), or refuse every call
   * (`closed`).
   */
  readonly onStoreFailure?: "local" | "closed" | undefined
  /**
   * Of shared breakers: how often the store is asked for what was not heard of, and, while it is away, whether it is back.
   * Default 1 second.
   */
  readonly pollInterval?: Duration.DurationInput | undefined
  /**
   * Of shared breakers: how long a probe's admission or report, a command or a first use waits for the store at most.
   * Default 250 ms. No other call waits for it.
   */
  readonly storeWait?: Duration.DurationInput | undefined
}

/**
 * The registry in force.
 *
 * @since 0.1.0
 * @category tags
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as CircuitBreakerRegistry from "@switchgear/breaker/CircuitBreakerRegistry"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.flatMap(CircuitBreakerRegistry.CircuitBreakerRegistry, (registry) => registry.get("openai"))
 * const Registry = CircuitBreakerRegistry.layer({ policy: Policy.hosted })
 * assert.strictEqual(Effect.runSync(Effect.provide(program, Registry)).name, "openai")
 * ```
 */
export class CircuitBreakerRegistry extends Context.Tag("@switchgear/breaker/CircuitBreakerRegistry")<
  CircuitBreakerRegistry,
  Service
>() {}

const serviceOf = (
  cells: Cells,
  events: Stream.Stream<RegistryEvent>,
  options: Options,
  first: (name: string) => Effect.Effect<CircuitBreaker>
): Service => ({
  get: (name) => {
    const known = cells.find(name)
    return known === undefined ? first(name) : Exit.succeed(known)
  },
  find: (name) => Effect.sync(() => Option.fromNullable(cells.find(name))),
  statuses: Effect.map(Effect.clock, (clock) => Array.from(cells.all(), (cell) => statusOf(cell, clock))),
  changes: cells.hub.stream(undefined, options.bufferSize ?? 256),
  events
})

/**
 * A registry of its own. When the scope closes its breakers leave the metrics.
 *
 * @since 0.1.0
 * @category constructors
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as CircuitBreakerRegistry from "@switchgear/breaker/CircuitBreakerRegistry"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function*() {
 *   const registry = yield* CircuitBreakerRegistry.make({ policy: Policy.hosted })
 *   return (yield* registry.get("openai")) === (yield* registry.get("openai"))
 * })
 * assert.ok(Effect.runSync(Effect.scoped(program)))
 * ```
 */
export const make = (options: Options): Effect.Effect<Service, never, Scope.Scope> =>
  Effect.map(local(options), ({ cells, events }) =>
    serviceOf(cells, events, options, (name) =>
      Effect.withFiberRuntime((fiber) => Exit.succeed(cells.get(name, clockOf(fiber))))
    )
  )

/**
 * A registry over a store. A breaker is read from it when it is first asked for (SEMANTICS S9), which takes a round trip
 * that time; no call waits for the store afterwards. While the store is away breakers go on in this process, and an
 * event says so. When the scope closes what is not yet written is written.
 *
 * @since 0.1.0
 * @category constructors
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
 * import * as CircuitBreakerRegistry from "@switchgear/breaker/CircuitBreakerRegistry"
 * import * as CircuitBreakerStore from "@switchgear/breaker/CircuitBreakerStore"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Effect from "effect/Effect"
 *
 * const life = Effect.scoped(Effect.gen(function*() {
 *   const registry = yield* CircuitBreakerRegistry.makeStored({ policy: Policy.hosted })
 *   const breaker = yield* registry.get("openai")
 *   const found = yield* CircuitBreaker.view(breaker)
 *   yield* CircuitBreaker.forceOpen(breaker)
 *   return found.state
 * }))
 * const twoLives = Effect.all([life, life]).pipe(Effect.provide(CircuitBreakerStore.layerStoreMemory))
 * assert.deepStrictEqual(await Effect.runPromise(twoLives), ["Closed", "Open"])
 * ```
 */
export const makeStored = (options: StoredOptions): Effect.Effect<Service, never, Scope.Scope | CircuitBreakerStore> =>
  Effect.flatMap(CircuitBreakerStore, (store) =>
    Effect.map(stored(options, store), ({ cells, events, get }) => serviceOf(cells, events, options, get))
  )

/**
 * A registry for everything that asks for one.
 *
 * @since 0.1.0
 * @category layers
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as CircuitBreakerRegistry from "@switchgear/breaker/CircuitBreakerRegistry"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function*() {
 *   const registry = yield* CircuitBreakerRegistry.CircuitBreakerRegistry
 *   const breaker = yield* registry.get("openai")
 *   assert.strictEqual(breaker, yield* registry.get("openai"))
 *   return (yield* registry.statuses).map((status) => `${status.name}: ${status.view.state}`)
 * })
 * const Registry = CircuitBreakerRegistry.layer({
 *   policy: Policy.hosted,
 *   policies: { llama: Policy.presets["ibex.selfHosted"] }
 * })
 * assert.deepStrictEqual(Effect.runSync(Effect.provide(program, Registry)), ["openai: Closed"])
 * ```
 */
export const layer = (options: Options): Layer.Layer<CircuitBreakerRegistry> =>
  Layer.scoped(CircuitBreakerRegistry, make(options))

/**
 * {@link makeStored} as a layer.
 *
 * @since 0.1.0
 * @category layers
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as CircuitBreakerRegistry from "@switchgear/breaker/CircuitBreakerRegistry"
 * import * as CircuitBreakerStore from "@switchgear/breaker/CircuitBreakerStore"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 *
 * const Registry = CircuitBreakerRegistry.layerStored({
 *   policy: Policy.hosted,
 *   mode: (name) => name.startsWith("test:") ? "local" : "durable"
 * }).pipe(Layer.provide(CircuitBreakerStore.layerStoreMemory))
 * const guarded = Effect.succeed(42).pipe(CircuitBreakerRegistry.withCircuitBreaker({ key: "openai" }))
 * assert.strictEqual(await Effect.runPromise(Effect.provide(guarded, Registry)), 42)
 * ```
 */
export const layerStored = (options: StoredOptions): Layer.Layer<CircuitBreakerRegistry, never, CircuitBreakerStore> =>
  Layer.scoped(CircuitBreakerRegistry, makeStored(options))

/**
 * A registry whose policies come from configuration. `PolicySchema.config` reads a policy: a preset's name, or JSON.
 *
 * @since 0.1.0
 * @category layers
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as CircuitBreakerRegistry from "@switchgear/breaker/CircuitBreakerRegistry"
 * import * as PolicySchema from "@switchgear/breaker/PolicySchema"
 * import * as ConfigProvider from "effect/ConfigProvider"
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 *
 * const Registry = CircuitBreakerRegistry.layerConfig({ policy: PolicySchema.config("BREAKER_POLICY") }).pipe(
 *   Layer.provide(Layer.setConfigProvider(ConfigProvider.fromMap(new Map([["BREAKER_POLICY", "nrLlm"]]))))
 * )
 * const program = Effect.gen(function*() {
 *   const registry = yield* CircuitBreakerRegistry.CircuitBreakerRegistry
 *   return (yield* registry.get("quotes")).policy.halfOpen.probeTimeout
 * })
 * assert.strictEqual(Effect.runSync(Effect.provide(program, Registry)), 30_000)
 * ```
 */
export const layerConfig = (options: {
  readonly policy: Config.Config<Policy>
  readonly policies?: Config.Config<Readonly<Record<string, Policy>>> | undefined
  readonly enforce?: Config.Config<boolean> | undefined
  readonly classify?: Classify | undefined
  readonly bufferSize?: number | undefined
}): Layer.Layer<CircuitBreakerRegistry, ConfigError> =>
  Layer.scoped(
    CircuitBreakerRegistry,
    Effect.flatMap(
      Config.all({
        policy: options.policy,
        policies: options.policies ?? Config.succeed({}),
        enforce: options.enforce ?? Config.succeed(true)
      }),
      (config) => make({ ...config, classify: options.classify, bufferSize: options.bufferSize })
    )
  )

/**
 * Guards an effect with the registry's breaker of a key.
 *
 * @since 0.1.0
 * @category combinators
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as CircuitBreakerRegistry from "@switchgear/breaker/CircuitBreakerRegistry"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.succeed(42).pipe(
 *   CircuitBreakerRegistry.withCircuitBreaker({ key: "quotes" }),
 *   Effect.provide(CircuitBreakerRegistry.layer({ policy: Policy.hosted }))
 * )
 * assert.strictEqual(Effect.runSync(program), 42)
 * ```
 */
export const withCircuitBreaker: {
  <A = unknown, E = unknown>(options: {
    readonly key: string
    readonly classify?: Classify<A, E> | undefined
  }): <A1 extends A, E1 extends E, R>(
    self: Effect.Effect<A1, E1, R>
  ) => Effect.Effect<A1, E1 | CircuitOpen, R | CircuitBreakerRegistry>
  <A, E, R>(
    self: Effect.Effect<A, E, R>,
    options: { readonly key: string; readonly classify?: Classify<A, E> | undefined }
  ): Effect.Effect<A, E | CircuitOpen, R | CircuitBreakerRegistry>
} = dual(
  2,
  <A, E, R>(
    self: Effect.Effect<A, E, R>,
    options: { readonly key: string; readonly classify?: Classify<A, E> | undefined }
  ): Effect.Effect<A, E | CircuitOpen, R | CircuitBreakerRegistry> =>
    Effect.flatMap(CircuitBreakerRegistry, (registry) =>
      Effect.flatMap(registry.get(options.key), (breaker) => {
        const cell = cellOf(breaker)
        return guard(self, cell, options.classify ?? cell.settings.classify)
      })
    )
)
