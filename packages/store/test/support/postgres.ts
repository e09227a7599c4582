import { SqlClient } from "@effect/sql/SqlClient"
import * as PgClient from "@effect/sql-pg/PgClient"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"

const server = "postgres://postgres@127.0.0.1:5432"

export const urlOf = (database: string): string => `${server}/${database}`

const statements = (url: string, all: ReadonlyArray<string>): Promise<unknown> =>
  Effect.flatMap(SqlClient, (sql) => Effect.forEach(all, (statement) => sql.unsafe(statement))).pipe(
    Effect.provide(PgClient.layer({ url: Redacted.make(url) })),
    Effect.runPromise
  )

/**
 * A database for one test file. Its commits do not wait for the disk: a breaker's are told of by NOTIFY, which lets only
 * one commit at a time, so that ten thousand of them would wait for ten thousand writes of a disk. What a crash of the
 * server leaves is for `postgres.restart.test.ts` to say.
 */
export const create = (database: string): Promise<unknown> =>
  statements(urlOf("test"), [`CREATE DATABASE ${database}`, `ALTER DATABASE ${database} SET synchronous_commit = off`])

export const drop = (database: string): Promise<unknown> =>
  statements(urlOf("test"), [`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`])

/** Runs a statement in a schema. */
export const run = (database: string, schema: string, statement: string): Promise<unknown> =>
  statements(urlOf(database), [`SET search_path TO ${schema}; ${statement}`])

/** Removes a schema with all that is in it. */
export const dropSchema = (database: string, schema: string): Promise<unknown> =>
  statements(urlOf(database), [`DROP SCHEMA IF EXISTS ${schema} CASCADE`])
