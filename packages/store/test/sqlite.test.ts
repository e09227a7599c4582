import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { describe, it } from "@effect/vitest"
import { createClient } from "@libsql/client"
import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
import * as Registry from "@switchgear/breaker/CircuitBreakerRegistry"
import * as Store from "@switchgear/breaker/CircuitBreakerStore"
import * as Policy from "@switchgear/core/Policy"
import * as Sqlite from "@switchgear/store/sqlite"
import * as StoreLaws from "@switchgear/testing/StoreLaws"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { afterAll, assert } from "vitest"
import { replicas } from "./support/policies.js"

const folder = mkdtempSync(join(tmpdir(), "switchgear-sqlite-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let files = 0
const fresh = () => join(folder, "deeper", `${files++}.db`)

const laws = <R>(port: string, all: ReadonlyArray<StoreLaws.Law<R>>, layer: Layer.Layer<R, unknown>) =>
  describe(`SQLite keeps ${port}`, () => {
    for (const { check, name } of all) it.live(name, () => Effect.provide(check, layer))
  })

const shared = Sqlite.layer({ path: fresh() })
laws("breakers", StoreLaws.breakers, shared)
laws("claims", StoreLaws.idempotency, shared)
laws("telemetry", StoreLaws.telemetry, shared)
laws("policies", StoreLaws.policies, shared)
laws("budgets", StoreLaws.budgets, shared)

describe("policies in SQLite", () => {
  const path = fresh()
  replicas(() => ({
    layer: (options) => Sqlite.layer({ path, ...options }),
    run: async (statement) => {
      const client = createClient({ url: pathToFileURL(path).href })
      try {
        return await client.executeMultiple(`PRAGMA busy_timeout = 1000; ${statement}`)
      } finally {
        client.close()
      }
    }
  }))
})

const trip = (path: string) =>
  Effect.gen(function* () {
    const registry = yield* Registry.CircuitBreakerRegistry
    const breaker = yield* registry.get("a")
    const found = (yield* CircuitBreaker.view(breaker)).state
    yield* CircuitBreaker.forceOpen(breaker)
    return found
  }).pipe(Effect.provide(Registry.layerStored({ policy: Policy.hosted }).pipe(Layer.provide(Sqlite.layer({ path })))))

describe("a SQLite file", () => {
  it.live("is what a durable breaker goes on from", () =>
    Effect.gen(function* () {
      const path = fresh()
      assert.strictEqual(yield* trip(path), "Closed")
      assert.strictEqual(yield* trip(path), "Open")
    })
  )

  it.live("that is damaged is moved aside as it is, and a fresh one is begun", () =>
    Effect.gen(function* () {
      const path = fresh()
      yield* trip(path)
      const junk = Buffer.alloc(8_192, "no database")
      for (const count of [1, 2]) {
        writeFileSync(path, junk)
        assert.strictEqual(yield* trip(path), "Closed")
        assert.deepStrictEqual(readFileSync(`${path}.corrupt-${count}`), junk)
        assert.strictEqual(yield* trip(path), "Open")
      }
    })
  )

  it.live("with a broken page is moved aside too", () =>
    Effect.gen(function* () {
      const path = fresh()
      yield* trip(path)
      const bytes = readFileSync(path)
      bytes.fill(0xff, 4_096, 8_192)
      writeFileSync(path, bytes)
      assert.strictEqual(yield* trip(path), "Closed")
      assert.deepStrictEqual(readFileSync(`${path}.corrupt-1`), bytes)
    })
  )

  it.live("that cannot be used is an error that names it and says what to do", () =>
    Effect.gen(function* () {
      const text = join(folder, "a-file")
      writeFileSync(text, "")
      for (const [path, problem, message] of [
        [join(text, "x.db"), "Folder", /its folder .* cannot be made/],
        [folder, "Unreadable", /name a file/]
      ] as const) {
        const error = yield* Effect.flip(Effect.scoped(Layer.build(Sqlite.layer({ path }))))
        assert.deepInclude(error, { _tag: "FileUnusable", path, problem })
        assert.match(error.message, message)
        assert.isTrue(error.message.startsWith(`${path}: `))
      }
    })
  )

  it.live("that is another application's database is left as it is", () =>
    Effect.gen(function* () {
      const path = join(folder, "another.db")
      const client = createClient({ url: pathToFileURL(path).href })
      yield* Effect.promise(() =>
        client.executeMultiple("CREATE TABLE users (name TEXT); INSERT INTO users VALUES ('a')")
      )
      client.close()
      const before = readFileSync(path)
      const error = yield* Effect.flip(Effect.scoped(Layer.build(Sqlite.layer({ path }))))
      assert.deepInclude(error, { _tag: "FileUnusable", path, problem: "Foreign" })
      assert.deepStrictEqual(readFileSync(path), before)
      assert.deepStrictEqual(
        readdirSync(folder).filter((name) => name.startsWith("another.db")),
        ["another.db"]
      )
    })
  )

  it.live("of a switchgear that did not mark its files yet is taken", () =>
    Effect.gen(function* () {
      const path = fresh()
      yield* trip(path)
      const client = createClient({ url: pathToFileURL(path).href })
      yield* Effect.promise(() => client.execute("PRAGMA application_id = 0"))
      client.close()
      assert.strictEqual(yield* trip(path), "Open")
    })
  )

  it.live("that was closed answers with a typed error, at once", () =>
    Effect.gen(function* () {
      const store = yield* Effect.provide(Store.CircuitBreakerStore, Sqlite.layer({ path: fresh() }))
      const error = yield* Effect.flip(store.entries)
      assert.deepInclude(error, { _tag: "StoreError", reason: "Unavailable" })
    })
  )

  it.live("takes two connections, whose writers lose nothing", () =>
    Effect.gen(function* () {
      const path = fresh()
      const one = yield* Effect.map(Layer.build(Sqlite.layer({ path })), (context) => context)
      const two = yield* Layer.build(Layer.fresh(Sqlite.layer({ path })))
      const increments = Effect.flatMap(Store.CircuitBreakerStore, (store) =>
        Effect.replicateEffect(
          store.modify("a", (stored): readonly [number, Store.Stored] => {
            const count = (stored?.snapshot.era ?? 0) + 1
            return [count, record(count)]
          }),
          100
        )
      )
      const counts = yield* Effect.all([Effect.provide(increments, one), Effect.provide(increments, two)], {
        concurrency: 2
      })
      assert.strictEqual(new Set(counts.flat()).size, 200)
    }).pipe(Effect.scoped)
  )

  it.live("a thousand transactions leave no file open", () =>
    Effect.gen(function* () {
      const open = () => readdirSync("/proc/self/fd").length
      const policies = StoreLaws.policies[0]
      const before = open()
      for (let i = 0; i < 100; i++) if (policies !== undefined) yield* policies.check
      assert.isAtMost(open() - before, 5)
    }).pipe(Effect.provide(Sqlite.layer({ path: fresh() })))
  )
})

const record = (era: number): Store.Stored => ({
  snapshot: { version: 1, wall: 0, era, age: 0, openings: 0, state: { _tag: "ForcedClosed" } },
  writer: "w",
  transitions: []
})
