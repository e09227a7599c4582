import { SqlClient } from "@effect/sql/SqlClient"
import * as PgClient from "@effect/sql-pg/PgClient"
import { describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { afterAll } from "vitest"
import { answersTravel, breakersTravel, policiesTravel } from "../replicas.js"

const url = "postgres://postgres@127.0.0.1:5432/postgres"
const schema = (name: string) => `gatewaytest_${name}_${process.pid}`
const store = (name: string) => `{ kind: postgres, url: "${url}", namespace: ${schema(name)}, pollInterval: 100 }`

afterAll(() =>
  Effect.flatMap(SqlClient, (sql) =>
    Effect.forEach(
      ["breakers", "answers", "policies"],
      (name) => sql`DROP SCHEMA IF EXISTS ${sql(schema(name))} CASCADE`
    )
  ).pipe(Effect.provide(PgClient.layer({ url: Redacted.make(url) })), Effect.asVoid, Effect.runPromise)
)

describe("gateways over one PostgreSQL", () => {
  it.scopedLive("a breaker opened on one is open on the other", () => breakersTravel(store("breakers")))
  it.scopedLive("a key that one has answered is replayed by the other", () => answersTravel(store("answers")))
  it.scopedLive("clients and policies put on one are in force on the other", () => policiesTravel(store("policies")))
})
