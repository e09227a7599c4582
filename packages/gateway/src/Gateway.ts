/**
 * The gateway: OpenAI's wire in, isolation and fallback inside.
 *
 * @since 0.1.0
 */
import * as CircuitBreakerRegistry from "@switchgear/breaker/CircuitBreakerRegistry"
import * as Policy from "@switchgear/core/Policy"
import type { RouterConfigError } from "@switchgear/routing/RouteError"
import * as Router from "@switchgear/routing/Router"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { GatewayConfig } from "./Config.js"
import { logTransition } from "./internal/accessLog.js"
import { breakersOf, guards, modelGuard } from "./internal/breakers.js"
import { connect } from "./internal/connect.js"
import { handler } from "./internal/handler.js"
import { type ListenError, listen } from "./internal/listener.js"
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
 * Serves a configuration over a router and a registry of your own: other providers, a virtual clock, a shared store.
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
 * import * as Layer from "effect/Layer"
 *
 * const program = Effect.gen(function*() {
 *   const config = yield* Config.decode(`
 *     server: { port: 0 }
 *     providers: [{ name: local, kind: openai-compatible, baseUrl: "http://127.0.0.1:9/v1" }]
 *     models: [{ name: llama, provider: local }]
 *   `)
 *   return yield* Effect.provide(Effect.scoped(Effect.map(Gateway.make(config), ({ port }) => port > 0)), Gateway.layerRouter(config).pipe(Layer.provideMerge(Gateway.layerBreakers(config))))
 * })
 * assert.ok(await Effect.runPromise(program))
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  config: Pick<GatewayConfig, "server" | "models" | "byo">
): Effect.Effect<Running, ListenError, Router.Router | CircuitBreakerRegistry.CircuitBreakerRegistry | Scope.Scope> =>
  Effect.gen(function* () {
    const { bodyLimit, holdBack } = config.server
    const router = yield* Router.Router
    const registry = yield* CircuitBreakerRegistry.CircuitBreakerRegistry
    const held = heldBack(holdBack)
    const { allowedBaseUrls } = config.byo
    const byo = allowedBaseUrls === undefined ? {} : { allowedBaseUrls }
    const parts = { byo, router, heldBack: held, bodyLimit, models: config.models, statuses: registry.statuses }
    const listening = yield* listen(config.server, handler(parts, yield* Effect.clock))
    yield* Effect.flatMap(Clock.currentTimeMillis, (now) => Effect.sync(() => held.sweep(now))).pipe(
      Effect.repeat(Schedule.spaced(Math.min(1000, Math.ceil(holdBack / 4)))),
      Effect.forkScoped
    )
    yield* Effect.forkScoped(Stream.runForEach(registry.changes, logTransition))
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
 *   }), Gateway.layer(config).pipe(
 *     Layer.provide(Gateway.layerRouter(config)),
 *     Layer.provide(Gateway.layerBreakers(config))
 *   ))
 * })
 * assert.strictEqual(await Effect.runPromise(program), 200)
 * ```
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (
  config: Pick<GatewayConfig, "server" | "models" | "byo">
): Layer.Layer<Gateway, ListenError, Router.Router | CircuitBreakerRegistry.CircuitBreakerRegistry> =>
  Layer.scoped(Gateway, make(config))

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
 *
 * const program = Effect.gen(function*() {
 *   const config = yield* Config.decode(`
 *     server: { port: 0 }
 *     providers: [{ name: local, kind: openai-compatible, baseUrl: "http://127.0.0.1:9/v1" }]
 *     models: [{ name: llama, provider: local }]
 *   `)
 *   return yield* Effect.provide(Effect.flatMap(CircuitBreakerRegistry.CircuitBreakerRegistry, (registry) => registry.statuses), Gateway.layerBreakers(config))
 * })
 * assert.deepStrictEqual((await Effect.runPromise(program)).map((status) => status.name), ["local"])
 * ```
 *
 * @since 0.1.0
 * @category layers
 */
export const layerBreakers = (
  config: Pick<GatewayConfig, "providers" | "models">
): Layer.Layer<CircuitBreakerRegistry.CircuitBreakerRegistry> =>
  Layer.scoped(
    CircuitBreakerRegistry.CircuitBreakerRegistry,
    Effect.suspend(() => {
      const policies = breakersOf(config)
      return Effect.tap(
        CircuitBreakerRegistry.make({ policy: Policy.hosted, policies: Object.fromEntries(policies) }),
        (registry) => Effect.forEach(policies.keys(), registry.get, { discard: true })
      )
    })
  )

/**
 * The router of a configuration, with its providers' connections.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Config from "@switchgear/gateway/Config"
 * import * as Gateway from "@switchgear/gateway/Gateway"
 * import * as Router from "@switchgear/routing/Router"
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 *
 * const program = Effect.gen(function*() {
 *   const config = yield* Config.decode(`
 *     server: { port: 0 }
 *     providers: [{ name: local, kind: openai-compatible, baseUrl: "http://127.0.0.1:9/v1" }]
 *     models: [{ name: llama, provider: local }]
 *   `)
 *   return yield* Effect.provide(Effect.map(Router.Router, (router) => router.models), Gateway.layerRouter(config).pipe(Layer.provide(Gateway.layerBreakers(config))))
 * })
 * assert.deepStrictEqual(await Effect.runPromise(program), ["llama"])
 * ```
 *
 * @since 0.1.0
 * @category layers
 */
export const layerRouter = (
  config: Pick<GatewayConfig, "providers" | "models" | "fallback">
): Layer.Layer<Router.Router, RouterConfigError, CircuitBreakerRegistry.CircuitBreakerRegistry> =>
  Layer.scoped(
    Router.Router,
    Effect.gen(function* () {
      const registry = yield* CircuitBreakerRegistry.CircuitBreakerRegistry
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
      return yield* Router.make({ providers, models, fallback: config.fallback })
    })
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
  Gateway | Router.Router | CircuitBreakerRegistry.CircuitBreakerRegistry,
  ListenError | RouterConfigError
> => layer(config).pipe(Layer.provideMerge(layerRouter(config)), Layer.provideMerge(layerBreakers(config)))
