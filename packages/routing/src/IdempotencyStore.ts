/**
 * What an idempotency key holds: a running call's claim, or the answer it got (ROUTING I2, I6).
 *
 * @since 0.1.0
 */
import * as Claim from "@switchgear/core/Claim"
import type { Failure } from "@switchgear/failures/Failure"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { clockOf } from "./internal/time.js"
import type { StoreError } from "./StoreError.js"

/**
 * A key and whose it is: the same key of two organisations is two keys (ROUTING I1).
 *
 * @since 0.1.0
 * @category models
 */
export interface Key {
  readonly org: string
  readonly key: string
}

/**
 * What the client received: an answer, of a stream all its bytes; or an error of the upstream's that is the client's own.
 *
 * @since 0.1.0
 * @category models
 */
export type Stored =
  | {
      readonly _tag: "Answer"
      readonly stream: boolean
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly body: Uint8Array
      readonly model: string
      readonly provider: string
      readonly substituted: boolean
    }
  | {
      readonly _tag: "Failed"
      readonly model: string
      readonly provider: string
      readonly failure: Failure
      readonly response?:
        | {
            readonly status: number
            readonly headers: Readonly<Record<string, string>>
            readonly body: Uint8Array
          }
        | undefined
    }

/**
 * The port: three steps, each atomic per key and on the store's own time. A record past its time is nothing. Every
 * method answers within a bounded time, or fails with `StoreError`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Service {
  readonly claim: (
    key: Key,
    who: Claim.Claimant,
    settings: Claim.Settings
  ) => Effect.Effect<Claim.Verdict<Stored>, StoreError>
  readonly commit: (
    key: Key,
    who: Claim.Claimant,
    stored: Stored,
    settings: Claim.Settings
  ) => Effect.Effect<"Committed" | "Lost", StoreError>
  readonly release: (key: Key, who: Claim.Claimant) => Effect.Effect<"Released" | "Lost", StoreError>
}

/**
 * The store in force.
 *
 * @since 0.1.0
 * @category tags
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Claim from "@switchgear/core/Claim"
 * import * as IdempotencyStore from "@switchgear/routing/IdempotencyStore"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.flatMap(IdempotencyStore.IdempotencyStore, (store) =>
 *   store.claim({ org: "acme", key: "k" }, { owner: "call-1", fingerprint: "f" }, Claim.defaults))
 * const verdict = Effect.runSync(Effect.provide(program, IdempotencyStore.layerMemory()))
 * assert.strictEqual(verdict._tag, "Claimed")
 * ```
 */
export class IdempotencyStore extends Context.Tag("@switchgear/routing/IdempotencyStore")<
  IdempotencyStore,
  Service
>() {}

/**
 * A compare-and-set on one key: `f` is pure, is given what the key holds and the store's time in ms, and may run again.
 *
 * @since 0.1.0
 * @category models
 */
export type Modify = <A>(
  key: Key,
  f: (record: Claim.Record<Stored>, now: number) => readonly [A, Claim.Record<Stored>]
) => Effect.Effect<A, StoreError>

/**
 * A store over a compare-and-set: the steps are those of `@switchgear/core/Claim`.
 *
 * @since 0.1.0
 * @category constructors
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Claim from "@switchgear/core/Claim"
 * import * as IdempotencyStore from "@switchgear/routing/IdempotencyStore"
 * import * as Effect from "effect/Effect"
 *
 * let record: Claim.Record<IdempotencyStore.Stored> = undefined
 * const store = IdempotencyStore.fromModify((_, f) =>
 *   Effect.sync(() => {
 *     const [verdict, next] = f(record, 0)
 *     record = next
 *     return verdict
 *   }))
 * const who = { owner: "call-1", fingerprint: "f" }
 * const key = { org: "acme", key: "k" }
 * Effect.runSync(store.claim(key, who, Claim.defaults))
 * assert.strictEqual(Effect.runSync(store.release(key, who)), "Released")
 * ```
 */
export const fromModify = (modify: Modify): Service => ({
  claim: (key, who, settings) => modify(key, (record, now) => Claim.claim(record, who, now, settings)),
  commit: (key, who, stored, settings) =>
    modify(key, (record, now) => Claim.commit(record, who, stored, now, settings)),
  release: (key, who) => modify(key, (record) => Claim.release(record, who))
})

/**
 * How much a store in memory holds.
 *
 * @since 0.1.0
 * @category models
 */
export interface MemoryOptions {
  /** Records at most. Default 10 000. */
  readonly capacity?: number | undefined
  /** Bytes of answers at most. Default 64 MiB. */
  readonly bytes?: number | undefined
}

const sizeOf = (record: Claim.Record<Stored>): number => {
  if (record === undefined || record._tag === "Pending") return 0
  const { result } = record
  return result._tag === "Answer" ? result.body.length : (result.response?.body.length ?? 0)
}

/** Records in the order they were written. */
class Memory {
  private readonly records = new Map<string, NonNullable<Claim.Record<Stored>>>()
  private size = 0

  constructor(
    private readonly capacity: number,
    private readonly bytes: number
  ) {}

  get(key: string): Claim.Record<Stored> {
    return this.records.get(key)
  }

  set(key: string, record: Claim.Record<Stored>, now: number): void {
    const before = this.records.get(key)
    if (record === before) return
    this.size += sizeOf(record) - sizeOf(before)
    this.records.delete(key)
    if (record !== undefined) this.records.set(key, record)
    if (this.over) this.evict(now)
  }

  private get over(): boolean {
    return this.records.size > this.capacity || this.size > this.bytes
  }

  /**
   * The oldest answers go, a tenth at a time: a map walks over all it has lost. Claims stay, however many: a forgotten one
   * would let the same call run twice.
   */
  private evict(now: number): void {
    for (const [key, record] of this.records) {
      if (this.records.size <= this.capacity * 0.9 && this.size <= this.bytes * 0.9) return
      if (record._tag === "Pending" && now < record.until) continue
      this.size -= sizeOf(record)
      this.records.delete(key)
    }
  }
}

/**
 * A store in memory.
 *
 * @since 0.1.0
 * @category constructors
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as IdempotencyStore from "@switchgear/routing/IdempotencyStore"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.flatMap(IdempotencyStore.makeMemory(), (store) =>
 *   store.release({ org: "acme", key: "k" }, { owner: "call-1", fingerprint: "f" }))
 * assert.strictEqual(Effect.runSync(program), "Lost")
 * ```
 */
export const makeMemory = (options?: MemoryOptions): Effect.Effect<Service> =>
  Effect.sync(() => {
    const memory = new Memory(options?.capacity ?? 10_000, options?.bytes ?? 67_108_864)
    return fromModify(({ key, org }, f) =>
      Effect.withFiberRuntime((fiber) => {
        const now = clockOf(fiber).unsafeCurrentTimeMillis()
        const id = JSON.stringify([org, key])
        const [verdict, next] = f(memory.get(id), now)
        memory.set(id, next, now)
        return Effect.succeed(verdict)
      })
    )
  })

/**
 * {@link makeMemory} as a layer.
 *
 * @since 0.1.0
 * @category layers
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as IdempotencyStore from "@switchgear/routing/IdempotencyStore"
 * import * as Effect from "effect/Effect"
 *
 * const release = Effect.flatMap(IdempotencyStore.IdempotencyStore, (store) =>
 *   store.release({ org: "acme", key: "k" }, { owner: "call-1", fingerprint: "f" }))
 * const Store = IdempotencyStore.layerMemory({ capacity: 1_000 })
 * assert.strictEqual(Effect.runSync(Effect.provide(release, Store)), "Lost")
 * ```
 */
export const layerMemory = (options?: MemoryOptions): Layer.Layer<IdempotencyStore> =>
  Layer.effect(IdempotencyStore, makeMemory(options))
