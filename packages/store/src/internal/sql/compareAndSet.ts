import { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import { type Db, isBusy } from "./db.js"

/** What a row is to hold; `until`: ms, from when on it may be dropped. */
export interface Row {
  readonly value: string
  readonly until: number | null
}

type Step<A> = { readonly done: true; readonly value: A } | { readonly done: false }

const again: Step<never> = { done: false }

/** Each conflict means that somebody else got on, so that this many in a row do not happen by chance. */
const attempts = 400

/** Of several writers the one that waits longer lets the others pass. */
const pause = (attempt: number): Effect.Effect<void> =>
  attempt < 3 ? Effect.yieldNow() : Effect.sleep(Math.min(10, attempt / 4))

/**
 * Reads, steps and writes only over what was read, by its very text: a value that has come back meanwhile is the same
 * value. The step may run again. `undefined` from it leaves the row, `null` removes it.
 */
export const compareAndSet = <A>(
  db: Db,
  table: string,
  key: string,
  step: (value: string | undefined, now: number) => readonly [A, Row | null | undefined, writer: string]
): Effect.Effect<A, SqlError> => {
  const { sql } = db
  const name = sql(table)
  const once: Effect.Effect<Step<A>, SqlError> = Effect.gen(function* () {
    const [found] = yield* sql<{ readonly value: string | null; readonly now: number }>`
      SELECT (SELECT value FROM ${name} WHERE key = ${key}) AS value, ${yield* db.now} AS now`
    const value = found?.value ?? undefined
    const now = db.clock === undefined ? (found?.now ?? 0) : yield* db.clock
    const [result, row, writer] = step(value, Math.floor(now))
    if (row === undefined || (row === null && value === undefined)) return { done: true, value: result }
    const statement =
      row === null
        ? sql`DELETE FROM ${name} WHERE key = ${key} AND value = ${value ?? ""} RETURNING key`
        : value === undefined
          ? sql`INSERT INTO ${name} (key, value, until) VALUES (${key}, ${row.value}, ${row.until})
                ON CONFLICT (key) DO NOTHING RETURNING key`
          : sql`UPDATE ${name} SET value = ${row.value}, until = ${row.until}
                WHERE key = ${key} AND value = ${value} RETURNING key`
    const written = yield* sql`${db.announcing(statement, key, writer)}`
    return written.length === 0 ? again : { done: true, value: result }
  })
  const attempt = (count: number): Effect.Effect<A, SqlError> =>
    Effect.flatMap(
      Effect.catchIf(once, isBusy, () => Effect.succeed(again)),
      (outcome) => {
        if (outcome.done) return Effect.succeed(outcome.value)
        return count < attempts
          ? Effect.zipRight(pause(count), attempt(count + 1))
          : Effect.fail(new SqlError({ cause: undefined, message: "too many writers" }))
      }
    )
  return attempt(0)
}
