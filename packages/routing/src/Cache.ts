/**
 * Answers used again for the same request of the same organisation (ROUTING S3). Off unless the stage is in the list.
 *
 * @since 0.1.0
 */
import type { JsonAnswer } from "@switchgear/providers/Provider"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { Call, Served } from "./Call.js"
import { fingerprintOf } from "./internal/fingerprint.js"
import { clockOf } from "./internal/time.js"
import { make as makeStage, priorities, type Stage } from "./Stage.js"
import type { StoreError } from "./StoreError.js"

/**
 * An answer of the model that was asked for.
 *
 * @since 0.1.0
 * @category models
 */
export interface Entry {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
  readonly provider: string
}

/**
 * The port. Every method answers within a bounded time, or fails with `StoreError`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Service {
  readonly get: (key: string) => Effect.Effect<Option.Option<Entry>, StoreError>
  /** `ttl` in ms of the store's time. */
  readonly set: (key: string, entry: Entry, ttl: number) => Effect.Effect<void, StoreError>
}

/**
 * The cache in force.
 *
 * @since 0.1.0
 * @category tags
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Cache from "@switchgear/routing/Cache"
 * import * as Effect from "effect/Effect"
 *
 * const get = Effect.flatMap(Cache.CacheStore, (cache) => cache.get("k"))
 * assert.strictEqual(Effect.runSync(Effect.provide(get, Cache.layerMemory()))._tag, "None")
 * ```
 */
export class CacheStore extends Context.Tag("@switchgear/routing/CacheStore")<CacheStore, Service>() {}

/**
 * How much a cache in memory holds.
 *
 * @since 0.1.0
 * @category models
 */
export interface MemoryOptions {
  /** Entries at most. Default 1 000. */
  readonly capacity?: number | undefined
  /** Bytes at most. Default 64 MiB. */
  readonly bytes?: number | undefined
}

/**
 * A cache in memory; what was used longest ago goes first.
 *
 * @since 0.1.0
 * @category constructors
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Cache from "@switchgear/routing/Cache"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function*() {
 *   const cache = yield* Cache.makeMemory()
 *   yield* cache.set("k", { status: 200, headers: {}, body: new Uint8Array(), provider: "local" }, 60_000)
 *   return yield* cache.get("k")
 * })
 * assert.strictEqual(Effect.runSync(program)._tag, "Some")
 * ```
 */
export const makeMemory = (options?: MemoryOptions): Effect.Effect<Service> =>
  Effect.sync(() => {
    const capacity = options?.capacity ?? 1_000
    const bytes = options?.bytes ?? 67_108_864
    const entries = new Map<string, { readonly entry: Entry; readonly until: number }>()
    let size = 0
    const remove = (key: string) => {
      size -= entries.get(key)?.entry.body.length ?? 0
      entries.delete(key)
    }
    return {
      get: (key) =>
        Effect.withFiberRuntime((fiber) => {
          const found = entries.get(key)
          if (found === undefined) return Effect.succeed(Option.none())
          if (clockOf(fiber).unsafeCurrentTimeMillis() >= found.until) {
            remove(key)
            return Effect.succeed(Option.none())
          }
          entries.delete(key)
          entries.set(key, found)
          return Effect.succeed(Option.some(found.entry))
        }),
      set: (key, entry, ttl) =>
        Effect.withFiberRuntime((fiber) => {
          remove(key)
          entries.set(key, { entry, until: clockOf(fiber).unsafeCurrentTimeMillis() + ttl })
          size += entry.body.length
          if (entries.size <= capacity && size <= bytes) return Effect.void
          // a tenth at a time: a map walks over all it has lost
          for (const oldest of entries.keys()) {
            if (entries.size <= capacity * 0.9 && size <= bytes * 0.9) break
            remove(oldest)
          }
          return Effect.void
        })
    }
  })

/**
 * {@link makeMemory} as a layer.
 *
 * @since 0.1.0
 * @category layers
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Cache from "@switchgear/routing/Cache"
 * import * as Effect from "effect/Effect"
 *
 * const get = Effect.flatMap(Cache.CacheStore, (cache) => cache.get("k"))
 * assert.strictEqual(Effect.runSync(Effect.provide(get, Cache.layerMemory({ capacity: 10 })))._tag, "None")
 * ```
 */
export const layerMemory = (options?: MemoryOptions): Layer.Layer<CacheStore> =>
  Layer.effect(CacheStore, makeMemory(options))

/**
 * The Cache stage. Key: organisation and fingerprint. Only JSON answers of the very model that was asked for are kept,
 * and never those of a caller's own credentials. A store that is down is passed, and telemetry notes
 * `cache_unavailable`. `ttl`: default 5 minutes.
 *
 * @since 0.1.0
 * @category stages
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Cache from "@switchgear/routing/Cache"
 * import * as Effect from "effect/Effect"
 *
 * const stage = Cache.stage({ store: Effect.runSync(Cache.makeMemory()), ttl: "1 minute" })
 * assert.strictEqual(stage.priority, 100)
 * ```
 */
export const stage = (options: {
  readonly store: Service
  readonly ttl?: Duration.DurationInput | undefined
}): Stage => {
  const { store } = options
  const ttl = Duration.toMillis(options.ttl ?? "5 minutes")
  const keep = (call: Call, key: string, { answer, provider, substituted }: Served): Effect.Effect<void> => {
    if (answer._tag !== "Json" || substituted || answer.status !== 200) return Effect.void
    const { body, headers, status } = answer
    return Effect.catchAll(store.set(key, { status, headers, body, provider }, ttl), () => unavailable(call))
  }
  return makeStage("cache", priorities.cache, (next) => (call) => {
    if (call.byo || call.request.stream) return next(call)
    const key = JSON.stringify([call.org, fingerprintOf(call)])
    const made = Effect.tap(next(call), (served) => keep(call, key, served))
    return Effect.matchEffect(store.get(key), {
      onFailure: () => Effect.zipRight(unavailable(call), made),
      onSuccess: (found) => (Option.isNone(found) ? made : Effect.succeed(served(call, found.value)))
    })
  })
}

const unavailable = (call: Call): Effect.Effect<void> => Effect.sync(() => call.journal.note("cache_unavailable"))

const served = ({ request }: Call, { body, headers, provider, status }: Entry): Served => {
  const answer: JsonAnswer = { _tag: "Json", status, headers, body }
  return { answer, model: request.model, provider, substituted: false, attempts: [], replayed: false, cached: true }
}
