import type { SqlClient } from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import type { Fragment } from "@effect/sql/Statement"
import * as Breakers from "@switchgear/breaker/CircuitBreakerStore"
import * as Routing from "@switchgear/routing/StoreError"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"

/** A database, and what differs between dialects. */
export interface Db {
  readonly sql: SqlClient
  /** The store's time in ms since 1970, as an expression. */
  readonly now: Effect.Effect<Fragment>
  /** Where the store's time is this process's: to be asked once the statement has had its turn. */
  readonly clock?: Effect.Effect<number> | undefined
  /** Wraps a writing statement that returns `key`, so that others hear of it. */
  readonly announcing: (statement: Fragment, key: string, writer: string) => Fragment
}

const codeOf = (error: SqlError): string => {
  const { cause } = error
  return Predicate.hasProperty(cause, "code") && typeof cause.code === "string" ? cause.code : ""
}

/** SQLite's writer is another process. Nothing was done; it can be tried again. */
export const isBusy = (error: SqlError): boolean => codeOf(error).startsWith("SQLITE_BUSY")

/** `53100`: PostgreSQL's disk is full. */
export const reasonOf = (error: SqlError): "Unavailable" | "Full" | "Corrupt" => {
  const code = codeOf(error)
  if (code === "SQLITE_FULL" || code === "53100") return "Full"
  return code.startsWith("SQLITE_CORRUPT") || code === "SQLITE_NOTADB" ? "Corrupt" : "Unavailable"
}

export const breakersError = (error: SqlError): Breakers.StoreError =>
  new Breakers.StoreError({ reason: reasonOf(error) })

/** As a port of routing's tells it. */
export const routingError = (store: string, error: SqlError): Routing.StoreError => {
  const reason = reasonOf(error)
  return new Routing.StoreError({ store, reason: reason === "Corrupt" ? reason : "Unavailable" })
}

export const failing =
  (store: string) =>
  <A, R>(self: Effect.Effect<A, SqlError, R>): Effect.Effect<A, Routing.StoreError, R> =>
    Effect.mapError(self, (error) => routingError(store, error))

/**
 * A key as it stands in a column: a NUL in a text is cut on read by SQLite and refused by PostgreSQL, so as a JSON string.
 */
export const keyText = (...parts: ReadonlyArray<string>): string =>
  JSON.stringify(parts.length === 1 ? parts[0] : parts)
