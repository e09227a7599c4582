import { SqlClient } from "@effect/sql/SqlClient"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Store from "@switchgear/breaker/CircuitBreakerStore"
import * as Effect from "effect/Effect"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Redacted from "effect/Redacted"
import { afterAll } from "vitest"
import { fleetProofs } from "../support/fleetProofs.js"
import { dropSchema, urlOf } from "../support/postgres.js"

const url = urlOf("test")
const space = `switchgear_fleet_${process.pid}`

const admin = ManagedRuntime.make(PgClient.layer({ url: Redacted.make(url), maxConnections: 1 }))

afterAll(async () => {
  await admin.dispose()
  await Promise.all([0, 5_000].map((apart) => dropSchema("test", `${space}${apart}`)))
}, 60_000)

fleetProofs("PostgreSQL", { backend: "postgres", url, space }, (schema, name) =>
  Effect.flatMap(
    SqlClient,
    (sql) =>
      sql<{
        readonly value: string
      }>`SELECT value FROM ${sql(schema)}.switchgear_breakers WHERE key = ${JSON.stringify(name)}`
  ).pipe(
    Effect.map(([row]) => (row === undefined ? undefined : Store.decode(row.value))),
    admin.runPromise
  )
)
