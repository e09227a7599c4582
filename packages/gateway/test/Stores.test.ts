import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import { afterAll, expect } from "vitest"
import * as Config from "../src/Config.js"
import * as Gateway from "../src/Gateway.js"
import { answersTravel, policiesTravel, providers } from "./replicas.js"

const folder = mkdtempSync(join(tmpdir(), "switchgear-gateway-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const env = { ONE: "http://127.0.0.1:9/v1", TWO: "http://127.0.0.1:9/v1" }
const faults = (text: string) =>
  Either.match(Config.decode(`${text}\n${providers}`, { env }), { onRight: () => [], onLeft: (error) => error.faults })

describe("store and telemetry in the file", () => {
  it.each([
    ["store: {}", "store.kind", /is missing/],
    ["store: { kind: sqlit }", "store.kind", /did you mean "sqlite"/],
    ["store: { kind: sqlite }", "store", /needs the path of its file/],
    ["store: { kind: sqlite, path: a.db, url: 'redis://x' }", "store.url", /remove it/],
    ["store: { kind: redis }", "store", /needs a url such as "redis:/],
    ["store: { kind: redis, url: 'http://secret:6379' }", "store.url", /must be an address such as "redis:/],
    ["store: { kind: postgres, url: 'redis://secret' }", "store.url", /must be an address such as "postgres:/],
    ["store: { kind: memory, mode: durable }", "store", /keeps nothing that is durable/],
    ["store: { kind: sqlite, path: a.db, mode: eternal }", "store.mode", /local, durable, shared/],
    ["store: { kind: sqlite, path: a.db, onStoreFailure: die }", "store.onStoreFailure", /local, closed/],
    ["store: { kind: sqlite, path: a.db, pollInterval: 0 }", "store.pollInterval", /above 0/],
    ["telemetry: { kind: redis, url: 'redis://x' }", "telemetry.kind", /clickhouse/],
    ["telemetry: { kind: clickhouse, url: 'postgres://secret' }", "telemetry.url", /http:/]
  ])("%s is refused", (text, path, message) => {
    const found = faults(text)
    expect(found.map((fault) => fault.path)).toEqual([path])
    expect(found[0]?.message).toMatch(message)
    expect(found[0]?.message).not.toContain("secret")
  })

  it("a breaker that is to outlive the process needs a store", () => {
    const text = providers.replace("breaker: {", "breaker: { mode: durable,")
    const decoded = Config.decode(text, { env })
    expect(Either.isLeft(decoded) && decoded.left.message).toMatch(
      /store: is missing, and the breaker of provider "one"/
    )
    expect(Either.isRight(Config.decode(`store: { kind: sqlite, path: a.db }\n${text}`, { env }))).toBe(true)
  })

  it("telemetry is kept beside the breakers where that can be, and else in memory", () => {
    const kept = (store: string) => Either.getOrThrow(Config.decode(`${store}\n${providers}`, { env })).telemetry.kind
    expect(kept("store: { kind: sqlite, path: a.db }")).toBe("sqlite")
    expect(kept("store: { kind: redis, url: 'redis://127.0.0.1' }")).toBe("memory")
    expect(kept("")).toBe("memory")
  })
})

const refusal = (path: string) =>
  Effect.gen(function* () {
    const config = yield* Config.decode(`store: { kind: sqlite, path: ${JSON.stringify(path)} }\n${providers}`, { env })
    return yield* Effect.scoped(Effect.flip(Layer.build(Gateway.layerStores(config))))
  })

describe("a store that cannot be opened", () => {
  it.live("a folder in its place, a file where its folder should be: the start is refused, naming the path", () =>
    Effect.gen(function* () {
      writeFileSync(join(folder, "a-file"), "")
      for (const wrong of [join(folder, "a-file", "inside.db"), folder]) {
        const error = yield* refusal(wrong)
        expect(error._tag).toBe("ConfigError")
        expect(error.message).toMatch(/store\.path: .*: (its folder is not there|it cannot be opened)/)
        expect(error.message).toContain(wrong)
      }
    })
  )
})

describe("gateways over one SQLite file", () => {
  const store = (name: string) => `{ kind: sqlite, path: ${JSON.stringify(join(folder, name))}, pollInterval: 100 }`
  it.scopedLive("a key that one has answered is replayed by the other", () => answersTravel(store("answers.db")))
  it.scopedLive("clients and policies put on one are in force on the other", () => policiesTravel(store("policies.db")))
})
