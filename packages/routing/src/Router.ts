/**
 * Routes one request over its targets: the requested model first, then its fallback chain, each behind its breakers, as
 * the walk of `@switchgear/core/Walk` says.
 *
 * @since 0.1.0
 */
import type { CircuitBreaker } from "@switchgear/breaker/CircuitBreaker"
import * as Fallback from "@switchgear/core/Fallback"
import type { Provider } from "@switchgear/providers/Provider"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { Call, type Granted, Journal } from "./Call.js"
import { guarded } from "./internal/guarded.js"
import { walk } from "./internal/journey.js"
import { closing, scoped } from "./internal/lifetime.js"
import type { Request, Routed } from "./internal/model.js"
import { routesOf } from "./internal/plan.js"
import { provide } from "./internal/provide.js"
import { clockOf, monotonicMillis } from "./internal/time.js"
import { type RouteError, RouterConfigError } from "./RouteError.js"

export type {
  /**
   * One request.
   *
   * @since 0.1.0
   * @category models
   */
  Request,
  /**
   * A request that was served.
   *
   * @since 0.1.0
   * @category models
   */
  Routed
} from "./internal/model.js"

/**
 * A provider and what guards it.
 *
 * @since 0.1.0
 * @category models
 */
export interface ProviderOptions {
  readonly provider: Provider
  /** Guards every call of the provider, and takes all its failures. */
  readonly breaker: CircuitBreaker
  /** Guards the host as well: network errors count in it (DESIGN 6). */
  readonly hostBreaker?: CircuitBreaker | undefined
  /** Calls at one time; over it a call is refused as `saturated` (ROUTING F14). Default: no limit. */
  readonly maxConcurrent?: number | undefined
}

/**
 * A model that clients may ask for.
 *
 * @since 0.1.0
 * @category models
 */
export interface ModelOptions {
  readonly name: string
  /** The provider's name. */
  readonly provider: string
  /** What the provider knows it by. Default: `name`. */
  readonly upstream?: string | undefined
  /** Models to try after it, at most 8. Default: none. A hop's own chain is not followed (ROUTING F2). */
  readonly fallbackChain?: ReadonlyArray<string> | undefined
  /** Tokens. Without it the model is never tried for a request that was too long elsewhere (ROUTING F4). */
  readonly contextWindow?: number | undefined
  /** Guards this model as well: its own failures count in it (DESIGN 6). */
  readonly breaker?: CircuitBreaker | undefined
}

/**
 * What a router routes over.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly providers: ReadonlyArray<ProviderOptions>
  readonly models: ReadonlyArray<ModelOptions>
  /** Default: `Fallback.recommended`. */
  readonly fallback?: Fallback.Settings | undefined
  /** A provider's health score in [0, 1], for `reorderByHealth` (ROUTING H2). Default: none is known. */
  readonly health?: ((provider: string) => number | undefined) | undefined
}

/**
 * A router.
 *
 * @since 0.1.0
 * @category models
 */
export interface Service {
  /**
   * Serves a request, or fails with what to answer.
   *
   * Interrupting it closes the upstream call, gives every permit back and calls no further target (ROUTING F9). An
   * accepted stream is open until it was read to its end or the scope closes.
   */
  readonly route: (request: Request) => Effect.Effect<Routed, RouteError, Scope.Scope>
  /** The names of all models, in the order given. */
  readonly models: ReadonlyArray<string>
}

/**
 * The router in force.
 *
 * @since 0.1.0
 * @category tags
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as ScriptedProvider from "@switchgear/providers/ScriptedProvider"
 * import * as Router from "@switchgear/routing/Router"
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 *
 * const Live = Layer.unwrapEffect(
 *   Effect.map(CircuitBreaker.make({ name: "local", policy: Policy.hosted }), (breaker) =>
 *     Router.layer({
 *       providers: [{ provider: ScriptedProvider.make("local", [ScriptedProvider.ok()]), breaker }],
 *       models: [{ name: "llama", provider: "local" }]
 *     }))
 * )
 * const program = Effect.map(Router.Router, (router) => router.models)
 * assert.deepStrictEqual(Effect.runSync(Effect.provide(program, Live)), ["llama"])
 * ```
 */
export class Router extends Context.Tag("@switchgear/routing/Router")<Router, Service>() {}

/**
 * A router over providers and models. All that does not fit together is named at once: unknown providers and models,
 * names given twice, a chain of more than 8 (ROUTING F11).
 *
 * @since 0.1.0
 * @category constructors
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
 * import * as Policy from "@switchgear/core/Policy"
 * import type { Provider } from "@switchgear/providers/Provider"
 * import { ProviderError } from "@switchgear/providers/Provider"
 * import * as Router from "@switchgear/routing/Router"
 * import * as Effect from "effect/Effect"
 *
 * const down: Provider = {
 *   name: "primary",
 *   call: () =>
 *     Effect.fail(
 *       new ProviderError({
 *         provider: "primary",
 *         failure: { kind: "server_error", scope: "provider", status: 500, message: "down" }
 *       })
 *     )
 * }
 * const up: Provider = {
 *   name: "backup",
 *   call: ({ body }) => Effect.succeed({ _tag: "Json", status: 200, headers: {}, body })
 * }
 * const program = Effect.gen(function*() {
 *   const breaker = (name: string) => CircuitBreaker.make({ name, policy: Policy.hosted })
 *   const router = yield* Router.make({
 *     providers: [
 *       { provider: down, breaker: yield* breaker("primary") },
 *       { provider: up, breaker: yield* breaker("backup") }
 *     ],
 *     models: [
 *       { name: "gpt-4o", provider: "primary", fallbackChain: ["llama"] },
 *       { name: "llama", provider: "backup", upstream: "llama-3" }
 *     ]
 *   })
 *   const body = new TextEncoder().encode(`{"model":"gpt-4o"}`)
 *   return yield* router.route({ model: "gpt-4o", operation: "chat.completions", body, stream: false, headers: {} })
 * })
 * const routed = Effect.runSync(Effect.scoped(program))
 * assert.deepStrictEqual([routed.model, routed.substituted], ["llama", true])
 * assert.ok(routed.answer._tag === "Json")
 * assert.strictEqual(new TextDecoder().decode(routed.answer.body), `{"model":"llama-3"}`)
 * ```
 */
export const make = (options: Options): Effect.Effect<Service, RouterConfigError> =>
  Effect.suspend(() => {
    const { fallback = Fallback.recommended, health, models, providers } = options
    const found = routesOf(providers, models)
    if (Either.isLeft(found)) return Effect.fail(new RouterConfigError({ faults: found.left }))
    const routes = found.right
    const serve = walk({
      routes,
      settings: fallback,
      health: health === undefined ? undefined : Effect.succeed(health),
      next: guarded(provide(routes), routes, undefined)
    })
    return Effect.succeed({
      route: (request) => {
        const { allow, chain } = request
        const granted: Granted = { org: "default", chain, allow, unchecked: true }
        return Effect.withFiberRuntime<Routed, RouteError, Scope.Scope>((fiber) => {
          const clock = clockOf(fiber)
          const call = new Call(request, granted, new Journal(), clock, monotonicMillis(clock), undefined)
          const served = Effect.catchAll(closing(call, serve(call)), (error) =>
            // nothing but the walk is outside
            error._tag === "RouteError" ? Effect.fail(error) : Effect.die(error)
          )
          return request.stream ? scoped(served) : served
        })
      },
      models: models.map((model) => model.name)
    })
  })

/**
 * A router as a layer.
 *
 * @since 0.1.0
 * @category layers
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as ScriptedProvider from "@switchgear/providers/ScriptedProvider"
 * import * as Router from "@switchgear/routing/Router"
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 *
 * const Live = Layer.unwrapEffect(
 *   Effect.map(CircuitBreaker.make({ name: "local", policy: Policy.hosted }), (breaker) =>
 *     Router.layer({
 *       providers: [{ provider: ScriptedProvider.make("local", [ScriptedProvider.ok()]), breaker }],
 *       models: [{ name: "llama", provider: "local" }]
 *     }))
 * )
 * const program = Effect.map(Router.Router, (router) => router.models)
 * assert.deepStrictEqual(Effect.runSync(Effect.provide(program, Live)), ["llama"])
 * ```
 */
export const layer = (options: Options): Layer.Layer<Router, RouterConfigError> => Layer.effect(Router, make(options))
