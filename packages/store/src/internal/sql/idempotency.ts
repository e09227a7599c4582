import type { SqlError } from "@effect/sql/SqlError"
import * as Idempotency from "@switchgear/routing/IdempotencyStore"
import * as Effect from "effect/Effect"
import { decodeRecord, encodeRecord } from "../claims.js"
import { compareAndSet } from "./compareAndSet.js"
import { type Db, failing, keyText } from "./db.js"

const table = "switchgear_idempotency"

export const make = (db: Db): Idempotency.Service =>
  Idempotency.fromModify(({ key, org }, f) =>
    compareAndSet(db, table, keyText(org, key), (text, now) => {
      const before = text === undefined ? undefined : decodeRecord(text)
      const [result, after] = f(before, now)
      if (after === before) return [result, undefined, ""]
      return [result, after === undefined ? null : { value: encodeRecord(after), until: after.until }, ""]
    }).pipe(failing("idempotency"))
  )

/** Drops what has expired. */
export const purge = (db: Db): Effect.Effect<unknown, SqlError> =>
  Effect.flatMap(db.now, (now) => db.sql`DELETE FROM ${db.sql(table)} WHERE until <= ${now}`)
