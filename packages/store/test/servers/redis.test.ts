import { createServer, type Server, type Socket } from "node:net"
import { describe, it } from "@effect/vitest"
import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
import * as Registry from "@switchgear/breaker/CircuitBreakerRegistry"
import * as Store from "@switchgear/breaker/CircuitBreakerStore"
import * as Policy from "@switchgear/core/Policy"
import * as RedisStore from "@switchgear/store/redis"
import * as StoreLaws from "@switchgear/testing/StoreLaws"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { Redis } from "ioredis"
import { afterAll, assert } from "vitest"

const url = "redis://127.0.0.1:6379"
const prefix = `switchgear-test[${process.pid}]*:`

/** Its limits are those of a busy test machine. */
const layer = RedisStore.layer({ url: Redacted.make(url), prefix, commandTimeout: 5_000, connectTimeout: 5_000 })

const admin = new Redis(url, { lazyConnect: true, maxRetriesPerRequest: 1 })
const keys = () => admin.keys(`switchgear-test\\[${process.pid}\\]\\*:*`)

afterAll(async () => {
  const left = await keys()
  if (left.length > 0) await admin.del(left)
  admin.disconnect()
})

describe("Redis keeps breakers", () => {
  for (const { check, name } of StoreLaws.breakers) it.live(name, () => Effect.provide(check, layer))
})

describe("Redis keeps claims", () => {
  for (const { check, name } of StoreLaws.idempotency) it.live(name, () => Effect.provide(check, layer))
})

const view = Effect.gen(function* () {
  const registry = yield* Registry.CircuitBreakerRegistry
  const breaker = yield* registry.get("durable")
  const found = yield* CircuitBreaker.view(breaker)
  for (let i = 0; i < 5; i++) yield* Effect.ignore(CircuitBreaker.guard(Effect.fail("down"), breaker))
  return found.state
})

describe("Redis", () => {
  it.live("is what a durable breaker goes on from, and lets an Open expire no sooner than its cooldown ends", () =>
    Effect.gen(function* () {
      const durable = Registry.layerStored({ policy: Policy.hosted }).pipe(Layer.provide(layer))
      assert.strictEqual(yield* Effect.provide(view, durable), "Closed")
      assert.strictEqual(yield* Effect.provide(view, durable), "Open")
      const life = yield* Effect.promise(() => admin.pttl(`${prefix}breaker:"durable"`))
      assert.isAbove(life, 86_400_000)
    })
  )

  it.live("answers a command once it is connected, and with a typed error at once when it is closed", () =>
    Effect.gen(function* () {
      const store = yield* Effect.provide(Store.CircuitBreakerStore, layer)
      const error = yield* Effect.flip(store.modify("a", (stored) => [1, stored]))
      assert.deepInclude(error, { _tag: "StoreError", reason: "Unavailable" })
    })
  )
})

const listening = (handle: (socket: Socket) => void) =>
  Effect.acquireRelease(
    Effect.async<{ readonly server: Server; readonly port: number }>((resume) => {
      const server = createServer(handle)
      server.listen(0, "127.0.0.1", () => {
        const address = server.address()
        resume(Effect.succeed({ server, port: typeof address === "object" && address !== null ? address.port : 0 }))
      })
    }),
    ({ server }) => Effect.sync(() => server.close())
  )

describe("a server that is away", () => {
  for (const [what, handle] of [
    ["hangs", () => {}],
    ["hangs up", (socket: Socket) => socket.destroy()],
    ["speaks nonsense", (socket: Socket) => socket.on("error", () => {}).end("nonsense\r\n")]
  ] as const) {
    it.live(`that ${what} costs a typed error in bounded time, and no start`, () =>
      Effect.gen(function* () {
        const sockets = new Set<Socket>()
        const { port } = yield* listening((socket) => {
          sockets.add(socket)
          handle(socket)
        })
        const away = RedisStore.layer({ url: Redacted.make(`redis://127.0.0.1:${port}`) })
        const program = Effect.flatMap(Store.CircuitBreakerStore, (store) =>
          Effect.all([
            Effect.flip(store.modify("a", (stored) => [1, stored])),
            Effect.flip(store.entries),
            Effect.flip(store.remove("a"))
          ])
        )
        const errors = yield* Effect.timeout(Effect.provide(program, away), "5 seconds")
        for (const error of errors) assert.deepInclude(error, { _tag: "StoreError", reason: "Unavailable" })
        for (const socket of sockets) socket.destroy()
      }).pipe(Effect.scoped)
    )
  }
})
