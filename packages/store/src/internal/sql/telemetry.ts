import * as Health from "@switchgear/core/Health"
import * as Telemetry from "@switchgear/routing/TelemetryStore"
import * as Effect from "effect/Effect"
import { decodeRow } from "../rows.js"
import { type Db, failing } from "./db.js"

const table = "switchgear_calls"

/** Rows in one statement: SQLite takes 32 766 parameters, PostgreSQL 65 535. */
const perStatement = 500

const sampled = (row: Telemetry.Row) => {
  const sample = Telemetry.sampleOf(row)
  const { latency, successes, timed } = sample === undefined ? Health.empty : Health.record(Health.empty, sample.call)
  return {
    id: row.id,
    at: row.at,
    provider: sample === undefined ? null : JSON.stringify(sample.provider),
    successes,
    timed,
    latency,
    value: JSON.stringify(row)
  }
}

const text = (json: string): string => {
  const value: unknown = JSON.parse(json)
  return typeof value === "string" ? value : ""
}

interface Sums {
  readonly provider: string
  readonly calls: number | string
  readonly successes: number
  readonly timed: number
  readonly latency: number
}

export const make = (db: Db): Telemetry.Service => {
  const { sql } = db
  const name = sql(table)
  const older = (age: number) => Effect.map(db.now, (now) => sql`${now} - ${age}`)
  return {
    // A row that is there already is left: a batch whose answer was lost may be sent again.
    append: (rows) =>
      Effect.forEach(
        Array.from({ length: Math.ceil(rows.length / perStatement) }, (_, i) =>
          rows.slice(i * perStatement, (i + 1) * perStatement)
        ),
        (batch) => sql`INSERT INTO ${name} ${sql.insert(batch.map(sampled))} ON CONFLICT (id) DO NOTHING`,
        { discard: true }
      ).pipe(rows.length > perStatement ? sql.withTransaction : (one) => one, failing("telemetry")),
    aggregate: (window) =>
      Effect.flatMap(
        older(window),
        (since) => sql<Sums>`SELECT provider, COUNT(*) AS calls, SUM(successes) AS successes, SUM(timed) AS timed,
          SUM(latency) AS latency FROM ${name} WHERE at > ${since} AND provider IS NOT NULL GROUP BY provider`
      ).pipe(
        Effect.map((sums) =>
          sums.map(({ calls, latency, provider, successes, timed }) => ({
            provider: text(provider),
            calls: Number(calls),
            successes,
            timed,
            latency
          }))
        ),
        failing("telemetry")
      ),
    recent: (limit) =>
      sql<{
        readonly value: string
      }>`SELECT value FROM ${name} ORDER BY seq DESC LIMIT ${Math.max(0, Math.trunc(limit))}`.pipe(
        Effect.map((rows) =>
          rows.flatMap(({ value }) => {
            const row = decodeRow(value)
            return row === undefined ? [] : [row]
          })
        ),
        failing("telemetry")
      ),
    purge: (age) =>
      Effect.flatMap(older(age), (before) => sql`DELETE FROM ${name} WHERE at <= ${before} RETURNING seq`).pipe(
        Effect.map((gone) => gone.length),
        failing("telemetry")
      )
  }
}
