/**
 * Breakers and claims in Redis 7 or Valkey, for processes that share them. Needs `ioredis`.
 *
 * One Lua script compares, sets, lets expire and publishes, on the server's time. A server that hangs or is gone costs a
 * command no more than `commandTimeout`; connecting goes on in the background, and starting does not need the server.
 *
 * @since 0.1.0
 */
import { type Change, CircuitBreakerStore } from "@switchgear/breaker/CircuitBreakerStore"
import * as Idempotency from "@switchgear/routing/IdempotencyStore"
import { StoreError } from "@switchgear/routing/StoreError"
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as PubSub from "effect/PubSub"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { decodeRecord, encodeRecord } from "./internal/claims.js"
import * as breakers from "./internal/redis/breakers.js"
import { compareAndSet } from "./internal/redis/compareAndSet.js"
import { client, subscriber } from "./internal/redis/connection.js"

/**
 * Where it is, and how long to wait for it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** `redis://` or `rediss://`, with user and password where needed. */
  readonly url: Redacted.Redacted
  /** What all keys, and the channel, begin with. Default `switchgear:`. */
  readonly prefix?: string | undefined
  /** ms to wait for a connection. Default 250. */
  readonly connectTimeout?: number | undefined
  /** ms to wait for an answer. Default 80. */
  readonly commandTimeout?: number | undefined
}

/**
 * What the layer gives.
 *
 * @since 0.1.0
 * @category models
 */
export type Stores = CircuitBreakerStore | Idempotency.IdempotencyStore

const make = (options: Options) =>
  Effect.gen(function* () {
    const { commandTimeout = 80, connectTimeout = 250, prefix = "switchgear:" } = options
    const settings = { url: Redacted.value(options.url), connectTimeout, commandTimeout }
    const channel = `${prefix}changes`
    const changes = yield* PubSub.sliding<Change>(4_096)
    const redis = yield* client(settings)
    yield* subscriber(settings, channel, (message) => {
      const change = breakers.changeOf(message)
      if (change !== undefined) changes.unsafeOffer(change)
    })
    const claims = Idempotency.fromModify(({ key, org }, f) =>
      compareAndSet(redis, `${prefix}claim:${JSON.stringify([org, key])}`, "", (text, now) => {
        const before = text === undefined ? undefined : decodeRecord(text)
        const [result, after] = f(before, now)
        if (after === before) return [result, undefined]
        const life = after === undefined ? 0 : Math.max(1, after.until - now)
        return [result, { value: after === undefined ? undefined : encodeRecord(after), life, message: "" }]
      }).pipe(Effect.mapError(() => new StoreError({ store: "idempotency", reason: "Unavailable" })))
    )
    return Context.empty().pipe(
      Context.add(CircuitBreakerStore, breakers.make(redis, `${prefix}breaker:`, channel, Stream.fromPubSub(changes))),
      Context.add(Idempotency.IdempotencyStore, claims)
    )
  })

/**
 * Opens the stores in one Redis; closed with the layer.
 *
 * @since 0.1.0
 * @category layers
 * @example
 * ```ts
 * import * as CircuitBreakerRegistry from "@switchgear/breaker/CircuitBreakerRegistry"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as RedisStore from "@switchgear/store/redis"
 * import * as Layer from "effect/Layer"
 * import * as Redacted from "effect/Redacted"
 *
 * const Registry = CircuitBreakerRegistry.layerStored({ policy: Policy.hosted }).pipe(
 *   Layer.provide(RedisStore.layer({ url: Redacted.make("redis://127.0.0.1:6379") }))
 * ) // Layer<CircuitBreakerRegistry>
 * export const Main: Layer.Layer<CircuitBreakerRegistry.CircuitBreakerRegistry> = Registry
 * ```
 */
export const layer = (options: Options): Layer.Layer<Stores> => Layer.scopedContext(make(options))

/**
 * {@link layer}, from configuration.
 *
 * @since 0.1.0
 * @category layers
 * @example
 * ```ts
 * import * as RedisStore from "@switchgear/store/redis"
 * import * as Config from "effect/Config"
 *
 * export const Stores = RedisStore.layerConfig({ url: Config.redacted("REDIS_URL") }) // Layer<Stores, ConfigError>
 * ```
 */
export const layerConfig = (options: Config.Config.Wrap<Options>): Layer.Layer<Stores, ConfigError> =>
  Layer.unwrapEffect(Effect.map(Config.unwrap(options), layer))
