import { execFileSync } from "node:child_process"
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, it } from "@effect/vitest"
import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
import * as Registry from "@switchgear/breaker/CircuitBreakerRegistry"
import * as Store from "@switchgear/breaker/CircuitBreakerStore"
import type { RegistryEvent } from "@switchgear/breaker/RegistryEvent"
import * as Policy from "@switchgear/core/Policy"
import { TelemetryStore } from "@switchgear/routing/TelemetryStore"
import * as Sqlite from "@switchgear/store/sqlite"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { afterAll, assert } from "vitest"
import { rowOf } from "./support/rows.js"

/** Mounting a disk needs root; where that is not to be had these tests are not collected. */
const mounted = (...options: ReadonlyArray<string>): string => {
  const folder = mkdtempSync(join(tmpdir(), "switchgear-disk-"))
  execFileSync("mount", ["-t", "tmpfs", ...options, "tmpfs", folder])
  return folder
}

// Lazily: libsql lets go of a file only when its statements are collected.
const unmount = (folder: string): void => {
  execFileSync("umount", ["-l", folder])
  rmSync(folder, { recursive: true, force: true })
}

const disk = mounted("-o", "size=4m")
afterAll(() => unmount(disk))

const ballast = join(disk, "ballast")

/** Takes all the room that is left. */
const fill = Effect.sync(() => {
  for (const size of [65_536, 4_096, 512]) {
    for (let file = 0; ; file++) {
      try {
        mkdirSync(ballast, { recursive: true })
        writeFileSync(join(ballast, `${size}-${file}`), Buffer.alloc(size))
      } catch {
        rmSync(join(ballast, `${size}-${file}`), { force: true })
        break
      }
    }
  }
})
const empty = Effect.sync(() => rmSync(ballast, { recursive: true, force: true }))

const policy = Policy.consecutive({ failureThreshold: 2, cooldown: { base: "1 hour" } })

const until = <E, R>(condition: Effect.Effect<boolean, E, R>): Effect.Effect<void, E, R> =>
  Effect.flatMap(condition, (met) => (met ? Effect.void : Effect.zipRight(Effect.sleep(10), until(condition))))

describe("a disk that is full", () => {
  it.live("costs a write a typed error; it works again on the same connection once there is room", () =>
    Effect.gen(function* () {
      const telemetry = yield* TelemetryStore
      const batch = (name: number) => Array.from({ length: 50 }, (_, i) => rowOf(`${name}-${i}`))
      let written = 0
      const more = Effect.suspend(() =>
        Effect.tap(telemetry.append(batch(written)), () =>
          Effect.sync(() => {
            written++
          })
        )
      )
      yield* more
      yield* fill
      const error = yield* Effect.flip(Effect.forever(more))
      assert.deepInclude(error, { _tag: "StoreError", store: "telemetry" })
      assert.strictEqual((yield* telemetry.recent(100_000)).length, written * 50)
      yield* empty
      yield* more
      assert.strictEqual((yield* telemetry.recent(100_000)).length, written * 50)
    }).pipe(Effect.provide(Sqlite.layer({ path: join(disk, "telemetry.db") })), Effect.ensuring(wipe("telemetry.db")))
  )

  it.live(
    "stops no call: breakers go on in this process, with an event, and are written when there is room again",
    () =>
      Effect.gen(function* () {
        const events: Array<RegistryEvent> = []
        const registry = yield* Registry.makeStored({ policy, writeEvery: 50 })
        yield* Effect.forkScoped(Stream.runForEach(registry.events, (event) => Effect.sync(() => events.push(event))))
        const first = yield* registry.get("first")
        yield* Effect.ignore(CircuitBreaker.guard(Effect.void, first))
        yield* fill
        // The log has room of its own for some writes.
        const names = Array.from({ length: 2_000 }, (_, i) => `breaker-${i}-${"x".repeat(200)}`)
        for (const name of names) {
          const breaker = yield* registry.get(name)
          yield* Effect.replicateEffect(Effect.ignore(CircuitBreaker.guard(Effect.fail("down"), breaker)), 2)
          assert.strictEqual((yield* CircuitBreaker.view(breaker)).state, "Open")
          assert.isTrue(
            CircuitBreaker.isCircuitOpen(yield* Effect.flip(CircuitBreaker.guard(Effect.fail("down"), breaker)))
          )
          if (events.length > 0) break
          yield* Effect.yieldNow()
        }
        yield* until(Effect.sync(() => events.length > 0))
        assert.deepInclude(events[0], { _tag: "StoreUnavailable", reason: "Full" })
        yield* empty
        yield* until(Effect.sync(() => events.at(-1)?._tag === "StoreAvailable"))
        const open = (yield* registry.statuses).filter(({ view }) => view.state === "Open").map(({ name }) => name)
        const store = yield* Store.CircuitBreakerStore
        yield* until(
          Effect.map(store.entries, (entries) => {
            const kept = new Map(entries.map(([name, { snapshot }]) => [name, snapshot.state._tag]))
            return open.every((name) => kept.get(name) === "Open")
          })
        )
      }).pipe(
        Effect.scoped,
        Effect.provide(Sqlite.layer({ path: join(disk, "breakers.db") })),
        Effect.ensuring(Effect.zipRight(empty, wipe("breakers.db")))
      )
  )

  it.live("is named when a file is to be begun on it", () =>
    Effect.gen(function* () {
      yield* fill
      const path = join(disk, "late.db")
      const error = yield* Effect.flip(Effect.scoped(Layer.build(Sqlite.layer({ path }))))
      assert.deepInclude(error, { _tag: "FileUnusable", path, problem: "Full" })
    }).pipe(Effect.ensuring(Effect.zipRight(empty, wipe("late.db"))))
  )
})

describe("a disk that may only be read", () => {
  it.live("is named, for a file that is there and for one that is not", () =>
    Effect.gen(function* () {
      const folder = yield* Effect.acquireRelease(
        Effect.sync(() => mounted()),
        (folder) => Effect.sync(() => unmount(folder))
      )
      const [model, there, missing] = [join(disk, "model.db"), join(folder, "there.db"), join(folder, "missing.db")]
      yield* Effect.scoped(Layer.build(Sqlite.layer({ path: model })))
      copyFileSync(model, there)
      execFileSync("mount", ["-o", "remount,ro", folder])
      for (const path of [there, missing]) {
        const error = yield* Effect.flip(Effect.scoped(Layer.build(Sqlite.layer({ path }))))
        assert.deepInclude(error, { _tag: "FileUnusable", path, problem: "ReadOnly" })
      }
      const path = join(folder, "folder", "a.db")
      const error = yield* Effect.flip(Effect.scoped(Layer.build(Sqlite.layer({ path }))))
      assert.deepInclude(error, { _tag: "FileUnusable", path, problem: "Folder" })
    }).pipe(Effect.scoped)
  )
})

const wipe = (name: string) =>
  Effect.sync(() => {
    for (const suffix of ["", "-wal", "-shm"]) rmSync(join(disk, name + suffix), { force: true })
  })
