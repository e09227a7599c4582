import { CircuitBreakerStore, type Service, type Stored } from "@switchgear/breaker/CircuitBreakerStore"
import * as Breaker from "@switchgear/core/Breaker"
import * as Policy from "@switchgear/core/Policy"
import * as Snapshot from "@switchgear/core/Snapshot"
import * as Chunk from "effect/Chunk"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { fresh, holds, type Law, oddKeys, same } from "./law.js"

const policy = Policy.hosted

const record = (state: Breaker.State, writer: string, now = 0): Stored => ({
  snapshot: Snapshot.snapshot(state, now, 1_000),
  writer,
  transitions: []
})

const closed = record(Breaker.initial(policy, 0), "writer")
const counted = (count: number): Stored => ({ ...closed, snapshot: { ...closed.snapshot, era: count } })

const tripped = (kind: string): Breaker.State => {
  let state = Breaker.initial(policy, 0)
  for (let i = 0; i < 5; i++) {
    const permit = { era: state.era, at: i }
    state = Breaker.report(policy, state, permit, Breaker.failure(kind), i, 0.5)[1]
  }
  return state
}

const open = tripped("timeout")
const [halfOpen] = [Breaker.acquire(policy, open, 1_000_000)[1]]
const [forced] = Breaker.command(policy, open, Breaker.forceOpen(60_000), 10)

const shapes: ReadonlyArray<Stored> = [
  closed,
  {
    ...record(open, "writer-é", 10),
    transitions: [
      {
        breaker: "a\u0000b",
        from: "Closed",
        to: "Open",
        at: 5,
        era: 1,
        reason: { rule: "P1", by: "streak", kind: "timeout", failures: 5, threshold: 5 }
      }
    ]
  },
  record(halfOpen, "w", 1_000_001),
  record(forced, "", 20)
]

/** A record of more than 64 KiB. */
const large = record(tripped("k".repeat(70_000)), "writer")

const read = (store: Service, key: string) =>
  store.modify(key, (stored): readonly [Stored | undefined, Stored | undefined] => [stored, stored])

const write = (store: Service, key: string, next: Stored) =>
  store.modify(key, (): readonly [undefined, Stored] => [undefined, next])

const increment = (store: Service, key: string) =>
  store.modify(key, (stored): readonly [number, Stored] => {
    const count = (stored?.snapshot.era ?? 0) + 1
    return [count, counted(count)]
  })

const law = (name: string, check: (store: Service, key: string) => Law<never>["check"]): Law<CircuitBreakerStore> => ({
  name,
  check: Effect.gen(function* () {
    const store = yield* CircuitBreakerStore
    const key = yield* fresh
    yield* Effect.ensuring(check(store, key), Effect.ignore(store.remove(key)))
  })
})

export const laws: ReadonlyArray<Law<CircuitBreakerStore>> = [
  law("reads what was written, and nothing where nothing was", (store, key) =>
    Effect.gen(function* () {
      yield* same("before", yield* read(store, key), undefined)
      for (const shape of shapes) {
        yield* write(store, key, shape)
        yield* same("after", yield* read(store, key), shape)
      }
    })
  ),
  law("gives back what the step gave; the very object it was given is not written", (store, key) =>
    Effect.gen(function* () {
      yield* same("of nothing", yield* store.modify(key, (stored) => ["answer", stored]), "answer")
      const all = yield* store.entries
      yield* holds("nothing was written", !all.some(([name]) => name === key))
    })
  ),
  law("`undefined` removes, and so does `remove`, of nothing too", (store, key) =>
    Effect.gen(function* () {
      yield* write(store, key, closed)
      yield* store.modify(key, (): readonly [undefined, undefined] => [undefined, undefined])
      yield* same("after the step", yield* read(store, key), undefined)
      yield* write(store, key, closed)
      yield* store.remove(key)
      yield* same("after remove", yield* read(store, key), undefined)
      yield* store.remove(key)
    })
  ),
  law("two writers lose nothing: a step runs again on a conflict", (store, key) =>
    Effect.gen(function* () {
      const writer = Effect.replicateEffect(increment(store, key), 50)
      const counts = yield* Effect.all([writer, writer], { concurrency: 2 })
      const distinct = new Set(counts.flat())
      yield* same("increments seen", distinct.size, 100)
      yield* same("the sum", (yield* read(store, key))?.snapshot.era, 100)
    })
  ),
  law("two who would be first: one is", (store, key) =>
    Effect.gen(function* () {
      const claim = store.modify(key, (stored): readonly [boolean, Stored] => [stored === undefined, stored ?? closed])
      const firsts = yield* Effect.all(
        Array.from({ length: 20 }, () => claim),
        { concurrency: "unbounded" }
      )
      yield* same("firsts", firsts.filter(Boolean).length, 1)
    })
  ),
  law("the store's time is ms since 1970 and does not run backwards", (store, key) =>
    Effect.gen(function* () {
      const time = store.modify(key, (stored, now) => [now, stored])
      const first = yield* time
      yield* Effect.sleep(20)
      const second = yield* time
      yield* holds("after 2020", first > 1_577_836_800_000 && Number.isInteger(first), first)
      yield* holds("passes", second - first >= 10 && second - first < 10_000, second - first)
    })
  ),
  law("any key is a key of its own", (store, key) =>
    Effect.gen(function* () {
      const keys = oddKeys.map((odd) => key + odd)
      const clear = Effect.forEach(keys, store.remove, { discard: true })
      yield* Effect.gen(function* () {
        for (const [index, name] of keys.entries()) yield* write(store, name, counted(index + 1))
        for (const [index, name] of keys.entries()) {
          yield* same(JSON.stringify(name).slice(0, 40), (yield* read(store, name))?.snapshot.era, index + 1)
        }
        const names = new Set((yield* store.entries).map(([name]) => name))
        for (const name of keys) yield* holds(`${JSON.stringify(name).slice(0, 40)} is an entry`, names.has(name))
      }).pipe(Effect.ensuring(Effect.ignore(clear)))
    })
  ),
  law("a value of 64 KiB", (store, key) =>
    Effect.gen(function* () {
      yield* write(store, key, large)
      yield* same("after", yield* read(store, key), large)
    })
  ),
  law("10 000 keys", (store, key) =>
    Effect.gen(function* () {
      const keys = Array.from({ length: 10_000 }, (_, i) => `${key}:${i}`)
      const clear = Effect.forEach(keys, store.remove, { concurrency: 32, discard: true })
      yield* Effect.gen(function* () {
        yield* Effect.forEach(keys, (name, i) => write(store, name, counted(i)), { concurrency: 32, discard: true })
        const eras = new Map((yield* store.entries).map(([name, { snapshot }]) => [name, snapshot.era]))
        const wrong = keys.filter((name, i) => eras.get(name) !== i)
        yield* same("missing or wrong", wrong.length, 0)
      }).pipe(Effect.ensuring(Effect.ignore(clear)))
    })
  ),
  law("tells of what is written, by whom, and of a removal", (store, key) =>
    Effect.gen(function* () {
      const listening = yield* Deferred.make<void>()
      const probe = `${key}:probe`
      const heard = yield* store.changes.pipe(
        Stream.tap((change) => (change.key === probe ? Deferred.succeed(listening, undefined) : Effect.void)),
        Stream.filter((change) => change.key === key),
        Stream.map(({ writer }) => writer),
        Stream.take(2),
        Stream.runCollect,
        Effect.fork
      )
      // A subscription takes time to stand: write beside it until it is heard.
      yield* Effect.zipRight(increment(store, probe), Effect.sleep(20)).pipe(
        Effect.forever,
        Effect.raceFirst(Deferred.await(listening)),
        Effect.ensuring(Effect.ignore(store.remove(probe)))
      )
      yield* write(store, key, closed)
      yield* store.remove(key)
      const writers = yield* Effect.timeoutFail(Fiber.join(heard), {
        duration: "5 seconds",
        onTimeout: () => new Error("no change was told within 5 s")
      })
      yield* same("writers", Chunk.toReadonlyArray(writers), ["writer", ""])
    })
  )
]
