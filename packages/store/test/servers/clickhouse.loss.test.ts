import { createClient } from "@clickhouse/client"
import { describe } from "@effect/vitest"
import { TelemetryStore } from "@switchgear/routing/TelemetryStore"
import * as ClickHouseStore from "@switchgear/store/clickhouse"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { afterAll, beforeAll } from "vitest"
import * as losses from "../support/losses.js"
import { rowOf } from "../support/rows.js"

const server = Number(process.env["SWITCHGEAR_CLICKHOUSE_PORT"] ?? 8_123)
const database = `switchgear_loss_${process.pid}`
const admin = createClient({ url: `http://127.0.0.1:${server}` })

beforeAll(() => admin.command({ query: `CREATE DATABASE ${database}` }))
afterAll(async () => {
  await admin.command({ query: `DROP DATABASE ${database}` })
  await admin.close()
})

const at = (requestTimeout: number) => (port: number) =>
  ClickHouseStore.layer({ url: Redacted.make(`http://127.0.0.1:${port}/${database}`), requestTimeout })

describe("ClickHouse", () => {
  losses.telemetry(server, at(20_000))
  losses.bounded(server, at(1_000), [
    Effect.flatMap(TelemetryStore, (store) => store.append([rowOf("a")])),
    Effect.flatMap(TelemetryStore, (store) => store.recent(1)),
    Effect.flatMap(TelemetryStore, (store) => store.aggregate(1_000)),
    Effect.flatMap(TelemetryStore, (store) => store.purge(0))
  ])
})
