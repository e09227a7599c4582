import * as Migrator from "@effect/sql/Migrator"
import { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"

const first = Effect.gen(function* () {
  const sql = yield* SqlClient
  yield* sql`CREATE TABLE switchgear_breakers (key TEXT PRIMARY KEY, value TEXT NOT NULL, until DOUBLE PRECISION)`
  yield* sql`CREATE TABLE switchgear_idempotency (key TEXT PRIMARY KEY, value TEXT NOT NULL, until DOUBLE PRECISION)`
  yield* sql`CREATE INDEX switchgear_idempotency_until ON switchgear_idempotency (until)`
  const seq = sql.onDialectOrElse({
    pg: () => sql.literal("BIGSERIAL PRIMARY KEY"),
    orElse: () => sql.literal("INTEGER PRIMARY KEY AUTOINCREMENT")
  })
  yield* sql`CREATE TABLE switchgear_calls (
    seq ${seq}, id TEXT NOT NULL UNIQUE, at DOUBLE PRECISION NOT NULL, provider TEXT,
    successes DOUBLE PRECISION NOT NULL, timed DOUBLE PRECISION NOT NULL, latency DOUBLE PRECISION NOT NULL,
    value TEXT NOT NULL)`
  // It holds all that the aggregate asks for, so that health is computed without reading a row.
  yield* sql`CREATE INDEX switchgear_calls_at ON switchgear_calls (at, provider, successes, timed, latency)`
  const length = sql.onDialectOrElse({
    pg: () => sql.literal("json_array_length(chain::json)"),
    orElse: () => sql.literal("json_array_length(chain)")
  })
  yield* sql`CREATE TABLE switchgear_rules (
    position DOUBLE PRECISION PRIMARY KEY, org TEXT NOT NULL, model TEXT NOT NULL, value TEXT NOT NULL,
    chain TEXT NOT NULL CHECK (${length} <= 8))`
  yield* sql`CREATE TABLE switchgear_clients (key TEXT PRIMARY KEY, value TEXT NOT NULL)`
  yield* sql`CREATE TABLE switchgear_budgets (
    key TEXT PRIMARY KEY, start DOUBLE PRECISION NOT NULL, ends DOUBLE PRECISION NOT NULL,
    tokens DOUBLE PRECISION NOT NULL, usd DOUBLE PRECISION NOT NULL)`
})

/** What replicas poll to hear of an edit. */
const second = Effect.gen(function* () {
  const sql = yield* SqlClient
  yield* sql`CREATE TABLE switchgear_revisions (name TEXT PRIMARY KEY, value DOUBLE PRECISION NOT NULL)`
  yield* sql`INSERT INTO switchgear_revisions (name, value) VALUES ('policies', 0)`
})

const run = Migrator.make({})

/** Brings the tables up to date; a migration that has run is not run again. */
export const migrate: Effect.Effect<unknown, Migrator.MigrationError | SqlError, SqlClient> = run({
  loader: Migrator.fromRecord({ "0001_tables": first, "0002_revisions": second }),
  table: "switchgear_migrations"
})
