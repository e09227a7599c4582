import type { StoreError } from "@switchgear/routing/StoreError"
import type * as Telemetry from "@switchgear/routing/TelemetryStore"
import * as Effect from "effect/Effect"
import { decodeRow } from "../rows.js"
import type { Client } from "./client.js"
import { columnsOf, create, table } from "./table.js"

/** 64-bit integers come as strings. */
interface Sums {
  readonly provider: string
  readonly calls: string | number
  readonly successes: string | number
  readonly timed: string | number
  readonly latency: number
}

/**
 * ms of the latest rows to look through, the next when there are too few: the server sorts all that it looks through.
 * The last: all there are.
 */
const spans = [60_000, 3_600_000, 86_400_000, Number.POSITIVE_INFINITY]

/** Looks for the end of a deletion, which the server does in the background. */
const looks = 100

export const make = (client: Client): Telemetry.Service => {
  let made = false
  /** The table is made by whoever comes first, so that starting does not need the server. */
  const onTable = <A>(use: Effect.Effect<A, StoreError>): Effect.Effect<A, StoreError> =>
    Effect.suspend(() => (made ? Effect.void : client.command(create))).pipe(
      Effect.zipRight(use),
      Effect.onExit(({ _tag }) =>
        Effect.sync(() => {
          made = _tag === "Success"
        })
      )
    )
  // Its `now` knows seconds only, and statements have no parameters here: nothing but numbers is put into one.
  const now = Effect.map(
    client.query<{ readonly now: string | number }>("SELECT toInt64(toUnixTimestamp(now())) * 1000 AS now"),
    ([row]) => Number(row?.now ?? 0)
  )
  const since = (time: number, span: number): string =>
    Number.isFinite(span) ? `at > ${Math.trunc(time - span)}` : "1"
  const latest = (time: number, limit: number, [span, ...wider]: ReadonlyArray<number>) =>
    Effect.flatMap(
      client.query<{ readonly row: string }>(
        `SELECT row FROM ${table} FINAL WHERE ${since(time, span ?? Number.POSITIVE_INFINITY)}
          ORDER BY at DESC, id DESC LIMIT ${limit}`
      ),
      (rows): Effect.Effect<ReadonlyArray<{ readonly row: string }>, StoreError> =>
        rows.length >= limit || wider.length === 0 ? Effect.succeed(rows) : latest(time, limit, wider)
    )
  const deleted = (left: number): Effect.Effect<void, StoreError> =>
    Effect.flatMap(
      client.query<unknown>(
        `SELECT 1 FROM system.mutations WHERE database = currentDatabase() AND table = '${table}' AND is_done = 0 LIMIT 1`
      ),
      (running) =>
        running.length === 0 || left === 0 ? Effect.void : Effect.zipRight(Effect.sleep(50), deleted(left - 1))
    )
  return {
    append: (rows) => (rows.length === 0 ? Effect.void : onTable(client.insert(table, rows.map(columnsOf)))),
    aggregate: (window) =>
      onTable(
        Effect.flatMap(now, (time) =>
          client.query<Sums>(
            `SELECT sample_provider AS provider, count() AS calls, sum(sample_success) AS successes,
              sum(sample_timed) AS timed, sum(sample_latency) AS latency
            FROM ${table} FINAL WHERE ${since(time, window)} AND sampled = 1 GROUP BY sample_provider`
          )
        )
      ).pipe(
        Effect.map((sums) =>
          sums.map(({ calls, latency, provider, successes, timed }) => ({
            provider,
            calls: Number(calls),
            successes: Number(successes),
            timed: Number(timed),
            latency
          }))
        )
      ),
    recent: (limit) => {
      const wanted = Math.max(0, Math.trunc(limit))
      if (wanted === 0) return Effect.succeed([])
      return onTable(Effect.flatMap(now, (time) => latest(time, wanted, spans))).pipe(
        Effect.map((found) =>
          found.flatMap(({ row }) => {
            const decoded = decodeRow(row)
            return decoded === undefined ? [] : [decoded]
          })
        )
      )
    },
    purge: (age) =>
      onTable(
        Effect.gen(function* () {
          const where = `at <= ${Math.trunc((yield* now) - age)}`
          const [found] = yield* client.query<{ readonly count: string | number }>(
            `SELECT count() AS count FROM ${table} FINAL WHERE ${where}`
          )
          const count = Number(found?.count ?? 0)
          if (count === 0) return 0
          yield* client.command(`ALTER TABLE ${table} DELETE WHERE ${where}`)
          yield* deleted(looks)
          return count
        })
      )
  }
}
