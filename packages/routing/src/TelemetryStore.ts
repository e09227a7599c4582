/**
 * Where the rows of telemetry go, and what is asked of them (ROUTING T1).
 *
 * @since 0.1.0
 */
import * as Health from "@switchgear/core/Health"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { StoreError } from "./StoreError.js"

/**
 * What happened to one target of a call.
 *
 * @since 0.1.0
 * @category models
 */
export interface AttemptRow {
  readonly model: string
  /** Empty if the target was passed over. */
  readonly provider: string
  /** `served`, the kind of the failure or refusal, or why it was passed over. */
  readonly kind: string
  /** ms; null if it was not called. */
  readonly latency: number | null
  /** What its breakers read before: `Closed`, `Degraded`, `HalfOpen`, `Open`; null if it was not called. */
  readonly state: string | null
}

/**
 * One call (ROUTING T1).
 *
 * @since 0.1.0
 * @category models
 */
export interface Row {
  readonly id: string
  /** When it began: ms since 1970. */
  readonly at: number
  readonly org: string
  readonly requestedModel: string
  /** Null if nothing was served. */
  readonly servedModel: string | null
  readonly servedProvider: string | null
  /** `success`, the kind of the failure, or the code of a refusal; `cancelled` if the caller left. */
  readonly outcome: string
  /** The HTTP status a client gets; 499 for one who left. */
  readonly status: number
  readonly attempts: ReadonlyArray<AttemptRow>
  /** ms; of a stream until its last byte. */
  readonly latency: number
  /** ms until the answer was accepted: a stream's first output; null if nothing was served. */
  readonly timeToFirstOutput: number | null
  /** Of the model that served; null if nothing was served, or Usage is not among the stages. */
  readonly tokensIn: number | null
  readonly tokensOut: number | null
  /** USD; null if the model has no price. */
  readonly cost: number | null
  /** The model that was asked for; null without a substitution. */
  readonly originalModel: string | null
  /** The model that served in its place; null without a substitution. */
  readonly fallbackModel: string | null
  /** The kind of the primary's failure; empty without a substitution. */
  readonly fallbackReason: string
  readonly replayed: boolean
  readonly cached: boolean
  readonly byo: boolean
  /** What was out of order, such as `idempotency_unavailable`. */
  readonly notes: ReadonlyArray<string>
}

/**
 * What calls that asked for one provider first came to.
 *
 * @since 0.1.0
 * @category models
 */
export interface ProviderSample extends Health.Sample {
  readonly provider: string
}

/**
 * The port. Every method answers within a bounded time, or fails with `StoreError`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Service {
  readonly append: (rows: ReadonlyArray<Row>) => Effect.Effect<void, StoreError>
  /** Per provider, over the rows of the last `window` ms of the store's time: {@link sampleOf} of each, added up. */
  readonly aggregate: (window: number) => Effect.Effect<ReadonlyArray<ProviderSample>, StoreError>
  /** The latest rows, newest first. */
  readonly recent: (limit: number) => Effect.Effect<ReadonlyArray<Row>, StoreError>
  /** Drops rows older than `age` ms; how many. */
  readonly purge: (age: number) => Effect.Effect<number, StoreError>
}

/**
 * Telemetry's store in force.
 *
 * @since 0.1.0
 * @category tags
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as TelemetryStore from "@switchgear/routing/TelemetryStore"
 * import * as Effect from "effect/Effect"
 *
 * const recent = Effect.flatMap(TelemetryStore.TelemetryStore, (store) => store.recent(10))
 * assert.deepStrictEqual(Effect.runSync(Effect.provide(recent, TelemetryStore.layerMemory())), [])
 * ```
 */
export class TelemetryStore extends Context.Tag("@switchgear/routing/TelemetryStore")<TelemetryStore, Service>() {}

/** What says nothing of a provider: the caller's own faults, refusals of ours, and who left. */
const nobodys: ReadonlyArray<string> = ["client_fault", "context_length", "content_filter", "cancelled", "saturated"]

/**
 * What a call says of the provider that was asked first (ROUTING H1): served, failed, or rescued by a fallback, which is
 * a failure. `undefined`: nothing, as with a replay, a caller's own key (F8), a mistake of the caller's, or a call that
 * no provider was asked for.
 *
 * @since 0.1.0
 * @category health
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as TelemetryStore from "@switchgear/routing/TelemetryStore"
 *
 * const attempts = [
 *   { model: "gpt-4o", provider: "openai", kind: "timeout", latency: 60_000, state: "Closed" },
 *   { model: "llama", provider: "local", kind: "served", latency: 900, state: "Closed" }
 * ]
 * const row = { attempts, outcome: "success", latency: 60_900, replayed: false, cached: false, byo: false }
 * assert.deepStrictEqual(TelemetryStore.sampleOf(row), { provider: "openai", call: { outcome: "rescued" } })
 * ```
 */
export const sampleOf = (
  row: Pick<Row, "attempts" | "outcome" | "latency" | "replayed" | "cached" | "byo">
): { readonly provider: string; readonly call: Health.Call } | undefined => {
  const [first] = row.attempts
  if (first === undefined || first.provider === "" || row.replayed || row.cached || row.byo) return undefined
  const { kind, latency, provider } = first
  if (nobodys.includes(kind)) return undefined
  if (kind === "served") {
    // a stream that broke off afterwards was no success
    if (row.outcome === "cancelled") return undefined
    const outcome = row.outcome === "success" ? "served" : "failed"
    return { provider, call: latency === null ? { outcome } : { outcome, latency } }
  }
  if (row.outcome === "success") return { provider, call: { outcome: "rescued" } }
  return { provider, call: latency === null ? { outcome: "failed" } : { outcome: "failed", latency } }
}

/**
 * The samples of rows, by provider.
 *
 * @since 0.1.0
 * @category health
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as TelemetryStore from "@switchgear/routing/TelemetryStore"
 *
 * assert.deepStrictEqual(TelemetryStore.samplesOf([]), [])
 * ```
 */
export const samplesOf = (rows: Iterable<Row>): ReadonlyArray<ProviderSample> => {
  const samples = new Map<string, Health.Sample>()
  for (const row of rows) {
    const sample = sampleOf(row)
    if (sample === undefined) continue
    samples.set(sample.provider, Health.record(samples.get(sample.provider) ?? Health.empty, sample.call))
  }
  return Array.from(samples, ([provider, sample]) => ({ provider, ...sample }))
}

/**
 * The latest rows in memory: `capacity` (default 10 000) at most, the oldest go.
 *
 * @since 0.1.0
 * @category constructors
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as TelemetryStore from "@switchgear/routing/TelemetryStore"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.flatMap(TelemetryStore.makeMemory({ capacity: 100 }), (store) => store.aggregate(900_000))
 * assert.deepStrictEqual(Effect.runSync(program), [])
 * ```
 */
export const makeMemory = (options?: { readonly capacity?: number | undefined }): Effect.Effect<Service> =>
  Effect.sync(() => {
    const capacity = Math.max(1, options?.capacity ?? 10_000)
    let ring: Array<Row> = []
    /** Of the oldest row; the array is cut when half of it is gone, so that a row costs the same whatever is kept. */
    let start = 0
    const cut = () => {
      if (start > capacity) {
        ring = ring.slice(start)
        start = 0
      }
    }
    const service: Service = {
      append: (rows) =>
        Effect.sync(() => {
          for (const row of rows) ring.push(row)
          start = Math.max(start, ring.length - capacity)
          cut()
        }),
      aggregate: (window) =>
        Effect.map(Clock.currentTimeMillis, (now) =>
          samplesOf(ring.slice(start).filter(({ at }) => at > now - window))
        ),
      recent: (limit) =>
        Effect.sync(() => ring.slice(Math.max(start, ring.length - Math.max(0, Math.trunc(limit)))).reverse()),
      purge: (age) =>
        Effect.map(Clock.currentTimeMillis, (now) => {
          const kept = ring.slice(start).filter(({ at }) => at > now - age)
          const gone = ring.length - start - kept.length
          ring = kept
          start = 0
          return gone
        })
    }
    return service
  })

/**
 * {@link makeMemory} as a layer.
 *
 * @since 0.1.0
 * @category layers
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as TelemetryStore from "@switchgear/routing/TelemetryStore"
 * import * as Effect from "effect/Effect"
 *
 * const purged = Effect.flatMap(TelemetryStore.TelemetryStore, (store) => store.purge(0))
 * assert.strictEqual(Effect.runSync(Effect.provide(purged, TelemetryStore.layerMemory())), 0)
 * ```
 */
export const layerMemory = (options?: { readonly capacity?: number | undefined }): Layer.Layer<TelemetryStore> =>
  Layer.effect(TelemetryStore, makeMemory(options))
