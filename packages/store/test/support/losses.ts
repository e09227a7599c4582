import { it } from "@effect/vitest"
import type { StoreError } from "@switchgear/breaker/CircuitBreakerStore"
import * as Claim from "@switchgear/core/Claim"
import { IdempotencyStore } from "@switchgear/routing/IdempotencyStore"
import { TelemetryStore } from "@switchgear/routing/TelemetryStore"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import { assert } from "vitest"
import { type Proxy, proxy } from "./proxy.js"
import { rowOf } from "./rows.js"

/** A store of one server, over any port that leads to it. */
export type At<R> = (port: number) => Layer.Layer<R, StoreError>

const fresh = Effect.map(Random.nextIntBetween(0, Number.MAX_SAFE_INTEGER), (n) => n.toString(36))

/** Runs step after step, two at a time, until connections were cut at twenty moments, mostly in the middle of something. */
const underCuts = <R>(
  between: Proxy,
  step: (index: number) => Effect.Effect<unknown, never, R>
): Effect.Effect<number, never, R> =>
  Effect.gen(function* () {
    let cutting = true
    let steps = 0
    const cut = Effect.gen(function* () {
      yield* Effect.sleep(yield* Random.nextIntBetween(20, 120))
      const bytes = yield* Random.nextIntBetween(1, 40_000)
      yield* bytes % 4 === 0 ? between.cut : between.cutAfter(bytes)
    })
    const cuts = Effect.andThen(Effect.repeatN(cut, 19), () => {
      cutting = false
    })
    const going = Effect.whileLoop({ while: () => cutting, body: () => step(steps++), step: () => {} })
    yield* Effect.all([cuts, going, going], { concurrency: "unbounded", discard: true })
    return steps
  })

const through = <A, E, R>(target: number, use: (between: Proxy) => Effect.Effect<A, E, R>) =>
  Effect.scoped(Effect.flatMap(proxy(target), use))

/** Batches as the stage writes them: one that fails is given again. */
export const telemetry = (target: number, at: At<TelemetryStore>): void => {
  it.live(
    "a connection that is lost in the middle of a batch loses no row, and doubles none",
    () =>
      through(target, (between) =>
        Effect.gen(function* () {
          const name = yield* fresh
          const now = yield* Clock.currentTimeMillis
          let failed = 0
          const batch = (index: number) =>
            Effect.flatMap(TelemetryStore, (store) => {
              const rows = Array.from({ length: 25 }, (_, i) => rowOf(`${name}-${index}-${i}`, now - index * 25 - i))
              const write: Effect.Effect<void> = Effect.catchAll(store.append(rows), () => {
                failed++
                return Effect.zipRight(Effect.sleep(10), write)
              })
              return write
            })
          const batches = yield* underCuts(between, batch).pipe(Effect.provide(at(between.port)))
          const found = yield* Effect.flatMap(TelemetryStore, (store) => store.recent(200_000)).pipe(
            Effect.provide(at(target))
          )
          const ids = found.map(({ id }) => id).filter((id) => id.startsWith(name))
          assert.deepStrictEqual([ids.length, new Set(ids).size], [batches * 25, batches * 25])
          assert.isAbove(failed, 0)
        })
      ),
    120_000
  )
}

const who = { owner: "one", fingerprint: "f" }

export const claims = (target: number, at: At<IdempotencyStore>): void => {
  it.live(
    "a lost connection loses no answer that was committed, and frees no key that was claimed",
    () =>
      through(target, (between) =>
        Effect.gen(function* () {
          const name = yield* fresh
          const committed: Array<number> = []
          const claimed: Array<number> = []
          let failed = 0
          const keyOf = (i: number) => ({ org: "acme", key: `${name}-${i}` })
          const answerOf = (i: number) =>
            ({
              _tag: "Answer",
              stream: false,
              status: 200,
              headers: {},
              body: new Uint8Array(2_000).fill(i),
              model: "m",
              provider: "p",
              substituted: false
            }) as const
          const one = (i: number) =>
            Effect.gen(function* () {
              const store = yield* IdempotencyStore
              const verdict = yield* store.claim(keyOf(i), who, Claim.defaults)
              if (verdict._tag !== "Claimed") return
              claimed.push(i)
              if ((yield* store.commit(keyOf(i), who, answerOf(i), Claim.defaults)) === "Committed") committed.push(i)
            }).pipe(
              Effect.catchAll(() => {
                failed++
                return Effect.sleep(5)
              })
            )
          const keys = yield* underCuts(between, one).pipe(Effect.provide(at(between.port)))
          const seen = yield* Effect.gen(function* () {
            const store = yield* IdempotencyStore
            return yield* Effect.forEach(
              Array.from({ length: keys }, (_, i) => i),
              (i) => store.claim(keyOf(i), { owner: "two", fingerprint: "f" }, Claim.defaults)
            )
          }).pipe(Effect.provide(at(target)))
          for (const i of committed) assert.deepStrictEqual(seen[i], { _tag: "Replay", result: answerOf(i) })
          for (const i of claimed) assert.notStrictEqual(seen[i]?._tag, "Claimed")
          assert.isAbove(committed.length, 0)
          assert.isAbove(failed, 0)
        })
      ),
    120_000
  )
}

/** STORES: a closed connection gives `StoreError` in bounded time, never a hang. */
export const bounded = <R>(
  target: number,
  at: At<R>,
  asks: ReadonlyArray<Effect.Effect<unknown, { readonly _tag: string; readonly reason: string }, R>>
): void => {
  it.live(
    "hung or gone it costs a typed error in bounded time, and it answers again when it is back",
    () =>
      through(target, (between) =>
        Effect.gen(function* () {
          const back = <A, E>(ask: Effect.Effect<A, E, R>): Effect.Effect<A, never, R> =>
            Effect.catchAll(ask, () => Effect.zipRight(Effect.sleep(50), back(ask)))
          for (const mode of ["hang", "refuse"] as const) {
            yield* between.become(mode)
            for (const ask of asks) {
              const error = yield* Effect.timeout(Effect.flip(ask), "20 seconds")
              assert.deepInclude(error, { _tag: "StoreError", reason: "Unavailable" })
            }
            yield* between.become("through")
            for (const ask of asks) yield* Effect.timeout(back(ask), "20 seconds")
          }
        }).pipe(Effect.provide(at(between.port)))
      ),
    120_000
  )
}
