import { describe, it } from "@effect/vitest"
import * as Claim from "@switchgear/core/Claim"
import { IdempotencyStore } from "@switchgear/routing/IdempotencyStore"
import * as RedisStore from "@switchgear/store/redis"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { Redis } from "ioredis"
import { afterAll, assert } from "vitest"
import { kills, rounds, told } from "../kill/rounds.js"

const prefix = `switchgear-kill-${process.pid}:`
const admin = new Redis("redis://127.0.0.1:6379", { lazyConnect: true, maxRetriesPerRequest: 1 })

afterAll(async () => {
  const left = await admin.keys(`${prefix}*`)
  for (let from = 0; from < left.length; from += 1_000) await admin.del(left.slice(from, from + 1_000))
  admin.disconnect()
})

describe("a process that is killed at any moment", () => {
  it.live(
    "finds in Redis whatever was acknowledged",
    () =>
      Effect.gen(function* () {
        const report = yield* Effect.promise(() => rounds("redis", prefix, kills))
        const claims = yield* Effect.flatMap(IdempotencyStore, (store) =>
          Effect.forEach(report.committed, (key) =>
            store.claim({ org: "acme", key }, { owner: "two", fingerprint: "f" }, Claim.defaults)
          )
        ).pipe(
          Effect.provide(
            RedisStore.layer({ url: Redacted.make("redis://127.0.0.1:6379"), prefix, commandTimeout: 5_000 })
          )
        )
        assert.isTrue(claims.every(({ _tag }) => _tag === "Replay"))
        assert.isAbove(report.announced, 0)
        console.info(told("Redis", report))
      }),
    60_000 + kills * 20_000
  )
})
