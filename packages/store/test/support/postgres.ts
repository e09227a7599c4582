import { SqlClient } from "@effect/sql/SqlClient"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"

/** Runs a statement in a test's schema. */
export const run = (url: string, schema: string, statement: string): Promise<unknown> =>
  Effect.flatMap(SqlClient, (sql) => sql.unsafe(`SET search_path TO ${schema}; ${statement}`)).pipe(
    Effect.provide(PgClient.layer({ url: Redacted.make(url) })),
    Effect.runPromise
  )

/** Removes a test's schema with all that is in it. */
export const drop = (url: string, schema: string): Promise<unknown> =>
  Effect.flatMap(SqlClient, (sql) => sql`DROP SCHEMA IF EXISTS ${sql(schema)} CASCADE`).pipe(
    Effect.provide(PgClient.layer({ url: Redacted.make(url) })),
    Effect.runPromise
  )
