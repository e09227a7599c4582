import { createServer, type Socket } from "node:net"
import { describe, it } from "@effect/vitest"
import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
import * as Registry from "@switchgear/breaker/CircuitBreakerRegistry"
import type * as Store from "@switchgear/breaker/CircuitBreakerStore"
import * as Policy from "@switchgear/core/Policy"
import * as PostgresStore from "@switchgear/store/postgres"
import * as StoreLaws from "@switchgear/testing/StoreLaws"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { afterAll, assert, beforeAll } from "vitest"
import { replicas } from "../support/policies.js"
import { create, drop, run, urlOf } from "../support/postgres.js"

const database = `switchgear_test_${process.pid}`
const url = urlOf(database)

beforeAll(() => create(database), 60_000)
afterAll(() => drop(database), 60_000)

/** Its limits are those of a busy test machine. */
const layer = PostgresStore.layer({
  url: Redacted.make(url),
  queryTimeout: 10_000,
  connectTimeout: 10_000,
  maxConnections: 8
})

const laws = <R>(port: string, all: ReadonlyArray<StoreLaws.Law<R>>, layer: Layer.Layer<R, Store.StoreError>) =>
  describe(`PostgreSQL keeps ${port}`, () => {
    for (const { check, name } of all) it.live(name, () => Effect.provide(check, layer), 240_000)
  })

laws("breakers", StoreLaws.breakers, layer)
laws("claims", StoreLaws.idempotency, layer)
laws("telemetry", StoreLaws.telemetry, layer)
laws("policies", StoreLaws.policies, layer)
laws("budgets", StoreLaws.budgets, layer)

describe("policies in PostgreSQL", () => {
  replicas(() => ({
    layer: (options) =>
      PostgresStore.layer({
        url: Redacted.make(url),
        schema: "policies",
        queryTimeout: 10_000,
        connectTimeout: 10_000,
        ...options
      }),
    run: (statement) => run(database, "policies", statement)
  }))
})

describe("PostgreSQL", () => {
  it.live("is what a durable breaker goes on from", () =>
    Effect.gen(function* () {
      const life = Effect.gen(function* () {
        const registry = yield* Registry.CircuitBreakerRegistry
        const breaker = yield* registry.get("durable")
        const found = yield* CircuitBreaker.view(breaker)
        yield* CircuitBreaker.forceOpen(breaker)
        return found.state
      }).pipe(Effect.provide(Registry.layerStored({ policy: Policy.hosted }).pipe(Layer.provide(layer))))
      assert.strictEqual(yield* life, "Closed")
      assert.strictEqual(yield* life, "Open")
    })
  )

  it.live("that hangs at the start costs a typed error in bounded time", () =>
    Effect.gen(function* () {
      const sockets = new Set<Socket>()
      const server = createServer((socket) => sockets.add(socket))
      const port = yield* Effect.async<number>((resume) => {
        server.listen(0, "127.0.0.1", () => {
          const address = server.address()
          resume(Effect.succeed(typeof address === "object" && address !== null ? address.port : 0))
        })
      })
      const hung = PostgresStore.layer({ url: Redacted.make(`postgres://postgres@127.0.0.1:${port}/test`) })
      const error = yield* Effect.flip(Effect.scoped(Layer.build(hung))).pipe(Effect.timeout("10 seconds"))
      assert.deepInclude(error, { _tag: "StoreError", reason: "Unavailable" })
      for (const socket of sockets) socket.destroy()
      server.close()
    })
  )
})
