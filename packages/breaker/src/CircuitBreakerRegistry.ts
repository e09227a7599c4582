/**
 * Breakers by key, each made on first use.
 *
 * @since 0.1.0
 */
import type { Policy } from "@switchgear/core/Policy"
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { dual } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type * as Stream from "effect/Stream"
import type { CircuitOpen } from "./CircuitOpen.js"
import { cellOf } from "./internal/cell.js"
import { Cells } from "./internal/cells.js"
import { guard } from "./internal/guard.js"
import type { CircuitBreaker } from "./internal/model.js"
import type { Classify } from "./internal/settings.js"
import { statusOf } from "./internal/status.js"
import { clockOf } from "./internal/time.js"
import type { Status, Transition } from "./Transition.js"

/**
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
}

/**
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
}

/**
 * @since 0.1.0
 * @category tags
 */
export class CircuitBreakerRegistry extends Context.Tag("@switchgear/breaker/CircuitBreakerRegistry")<
  CircuitBreakerRegistry,
  Service
>() {}

/**
 * A registry of its own. When the scope closes its breakers leave the metrics.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (options: Options): Effect.Effect<Service, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.map(Effect.clock, (clock) => new Cells(options, clock)),
      (cells) => Effect.sync(() => cells.close())
    ),
    (cells): Service => ({
      get: (name) => {
        const known = cells.find(name)
        return known === undefined
          ? Effect.withFiberRuntime((fiber) => Exit.succeed(cells.get(name, clockOf(fiber))))
          : Exit.succeed(known)
      },
      find: (name) => Effect.sync(() => Option.fromNullable(cells.find(name))),
      statuses: Effect.map(Effect.clock, (clock) => Array.from(cells.all(), (cell) => statusOf(cell, clock))),
      changes: cells.hub.stream(undefined, options.bufferSize ?? 256)
    })
  )

/**
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
