/**
 * Where breakers are kept beyond the process: the port, and a store in memory.
 *
 * A record is written by compare-and-set on the store's own time: what is left of a cooldown is counted from the store's
 * clock, so that processes whose wall clocks disagree agree on deadlines.
 *
 * @since 0.1.0
 */
import type { Snapshot } from "@switchgear/core/Snapshot"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as PubSub from "effect/PubSub"
import * as Stream from "effect/Stream"
import { decodeStored, encodeStored } from "./internal/storedCodec.js"
import type { Transition } from "./Transition.js"

/**
 * A store that could not do what it was asked. `Unavailable`: it cannot be reached or did not answer in time; `Full`: it
 * has no room left; `Corrupt`: it holds what cannot be read. Tells neither an address nor a key.
 *
 * @since 0.1.0
 * @category errors
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import { StoreError } from "@switchgear/breaker/CircuitBreakerStore"
 *
 * assert.strictEqual(new StoreError({ reason: "Full" }).message, "breakers: Full")
 * ```
 */
export class StoreError extends Data.TaggedError("StoreError")<{
  readonly reason: "Unavailable" | "Full" | "Corrupt"
}> {
  override get message(): string {
    return `breakers: ${this.reason}`
  }
}

/**
 * What a store keeps of a breaker.
 *
 * @since 0.1.0
 * @category models
 */
export interface Stored {
  /** SEMANTICS S9. Its `wall` is the store's time. */
  readonly snapshot: Snapshot
  /** The process that wrote it. */
  readonly writer: string
  /** The last 20, oldest first. */
  readonly transitions: ReadonlyArray<Transition>
}

/**
 * That a record was written or removed. It is a hint: what is there now is the store's to say.
 *
 * @since 0.1.0
 * @category models
 */
export interface Change {
  readonly key: string
  /** Who wrote; empty for a removal. */
  readonly writer: string
}

/**
 * The port. Every method answers within a bounded time, or fails with `StoreError`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Service {
  /**
   * Atomic per key. `f` is given what the key holds (what cannot be read is nothing) and the store's time in ms since
   * 1970; it must be pure, as it may run again. What it gives back is written, unless it is the very object it was given;
   * `undefined` removes the record.
   */
  readonly modify: <A>(
    key: string,
    f: (stored: Stored | undefined, now: number) => readonly [A, Stored | undefined]
  ) => Effect.Effect<A, StoreError>
  /** Every record, in no order. */
  readonly entries: Effect.Effect<ReadonlyArray<readonly [key: string, stored: Stored]>, StoreError>
  readonly remove: (key: string) => Effect.Effect<void, StoreError>
  /** What is written from now on, by whomever. Some may be missed while a connection is lost; it never ends by that. */
  readonly changes: Stream.Stream<Change>
}

/**
 * The store in force.
 *
 * @since 0.1.0
 * @category tags
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as CircuitBreakerStore from "@switchgear/breaker/CircuitBreakerStore"
 * import * as Effect from "effect/Effect"
 *
 * const entries = Effect.flatMap(CircuitBreakerStore.CircuitBreakerStore, (store) => store.entries)
 * assert.deepStrictEqual(Effect.runSync(Effect.provide(entries, CircuitBreakerStore.layerStoreMemory)), [])
 * ```
 */
export class CircuitBreakerStore extends Context.Tag("@switchgear/breaker/CircuitBreakerStore")<
  CircuitBreakerStore,
  Service
>() {}

/**
 * A record as JSON text, for a backend.
 *
 * @since 0.1.0
 * @category encoding
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as CircuitBreakerStore from "@switchgear/breaker/CircuitBreakerStore"
 * import * as Breaker from "@switchgear/core/Breaker"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Snapshot from "@switchgear/core/Snapshot"
 *
 * const snapshot = Snapshot.snapshot(Breaker.initial(Policy.hosted, 0), 0, 1_000)
 * const stored = { snapshot, writer: "replica-1", transitions: [] }
 * assert.deepStrictEqual(CircuitBreakerStore.decode(CircuitBreakerStore.encode(stored)), stored)
 * ```
 */
export const encode = (stored: Stored): string => encodeStored(stored)

/**
 * Reads a record's JSON text; `undefined` if it is none. A transition that cannot be read is left out.
 *
 * @since 0.1.0
 * @category encoding
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as CircuitBreakerStore from "@switchgear/breaker/CircuitBreakerStore"
 *
 * assert.strictEqual(CircuitBreakerStore.decode("{"), undefined)
 * ```
 */
export const decode = (text: string): Stored | undefined => decodeStored(text)

const day = 86_400_000

/**
 * For how long, in ms, a store that lets records expire has to keep one: what is left of an Open and a day, never less
 * than its cooldown; a day for what counts. `undefined`: for ever, as it is forced.
 *
 * @since 0.1.0
 * @category encoding
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as CircuitBreakerStore from "@switchgear/breaker/CircuitBreakerStore"
 * import * as Breaker from "@switchgear/core/Breaker"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Snapshot from "@switchgear/core/Snapshot"
 *
 * const snapshot = Snapshot.snapshot(Breaker.initial(Policy.hosted, 0), 0, 1_000)
 * assert.strictEqual(CircuitBreakerStore.life({ snapshot, writer: "replica-1", transitions: [] }), 86_400_000)
 * ```
 */
export const life = ({ snapshot: { state } }: Stored): number | undefined => {
  switch (state._tag) {
    case "ForcedOpen":
    case "ForcedClosed":
      return undefined
    case "Open":
      return Math.max(Math.max(0, state.remaining) + day, state.cooldown)
    default:
      return day
  }
}

/**
 * A store in memory: what it holds is gone with the process. Its time is the `Clock`'s.
 *
 * @since 0.1.0
 * @category constructors
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as CircuitBreakerStore from "@switchgear/breaker/CircuitBreakerStore"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.flatMap(CircuitBreakerStore.makeMemory, (store) =>
 *   store.modify("openai", (stored) => [stored === undefined, stored]))
 * assert.strictEqual(Effect.runSync(program), true)
 * ```
 */
export const makeMemory: Effect.Effect<Service> = Effect.map(PubSub.sliding<Change>(4_096), (changes): Service => {
  const records = new Map<string, Stored>()
  return {
    modify: (key, f) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        Effect.sync(() => {
          const before = records.get(key)
          const [result, after] = f(before, now)
          if (after === before) return result
          if (after === undefined) records.delete(key)
          else records.set(key, after)
          changes.unsafeOffer({ key, writer: after?.writer ?? "" })
          return result
        })
      ),
    entries: Effect.sync(() => [...records]),
    remove: (key) =>
      Effect.sync(() => {
        if (records.delete(key)) changes.unsafeOffer({ key, writer: "" })
      }),
    changes: Stream.fromPubSub(changes)
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
 * import * as CircuitBreakerStore from "@switchgear/breaker/CircuitBreakerStore"
 * import * as Effect from "effect/Effect"
 *
 * const remove = Effect.flatMap(CircuitBreakerStore.CircuitBreakerStore, (store) => store.remove("openai"))
 * assert.strictEqual(Effect.runSync(Effect.provide(remove, CircuitBreakerStore.layerStoreMemory)), undefined)
 * ```
 */
export const layerStoreMemory: Layer.Layer<CircuitBreakerStore> = Layer.effect(CircuitBreakerStore, makeMemory)
