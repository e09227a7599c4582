import * as Store from "@switchgear/breaker/CircuitBreakerStore"
import * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import { compareAndSet, type Row } from "./compareAndSet.js"
import { breakersError, type Db, keyText } from "./db.js"

export const table = "switchgear_breakers"

interface Stepped<A> {
  readonly result: A
  readonly change: Store.Change | undefined
}

const keyOf = (text: string): string | undefined => {
  try {
    const key: unknown = JSON.parse(text)
    return typeof key === "string" ? key : undefined
  } catch {
    return undefined
  }
}

/** `told`: what is called after a write, where no database tells of it. */
export const make = (
  db: Db,
  changes: Stream.Stream<Store.Change>,
  told: (change: Store.Change) => void
): Store.Service => {
  const { sql } = db
  return {
    modify: <A>(
      key: string,
      f: (stored: Store.Stored | undefined, now: number) => readonly [A, Store.Stored | undefined]
    ) =>
      compareAndSet(db, table, keyText(key), (text, now): readonly [Stepped<A>, Row | null | undefined, string] => {
        const before = text === undefined ? undefined : Store.decode(text)
        const [result, after] = f(before, now)
        if (after === before) return [{ result, change: undefined }, undefined, ""]
        const writer = after?.writer ?? ""
        const row = after === undefined ? null : { value: Store.encode(after), until: null }
        return [{ result, change: { key, writer } }, row, writer]
      }).pipe(
        Effect.map(({ change, result }) => {
          if (change !== undefined) told(change)
          return result
        }),
        Effect.mapError(breakersError)
      ),
    entries: sql<{ readonly key: string; readonly value: string }>`SELECT key, value FROM ${sql(table)}`.pipe(
      Effect.map((rows) => {
        const entries: Array<readonly [string, Store.Stored]> = []
        for (const { key, value } of rows) {
          const [name, stored] = [keyOf(key), Store.decode(value)]
          if (name !== undefined && stored !== undefined) entries.push([name, stored])
        }
        return entries
      }),
      Effect.mapError(breakersError)
    ),
    remove: (key) =>
      sql`${db.announcing(sql`DELETE FROM ${sql(table)} WHERE key = ${keyText(key)} RETURNING key`, keyText(key), "")}`.pipe(
        Effect.map((gone) => (gone.length > 0 ? told({ key, writer: "" }) : undefined)),
        Effect.mapError(breakersError)
      ),
    changes
  }
}
