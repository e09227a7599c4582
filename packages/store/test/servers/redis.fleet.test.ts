import * as Store from "@switchgear/breaker/CircuitBreakerStore"
import { Redis } from "ioredis"
import { afterAll } from "vitest"
import { fleetProofs } from "../support/fleetProofs.js"

const url = "redis://127.0.0.1:6379"
const prefix = `switchgear-fleet-${process.pid}:`
const admin = new Redis(url, { lazyConnect: true, maxRetriesPerRequest: 1 })

afterAll(async () => {
  const left = await admin.keys(`${prefix}*`)
  if (left.length > 0) await admin.del(left)
  admin.disconnect()
})

fleetProofs("Redis", { backend: "redis", url, space: prefix }, async (space, name) => {
  const text = await admin.get(`${space}breaker:${JSON.stringify(name)}`)
  return text === null ? undefined : Store.decode(text)
})
