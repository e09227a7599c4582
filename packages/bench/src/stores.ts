import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as TelemetryStore from "@switchgear/routing/TelemetryStore"
import * as ClickHouseStore from "@switchgear/store/clickhouse"
import * as PostgresStore from "@switchgear/store/postgres"
import * as Sqlite from "@switchgear/store/sqlite"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type { Aim, Subject } from "./report.js"

const rows = 10_000
const batch = 500
const rounds = 21

const rowOf = (id: string, i: number, at: number): TelemetryStore.Row => {
  const served = i % 10 !== 0
  return {
    id: `${id}-${i}`,
    at,
    org: `org-${i % 20}`,
    requestedModel: "gpt-4o",
    servedModel: "gpt-4o",
    servedProvider: `provider-${i % 8}`,
    outcome: served ? "success" : "timeout",
    status: served ? 200 : 504,
    attempts: [
      {
        model: "gpt-4o",
        provider: `provider-${i % 8}`,
        kind: served ? "served" : "timeout",
        latency: 100 + (i % 900),
        state: "Closed"
      }
    ],
    latency: 100 + (i % 900),
    timeToFirstOutput: 90,
    tokensIn: 800,
    tokensOut: 200,
    cost: 0.0031,
    originalModel: null,
    fallbackModel: null,
    fallbackReason: "",
    replayed: false,
    cached: false,
    byo: false,
    notes: []
  }
}

interface Figures {
  readonly append: number
  readonly aggregate: number
  readonly worst: number
}

const measured: Effect.Effect<Figures, unknown, TelemetryStore.TelemetryStore> = Effect.gen(function* () {
  const store = yield* TelemetryStore.TelemetryStore
  const now = yield* Clock.currentTimeMillis
  yield* store.purge(-86_400_000)
  const begun = performance.now()
  for (let from = 0; from < rows; from += batch) {
    yield* store.append(Array.from({ length: batch }, (_, i) => rowOf(`bench-${now}`, from + i, now - (from + i) * 60)))
  }
  const append = performance.now() - begun
  const times: Array<number> = []
  for (let round = 0; round < rounds; round++) {
    const start = performance.now()
    const samples = yield* store.aggregate(900_000)
    times.push(performance.now() - start)
    const seen = samples.reduce((sum, { calls }) => sum + calls, 0)
    if (seen !== rows) return yield* Effect.fail(new Error(`${seen} of ${rows} rows in the aggregate`))
  }
  yield* store.purge(-86_400_000)
  times.sort((a, b) => a - b)
  return { append, aggregate: times[rounds >> 1] ?? Number.NaN, worst: times[rounds - 1] ?? Number.NaN }
})

const url = (name: string, otherwise: string): Redacted.Redacted => Redacted.make(process.env[name] ?? otherwise)

const backends = (file: string): Readonly<Record<string, Layer.Layer<TelemetryStore.TelemetryStore, unknown>>> => ({
  memory: TelemetryStore.layerMemory({ capacity: rows }),
  SQLite: Sqlite.layer({ path: file }),
  PostgreSQL: PostgresStore.layer({
    url: url("BENCH_POSTGRES_URL", "postgres://postgres@127.0.0.1:5432/test"),
    schema: "switchgear_bench",
    queryTimeout: 10_000
  }),
  ClickHouse: ClickHouseStore.layer({
    url: url("BENCH_CLICKHOUSE_URL", `http://127.0.0.1:${process.env["SWITCHGEAR_CLICKHOUSE_PORT"] ?? "8123"}`)
  })
})

/** What health asks of telemetry: an aggregate over 10 000 rows of a quarter of an hour. A server that is not there is left out. */
export const stores: Subject = {
  name: "stores",
  run: async () => {
    const folder = mkdtempSync(join(tmpdir(), "switchgear-bench-"))
    const table: Array<ReadonlyArray<string>> = []
    const aims: Array<Aim> = []
    for (const [name, layer] of Object.entries(backends(join(folder, "bench.db")))) {
      const found = await Effect.runPromise(Effect.either(Effect.provide(measured, layer)))
      if (found._tag === "Left") {
        table.push([name, "not there", "", ""])
        continue
      }
      const { aggregate, append, worst } = found.right
      table.push([name, append.toFixed(0), aggregate.toFixed(2), worst.toFixed(2)])
      aims.push({ what: `an aggregate over ${rows} rows: ${name}`, value: aggregate, atMost: 50, unit: " ms" })
    }
    rmSync(folder, { recursive: true, force: true })
    return {
      tables: [
        {
          title: `Telemetry of ${rows} rows, in ms of the wall clock`,
          columns: ["", `append, ${batch} at a time`, "aggregate, median", "worst"],
          rows: table
        }
      ],
      aims
    }
  }
}
