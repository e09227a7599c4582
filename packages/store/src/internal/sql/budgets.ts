import type * as Budget from "@switchgear/routing/Budget"
import * as Effect from "effect/Effect"
import { type Db, failing, keyText } from "./db.js"

const table = "switchgear_budgets"

interface Found {
  readonly now: number
  readonly start: number | null
  readonly tokens: number | null
  readonly usd: number | null
}

export const make = (db: Db): Budget.Service => {
  const { sql } = db
  const name = sql(table)
  const find = (org: string, window: number) =>
    Effect.flatMap(
      db.now,
      (now) => sql<Found>`SELECT found.start, found.tokens, found.usd, present.now
        FROM (SELECT ${now} AS now) AS present LEFT JOIN ${name} AS found ON found.key = ${keyText(org, String(window))}`
    )
  return {
    spent: (org, window) =>
      Effect.map(find(org, window), ([found]) => {
        const now = Math.floor(found?.now ?? 0)
        const start = now - (now % window)
        const runs = found?.start === start
        return {
          tokens: runs ? (found.tokens ?? 0) : 0,
          usd: runs ? (found.usd ?? 0) : 0,
          left: window - (now % window)
        }
      }).pipe(failing("budgets")),
    // One statement: what two replicas charge adds up.
    charge: (org, window, { tokens, usd }) =>
      Effect.gen(function* () {
        const [found] = yield* find(org, window)
        const now = Math.floor(found?.now ?? 0)
        const start = now - (now % window)
        yield* sql`INSERT INTO ${name} (key, start, ends, tokens, usd)
          VALUES (${keyText(org, String(window))}, ${start}, ${start + window}, ${tokens}, ${usd})
          ON CONFLICT (key) DO UPDATE SET
            tokens = CASE WHEN ${name}.start < excluded.start THEN 0 ELSE ${name}.tokens END + excluded.tokens,
            usd = CASE WHEN ${name}.start < excluded.start THEN 0 ELSE ${name}.usd END + excluded.usd,
            start = CASE WHEN ${name}.start < excluded.start THEN excluded.start ELSE ${name}.start END,
            ends = CASE WHEN ${name}.start < excluded.start THEN excluded.ends ELSE ${name}.ends END`
      }).pipe(failing("budgets"))
  }
}
