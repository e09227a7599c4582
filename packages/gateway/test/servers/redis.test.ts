import { describe, it } from "@effect/vitest"
import { Redis } from "ioredis"
import { afterAll } from "vitest"
import { answersTravel, breakersTravel } from "../replicas.js"

const namespace = `gatewaytest${process.pid}`
const store = `{ kind: redis, url: "redis://127.0.0.1:6379", namespace: ${namespace} }`

afterAll(async () => {
  const admin = new Redis("redis://127.0.0.1:6379")
  const keys = await admin.keys(`${namespace}:*`)
  if (keys.length > 0) await admin.del(keys)
  admin.disconnect()
})

describe("gateways over one Redis", () => {
  it.scopedLive("a breaker opened on one is open on the other", () => breakersTravel(store))
  it.scopedLive("a key that one has answered is replayed by the other", () => answersTravel(store))
})
