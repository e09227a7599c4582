import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, it } from "@effect/vitest"
import * as Claim from "@switchgear/core/Claim"
import { IdempotencyStore } from "@switchgear/routing/IdempotencyStore"
import { TelemetryStore } from "@switchgear/routing/TelemetryStore"
import * as Sqlite from "@switchgear/store/sqlite"
import * as Effect from "effect/Effect"
import { afterAll, assert } from "vitest"
import { kills, rounds, setAside, told } from "./kill/rounds.js"

const folder = mkdtempSync(join(tmpdir(), "switchgear-killed-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe("a process that is killed at any moment", () => {
  it.live(
    "finds in its SQLite file whatever was acknowledged",
    () =>
      Effect.gen(function* () {
        const path = join(folder, "switchgear.db")
        const report = yield* Effect.promise(() => rounds("sqlite", path, kills))
        const { claims, rows } = yield* Effect.gen(function* () {
          const store = yield* IdempotencyStore
          const claims = yield* Effect.forEach(report.committed, (key) =>
            store.claim({ org: "acme", key }, { owner: "two", fingerprint: "f" }, Claim.defaults)
          )
          const rows = yield* Effect.flatMap(TelemetryStore, (telemetry) => telemetry.recent(10_000_000))
          return { claims, rows: new Set(rows.map(({ id }) => id)) }
        }).pipe(Effect.provide(Sqlite.layer({ path })))
        assert.isTrue(claims.every(({ _tag }) => _tag === "Replay"))
        for (const batch of report.appended) for (let i = 0; i < 20; i++) assert.isTrue(rows.has(`${batch}-${i}`))
        assert.deepStrictEqual(setAside(folder), [])
        assert.isAbove(report.announced, 0)
        console.info(told("SQLite", report))
      }),
    60_000 + kills * 20_000
  )
})
