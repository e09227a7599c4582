import { createClient } from "@clickhouse/client"
import { describe, it } from "@effect/vitest"
import * as TelemetryStore from "@switchgear/routing/TelemetryStore"
import * as ClickHouseStore from "@switchgear/store/clickhouse"
import * as StoreLaws from "@switchgear/testing/StoreLaws"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { afterAll, assert, beforeAll } from "vitest"
import { rowOf } from "../support/rows.js"

const server = `http://127.0.0.1:${process.env["SWITCHGEAR_CLICKHOUSE_PORT"] ?? "8123"}`
const database = `switchgear_test_${process.pid}`
const admin = createClient({ url: server })

beforeAll(() => admin.command({ query: `CREATE DATABASE ${database}` }))
afterAll(async () => {
  await admin.command({ query: `DROP DATABASE ${database}` })
  await admin.close()
})

const layer = ClickHouseStore.layer({ url: Redacted.make(`${server}/${database}`), requestTimeout: 20_000 })

describe("ClickHouse keeps telemetry", () => {
  for (const { check, name } of StoreLaws.telemetry) it.live(name, () => Effect.provide(check, layer))
})

const ask = <A>(query: string) =>
  Effect.promise(async () => {
    const answer = await admin.query({ query, format: "JSONEachRow" })
    return answer.json<A>()
  })

describe("ClickHouse", () => {
  it.live("shows each call as columns, nulls where nothing was substituted", () =>
    Effect.gen(function* () {
      const store = yield* TelemetryStore.TelemetryStore
      yield* store.append([
        rowOf("plain"),
        { ...rowOf("rescued"), originalModel: "gpt-4o", fallbackModel: "llama", fallbackReason: "timeout" }
      ])
      const rows = yield* ask(
        `SELECT id, original_model, fallback_model, fallback_reason, toUnixTimestamp(time) AS time
          FROM ${database}.llm_traces FINAL WHERE id IN ('plain', 'rescued') ORDER BY id`
      )
      assert.deepStrictEqual(rows, [
        { id: "plain", original_model: null, fallback_model: null, fallback_reason: "", time: 1_700_000_000 },
        {
          id: "rescued",
          original_model: "gpt-4o",
          fallback_model: "llama",
          fallback_reason: "timeout",
          time: 1_700_000_000
        }
      ])
    }).pipe(Effect.provide(layer))
  )

  it.live("takes any text, a surrogate that stands alone too, and gives it back as it was", () =>
    Effect.gen(function* () {
      const store = yield* TelemetryStore.TelemetryStore
      yield* store.purge(-3_600_000)
      const odd = { ...rowOf("'); DROP TABLE llm_traces; --\\\n\t\u0000"), org: "\ud800", notes: ["\udc00", "'\"`"] }
      yield* store.append([odd])
      assert.deepStrictEqual(yield* store.recent(1), [odd])
    }).pipe(Effect.provide(layer))
  )
})
