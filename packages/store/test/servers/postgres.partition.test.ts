import { describe, it } from "@effect/vitest"
import * as PostgresStore from "@switchgear/store/postgres"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { afterAll, assert } from "vitest"
import { type Mode, Proxy } from "../support/away.js"
import { askedByCalls, goesAndComesBack } from "../support/partitionProofs.js"
import { dropSchema } from "../support/postgres.js"

const made: Array<string> = []

afterAll(() => Promise.all(made.map((schema) => dropSchema("test", schema))), 60_000)

/** In a schema of its own. */
const layer = (port: number) => {
  const schema = `switchgear_partition_${process.pid}_${made.length}`
  made.push(schema)
  return PostgresStore.layer({
    url: Redacted.make(`postgres://postgres@127.0.0.1:${port}/test`),
    schema,
    maxConnections: 4,
    // To start with, on a busy machine; what a call waits is the registry's to say.
    queryTimeout: 5_000,
    connectTimeout: 5_000,
    // Of rules and clients, which are asked for in the background; what is counted are breakers.
    pollInterval: 3_600_000
  })
}

describe("PostgreSQL goes and comes back under load", () => {
  for (const mode of ["hangs", "hangs up"] satisfies ReadonlyArray<Mode>) {
    it.live(
      `behind something that ${mode}`,
      () =>
        Effect.gen(function* () {
          const proxy = yield* Effect.promise(() => Proxy.start(5_432))
          const set = (to: Mode) => Effect.sync(() => proxy.set(to))
          yield* goesAndComesBack(`PostgreSQL, ${mode}`, layer(proxy.port), set(mode), set("passes"))
          proxy.end()
        }),
      120_000
    )
  }

  it.live(
    "is asked nothing by calls on a Closed breaker, counted at the socket",
    () =>
      Effect.gen(function* () {
        const proxy = yield* Effect.promise(() => Proxy.start(5_432))
        const asked = yield* askedByCalls(layer(proxy.port), () => proxy.sent, 10_000)
        assert.isAbove(proxy.sent, 0)
        assert.strictEqual(asked, 0)
        proxy.end()
      }),
    120_000
  )
})
