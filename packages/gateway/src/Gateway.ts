/**
 * The gateway: OpenAI's wire in, isolation and fallback inside.
 *
 * @since 0.1.0
 */
import * as CircuitBreakerRegistry from "@switchgear/breaker/CircuitBreakerRegistry"
import type { CircuitBreakerStore } from "@switchgear/breaker/CircuitBreakerStore"
import type { RegistryEvent } from "@switchgear/breaker/RegistryEvent"
import * as Policy from "@switchgear/core/Policy"
import * as Budget from "@switchgear/routing/Budget"
import * as Cache from "@switchgear/routing/Cache"
import * as Health from "@switchgear/routing/Health"
import * as IdempotencyStore from "@switchgear/routing/IdempotencyStore"
import * as ModelPolicies from "@switchgear/routing/ModelPolicies"
import * as Pipeline from "@switchgear/routing/Pipeline"
import * as Presets from "@switchgear/routing/Presets"
import * as TelemetryStore from "@switchgear/routing/TelemetryStore"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { ConfigError, type GatewayConfig } from "./Config.js"
import { logEvent, logTransition } from "./internal/accessLog.js"
import * as AdminRoutes from "./internal/adminRoutes.js"
import { breakersOf, guards, modelGuard } from "./internal/breakers.js"
import { connect } from "./internal/connect.js"
import * as Gate from "./internal/gate.js"
import { handler } from "./internal/handler.js"
import { type ListenError, listen } from "./internal/listener.js"
import * as Kept from "./internal/stores.js"
import { heldBack } from "./internal/streamReply.js"

export {
  /**
   * The gateway could not listen where it was told to; `message` says what to change.
   *
   * @example
   * ```ts
   * import * as assert from "node:assert"
   * import { ListenError } from "@switchgear/gateway/Gateway"
   *
   * const error = new ListenError({ host: "127.0.0.1", port: 8787, reason: "InUse" })
   * assert.match(error.message, /127.0.0.1:8787 is in use/)
   * ```
   *
   * @since 0.1.0
   * @category errors
   */
  ListenError
} from "./internal/listener.js"

/**
 * A gateway that listens.
 *
 * @since 0.1.0
 * @category models
 */
export interface Running {
  readonly host: string
  /** The port in use, also where the configuration left the choice open. */
  readonly port: number
  /** `http://HOST:PORT` */
  readonly url: string
}

/**
 * The gateway in force: where it listens.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Config from "@switchgear/gateway/Config"
 * import * as Gateway from "@switchgear/gateway/Gateway"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function*() {
 *   const config = yield* Config.decode(`
 *     server: { port: 0 }
 *     providers: [{ name: local, kind: openai-compatible, baseUrl: "http://127.0.0.1:9/v1" }]
 *     models: [{ name: llama, provider: local }]
 *   `)
 *   return yield* Effect.provide(Effect.gen(function*() {
 *     const { url } = yield* Gateway.Gateway
 *     return yield* Effect.promise(() => fetch(`${url}/readyz`).then((response) => response.status))
 *   }), Gateway.layerConfigured(config))
 * })
 * assert.strictEqual(await Effect.runPromise(program), 200)
 * ```
 *
 * @since 0.1.0
 * @category tags
 */
export class Gateway extends Context.Tag("@switchgear/gateway/Gateway")<Gateway, Running>() {}

/**
 * What a configuration keeps: breakers, rules and clients, answers by their idempotency key, telemetry, the cache, what was
 * spent.
 *
 * @since 0.1.0
 * @category models
 */
export type Stores = Kept.Stores

/**
 * Who may call, and which models: a configuration's clients and policies over those of {@link Stores} (ROUTING S0).
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Config from "@switchgear/gateway/Config"
 * import * as Gateway from "@switchgear/gateway/Gateway"
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 *
 * const program = Effect.gen(function*() {
 *   const config = yield* Config.decode(`
 *     server: { port: 0 }
 *     providers: [{ name: local, kind: openai-compatible, baseUrl: "http://127.0.0.1:9/v1" }]
 *     models: [{ name: llama, provider: local }]
 *   `)
 *   const Live = Gateway.layerGatekeeper(config).pipe(Layer.provide(Gateway.layerStores(config)))
 *   const request = { model: "llama", operation: "messages", body: new Uint8Array(), stream: false, headers: {} } as const
 *   return yield* Effect.provide(Effect.flatMap(Gateway.Gatekeeper, (gate) => gate.access(request)), Live)
 * })
 * assert.deepStrictEqual(await Effect.runPromise(program), { org: "default" })
 * ```
 *
 * @since 0.1.0
 * @category tags
 */
export class Gatekeeper extends Context.Tag("@switchgear/gateway/Gatekeeper")<Gatekeeper, Gate.Gate>() {}

/**
 * Everything {@link make} serves over.
 *
 * @since 0.1.0
 * @category models
 */
export type Parts =
  | Pipeline.Pipeline
  | CircuitBreakerRegistry.CircuitBreakerRegistry
  | Gatekeeper
  | ModelPolicies.ModelPolicies
  | TelemetryStore.TelemetryStore

/**
 * Serves a configuration over a pipeline and a registry of your own: other providers, a virtual clock, a shared store.
 *
 * When the scope closes the gateway says it is not ready, refuses new calls, and gives running ones `server.drain` to
 * finish (ROUTING W8).
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Config from "@switchgear/gateway/Config"
 * import * as Gateway from "@switchgear/gateway/Gateway"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function*() {
 *   const config = yield* Config.decode(`
 *     server: { port: 0 }
 *     providers: [{ name: local, kind: openai-compatible, baseUrl: "http://127.0.0.1:9/v1" }]
 *     models: [{ name: llama, provider: local }]
 *   `)
 *   const parts = Gateway.layerParts(config)
 *   return yield* Effect.provide(Effect.scoped(Effect.map(Gateway.make(config), ({ port }) => port > 0)), parts)
 * })
 * assert.ok(await Effect.runPromise(program))
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (config: GatewayConfig): Effect.Effect<Running, ListenError, Parts | Scope.Scope> =>
  Effect.gen(function* () {
    const { bodyLimit, holdBack } = config.server
    const pipeline = yield* Pipeline.Pipeline
    const registry = yield* CircuitBreakerRegistry.CircuitBreakerRegistry
    const gate = yield* Gatekeeper
    const policies = yield* ModelPolicies.ModelPolicies
    const telemetry = yield* TelemetryStore.TelemetryStore
    let away = false
    const held = heldBack(holdBack)
    const { allowedBaseUrls } = config.byo
    const byo = allowedBaseUrls === undefined ? {} : { allowedBaseUrls }
    const admin = AdminRoutes.make({
      token: config.server.adminToken,
      registry,
      policies,
      file: config,
      telemetry,
      // A person who looks wants to see what is now; the walk is served by the pipeline's own, which asks once a minute.
      health: Health.make({ store: telemetry, cache: "1 second" }),
      providers: config.providers.map(({ name }) => name),
      models: config.models.map(({ name }) => name),
      edited: gate.refresh
    })
    const parts = {
      byo,
      pipeline,
      gate,
      admin,
      heldBack: held,
      bodyLimit,
      models: config.models,
      prefix: config.headers.prefix.toLowerCase(),
      retryAfter: config.retryAfter,
      ready: () => gate.ready() && !(away && config.store.onStoreFailure === "closed")
    }
    const listening = yield* listen(config.server, handler(parts, yield* Effect.clock))
    yield* Effect.flatMap(Clock.currentTimeMillis, (now) => Effect.sync(() => held.sweep(now))).pipe(
      Effect.repeat(Schedule.spaced(Math.min(1000, Math.ceil(holdBack / 4)))),
      Effect.forkScoped
    )
    yield* Effect.forkScoped(Stream.runForEach(registry.changes, logTransition))
    const heard = (event: RegistryEvent) => {
      if (event._tag === "StoreUnavailable" || event._tag === "StoreAvailable") away = event._tag === "StoreUnavailable"
      return logEvent(event)
    }
    yield* Effect.forkScoped(Stream.runForEach(registry.events, heard))
    const host = listening.host.includes(":") ? `[${listening.host}]` : listening.host
    return { host: listening.host, port: listening.port, url: `http://${host}:${listening.port}` }
  })

/**
 * The gateway of {@link make} as a layer.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Config from "@switchgear/gateway/Config"
 * import * as Gateway from "@switchgear/gateway/Gateway"
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 *
 * const program = Effect.gen(function*() {
 *   const config = yield* Config.decode(`
 *     server: { port: 0 }
 *     providers: [{ name: local, kind: openai-compatible, baseUrl: "http://127.0.0.1:9/v1" }]
 *     models: [{ name: llama, provider: local }]
 *   `)
 *   return yield* Effect.provide(Effect.gen(function*() {
 *     const { url } = yield* Gateway.Gateway
 *     return yield* Effect.promise(() => fetch(`${url}/readyz`).then((response) => response.status))
 *   }), Gateway.layer(config).pipe(Layer.provide(Gateway.layerParts(config))))
 * })
 * assert.strictEqual(await Effect.runPromise(program), 200)
 * ```
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (config: GatewayConfig): Layer.Layer<Gateway, ListenError, Parts> =>
  Layer.scoped(Gateway, make(config))

/**
 * The stores that a configuration names. One that cannot be opened is a fault of the configuration; one that is not there
 * yet, or goes away, is not.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Config from "@switchgear/gateway/Config"
 * import * as Gateway from "@switchgear/gateway/Gateway"
 * import * as ModelPolicies from "@switchgear/routing/ModelPolicies"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function*() {
 *   const config = yield* Config.decode(`
 *     server: { port: 0 }
 *     store: { kind: sqlite, path: ":memory:" }
 *     providers: [{ name: local, kind: openai-compatible, baseUrl: "http://127.0.0.1:9/v1" }]
 *     models: [{ name: llama, provider: local }]
 *   `)
 *   const rules = Effect.flatMap(ModelPolicies.ModelPolicies, (policies) => policies.rules)
 *   return yield* Effect.provide(rules, Gateway.layerStores(config))
 * })
 * assert.deepStrictEqual(await Effect.runPromise(program), [])
 * ```
 *
 * @since 0.1.0
 * @category layers
 */
export const layerStores = (
  config: Pick<GatewayConfig, "store" | "telemetry" | "policyStore">
): Layer.Layer<Stores, ConfigError> =>
  Layer.mapError(Kept.layer(config), (fault) => new ConfigError({ source: "the configuration", faults: [fault] }))

/**
 * Who may call, by a configuration over its stores. What was edited there is in force within a second.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Config from "@switchgear/gateway/Config"
 * import * as Gateway from "@switchgear/gateway/Gateway"
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 *
 * const program = Effect.gen(function*() {
 *   const config = yield* Config.decode(`
 *     server: { port: 0 }
 *     providers: [{ name: local, kind: openai-compatible, baseUrl: "http://127.0.0.1:9/v1" }]
 *     models: [{ name: llama, provider: local }]
 *     clients: [{ org: acme, keyHash: "sha256:${"0".repeat(64)}" }]
 *   `)
 *   const Live = Gateway.layerGatekeeper(config).pipe(Layer.provide(Gateway.layerStores(config)))
 *   const request = { model: "llama", operation: "messages", body: new Uint8Array(), stream: false, headers: {} } as const
 *   const access = Effect.flatMap(Gateway.Gatekeeper, (gate) => gate.access(request))
 *   return yield* Effect.provide(Effect.flip(access), Live)
 * })
 * assert.strictEqual((await Effect.runPromise(program)).message, "The API key is missing or not valid.")
 * ```
 *
 * @since 0.1.0
 * @category layers
 */
export const layerGatekeeper = (
  config: Pick<GatewayConfig, "server" | "clients" | "policies">
): Layer.Layer<Gatekeeper, ModelPolicies.InvalidRules, ModelPolicies.ModelPolicies> =>
  Layer.scoped(
    Gatekeeper,
    Effect.gen(function* () {
      const gate = yield* Gate.make(config, yield* ModelPolicies.ModelPolicies)
      yield* Effect.forkScoped(Effect.repeat(gate.refresh, Schedule.spaced("1 second")))
      return gate
    })
  )

/**
 * The breakers of a configuration, each with its own policy, there from the start: of a provider by its name, of a model
 * as `provider:model`, of a host as `provider (host)`.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as CircuitBreakerRegistry from "@switchgear/breaker/CircuitBreakerRegistry"
 * import * as Config from "@switchgear/gateway/Config"
 * import * as Gateway from "@switchgear/gateway/Gateway"
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 *
 * const program = Effect.gen(function*() {
 *   const config = yield* Config.decode(`
 *     server: { port: 0 }
 *     providers: [{ name: local, kind: openai-compatible, baseUrl: "http://127.0.0.1:9/v1" }]
 *     models: [{ name: llama, provider: local }]
 *   `)
 *   const statuses = Effect.flatMap(CircuitBreakerRegistry.CircuitBreakerRegistry, (registry) => registry.statuses)
 *   return yield* Effect.provide(statuses, Gateway.layerBreakers(config).pipe(Layer.provide(Gateway.layerStores(config))))
 * })
 * assert.deepStrictEqual((await Effect.runPromise(program)).map((status) => status.name), ["local"])
 * ```
 *
 * @since 0.1.0
 * @category layers
 */
export const layerBreakers = (
  config: Pick<GatewayConfig, "providers" | "models" | "store">
): Layer.Layer<CircuitBreakerRegistry.CircuitBreakerRegistry, never, CircuitBreakerStore> =>
  Layer.scoped(
    CircuitBreakerRegistry.CircuitBreakerRegistry,
    Effect.suspend(() => {
      const breakers = breakersOf(config)
      const { mode, onStoreFailure, pollInterval } = config.store
      const modeOf = (name: string) => breakers.get(name)?.mode ?? mode
      const policies = Object.fromEntries(Array.from(breakers, ([name, { policy }]) => [name, policy]))
      const settings = { policy: Policy.hosted, policies }
      const made = [...breakers.keys()].every((name) => modeOf(name) === "local")
        ? CircuitBreakerRegistry.make(settings)
        : CircuitBreakerRegistry.makeStored({ ...settings, mode: modeOf, onStoreFailure, pollInterval })
      return Effect.tap(made, (registry) => Effect.forEach(breakers.keys(), registry.get, { discard: true }))
    })
  )

/**
 * The pipeline of a configuration, with its providers' connections and all its stages.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Config from "@switchgear/gateway/Config"
 * import * as Gateway from "@switchgear/gateway/Gateway"
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 * import * as Pipeline from "@switchgear/routing/Pipeline"
 *
 * const program = Effect.gen(function*() {
 *   const config = yield* Config.decode(`
 *     server: { port: 0 }
 *     providers: [{ name: local, kind: openai-compatible, baseUrl: "http://127.0.0.1:9/v1" }]
 *     models: [{ name: llama, provider: local }]
 *   `)
 *   const Live = Gateway.layerPipeline(config).pipe(
 *     Layer.provide(Layer.merge(Gateway.layerBreakers(config), Gateway.layerGatekeeper(config))),
 *     Layer.provide(Gateway.layerStores(config))
 *   )
 *   return yield* Effect.provide(Effect.map(Pipeline.Pipeline, (pipeline) => pipeline.stages), Live)
 * })
 * assert.deepStrictEqual(await Effect.runPromise(program), ["telemetry", "idempotency", "fallback", "usage", "breaker"])
 * ```
 *
 * @since 0.1.0
 * @category layers
 */
export const layerPipeline = (
  config: GatewayConfig
): Layer.Layer<
  Pipeline.Pipeline,
  Pipeline.PipelineConfigError,
  CircuitBreakerRegistry.CircuitBreakerRegistry | Gatekeeper | Stores
> =>
  Layer.scoped(
    Pipeline.Pipeline,
    Effect.gen(function* () {
      const registry = yield* CircuitBreakerRegistry.CircuitBreakerRegistry
      const { access } = yield* Gatekeeper
      const providers = yield* Effect.forEach(config.providers, (each) =>
        Effect.map(Effect.all([connect(each, config.models), guards(each, registry)]), ([provider, { host, own }]) => ({
          provider,
          breaker: own,
          hostBreaker: host,
          maxConcurrent: each.maxConcurrent
        }))
      )
      const models = yield* Effect.forEach(config.models, (model) =>
        Effect.map(modelGuard(model, config.providers, registry), (breaker) => ({ ...model, breaker }))
      )
      const stages = yield* Presets.stages(settingsOf(config), {
        telemetry: yield* TelemetryStore.TelemetryStore,
        retention: config.telemetry.retention,
        idempotency: yield* IdempotencyStore.IdempotencyStore,
        cache: yield* Cache.CacheStore,
        budgets: yield* Budget.Budgets,
        prices: config.prices
      })
      return yield* Pipeline.make({ providers, models, stages, access })
    })
  )

const settingsOf = (config: GatewayConfig): Presets.Settings => {
  const { budgets, cache, dedupe, fallback, headers, idempotency, retryAfter } = config
  const { store: keep, ...times } = idempotency
  return {
    breaker: Policy.hosted,
    fallback,
    dedupe,
    idempotency: { keep, ...times },
    cache,
    budgets,
    headerPrefix: headers.prefix,
    retryAfter
  }
}

/**
 * Everything a configuration is served over.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Config from "@switchgear/gateway/Config"
 * import * as Gateway from "@switchgear/gateway/Gateway"
 * import * as Effect from "effect/Effect"
 * import * as Pipeline from "@switchgear/routing/Pipeline"
 *
 * const program = Effect.gen(function*() {
 *   const config = yield* Config.decode(`
 *     server: { port: 0 }
 *     providers: [{ name: local, kind: openai-compatible, baseUrl: "http://127.0.0.1:9/v1" }]
 *     models: [{ name: llama, provider: local }]
 *   `)
 *   const models = Effect.map(Pipeline.Pipeline, (pipeline) => pipeline.models)
 *   return yield* Effect.provide(models, Gateway.layerParts(config))
 * })
 * assert.deepStrictEqual(await Effect.runPromise(program), ["llama"])
 * ```
 *
 * @since 0.1.0
 * @category layers
 */
export const layerParts = (
  config: GatewayConfig
): Layer.Layer<
  Pipeline.Pipeline | CircuitBreakerRegistry.CircuitBreakerRegistry | Gatekeeper | Stores,
  Pipeline.PipelineConfigError | ModelPolicies.InvalidRules | ConfigError
> =>
  layerPipeline(config).pipe(
    Layer.provideMerge(Layer.merge(layerBreakers(config), layerGatekeeper(config))),
    Layer.provideMerge(layerStores(config))
  )

/**
 * Everything a configuration asks for, from its breakers to its port.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Config from "@switchgear/gateway/Config"
 * import * as Gateway from "@switchgear/gateway/Gateway"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function*() {
 *   const config = yield* Config.decode(`
 *     server: { port: 0 }
 *     providers: [{ name: local, kind: openai-compatible, baseUrl: "http://127.0.0.1:9/v1" }]
 *     models: [{ name: llama, provider: local }]
 *   `)
 *   return yield* Effect.provide(Effect.gen(function*() {
 *     const { url } = yield* Gateway.Gateway
 *     return yield* Effect.promise(() => fetch(`${url}/readyz`).then((response) => response.status))
 *   }), Gateway.layerConfigured(config))
 * })
 * assert.strictEqual(await Effect.runPromise(program), 200)
 * ```
 *
 * @since 0.1.0
 * @category layers
 */
export const layerConfigured = (
  config: GatewayConfig
): Layer.Layer<
  Gateway | Pipeline.Pipeline | CircuitBreakerRegistry.CircuitBreakerRegistry | Gatekeeper | Stores,
  ListenError | Pipeline.PipelineConfigError | ModelPolicies.InvalidRules | ConfigError
> => layer(config).pipe(Layer.provideMerge(layerParts(config)))
