import { describe } from "@effect/vitest"
import { CircuitBreakerStore } from "@switchgear/breaker/CircuitBreakerStore"
import * as Claim from "@switchgear/core/Claim"
import { IdempotencyStore } from "@switchgear/routing/IdempotencyStore"
import * as RedisStore from "@switchgear/store/redis"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { Redis } from "ioredis"
import { afterAll } from "vitest"
import * as losses from "../support/losses.js"

const prefix = `switchgear-loss-${process.pid}:`
const admin = new Redis("redis://127.0.0.1:6379", { lazyConnect: true, maxRetriesPerRequest: 1 })

afterAll(async () => {
  const left = await admin.keys(`${prefix}*`)
  if (left.length > 0) await admin.del(left)
  admin.disconnect()
})

const at = (commandTimeout: number) => (port: number) =>
  RedisStore.layer({
    url: Redacted.make(`redis://127.0.0.1:${port}`),
    prefix,
    commandTimeout,
    connectTimeout: commandTimeout
  })

describe("Redis", () => {
  losses.claims(6_379, at(5_000))
  losses.bounded(6_379, at(1_000), [
    Effect.flatMap(CircuitBreakerStore, (store) => store.modify("a", (stored) => [1, stored])),
    Effect.flatMap(CircuitBreakerStore, (store) => store.entries),
    Effect.flatMap(CircuitBreakerStore, (store) => store.remove("a")),
    Effect.flatMap(IdempotencyStore, (store) =>
      store.claim({ org: "acme", key: "a" }, { owner: "o", fingerprint: "f" }, Claim.defaults)
    )
  ])
})
