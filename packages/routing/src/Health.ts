/**
 * The health of providers as telemetry has it (ROUTING H1, H3): a read model with no store of its own.
 *
 * @since 0.1.0
 */
import * as Score from "@switchgear/core/Health"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { clockOf, monotonicMillis } from "./internal/time.js"
import type * as TelemetryStore from "./TelemetryStore.js"

/**
 * A provider's health.
 *
 * @since 0.1.0
 * @category models
 */
export interface ProviderHealth extends TelemetryStore.ProviderSample {
  /** In [0, 1]; 0.5 without a sample. */
  readonly score: number
}

/**
 * What health is read from, and how.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly store: TelemetryStore.Service
  /** Weights, window (15 min), and what is slow (5 s). */
  readonly settings?: Partial<Score.Settings> | undefined
  /** How long an answer is used again. Default 60 s. */
  readonly cache?: Duration.DurationInput | undefined
}

/**
 * The health of providers.
 *
 * @since 0.1.0
 * @category models
 */
export interface Service {
  /** Providers with a call in the window, by name. If the store is down: what was known last, else none. */
  readonly providers: Effect.Effect<ReadonlyMap<string, ProviderHealth>>
  /** The same as a function, for `Pipeline.fallback`. A provider without a call has no score, which is neutral. */
  readonly scores: Effect.Effect<(provider: string) => number | undefined>
  /** ms of telemetry that counts. */
  readonly window: number
}

/**
 * Reads health from telemetry, at most once per `cache`. Callers who come meanwhile get what was known.
 *
 * @since 0.1.0
 * @category constructors
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Health from "@switchgear/routing/Health"
 * import * as TelemetryStore from "@switchgear/routing/TelemetryStore"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function*() {
 *   const store = yield* TelemetryStore.makeMemory()
 *   const health = Health.make({ store })
 *   return (yield* health.scores)("openai")
 * })
 * assert.strictEqual(Effect.runSync(program), undefined)
 * ```
 */
export const make = (options: Options): Service => {
  const settings = { ...Score.defaults, ...options.settings }
  const cache = Duration.toMillis(options.cache ?? "60 seconds")
  let known: ReadonlyMap<string, ProviderHealth> = new Map()
  let readAt: number | undefined
  const providers = Effect.withFiberRuntime<ReadonlyMap<string, ProviderHealth>>((fiber) => {
    const now = monotonicMillis(clockOf(fiber))
    if (readAt !== undefined && now - readAt < cache) return Effect.succeed(known)
    // taken before the answer is there: one asks, the others use what is known
    readAt = now
    return Effect.match(options.store.aggregate(settings.window), {
      onFailure: () => known,
      onSuccess: (samples) => {
        known = new Map(samples.map((one) => [one.provider, { ...one, score: Score.score(one, settings) }]))
        return known
      }
    })
  })
  return {
    providers,
    scores: Effect.map(providers, (all) => (provider) => all.get(provider)?.score),
    window: settings.window
  }
}
