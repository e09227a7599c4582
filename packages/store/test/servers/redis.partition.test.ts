import { type ChildProcess, spawn } from "node:child_process"
import { mkdtempSync, rmSync } from "node:fs"
import { connect, createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { describe, it } from "@effect/vitest"
import * as RedisStore from "@switchgear/store/redis"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { afterAll, assert } from "vitest"
import { type Mode, Proxy } from "../support/away.js"
import { askedByCalls, goesAndComesBack } from "../support/partitionProofs.js"

const folder = mkdtempSync(join(tmpdir(), "switchgear-redis-"))
const running = new Set<ChildProcess>()
afterAll(() => {
  for (const server of running) server.kill("SIGKILL")
  rmSync(folder, { recursive: true, force: true })
})

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer()
    server.listen(0, "127.0.0.1", () => {
      const address = server.address()
      server.close(() => resolve(typeof address === "object" && address !== null ? address.port : 0))
    })
  })

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1")
    const done = (open: boolean) => () => {
      socket.destroy()
      resolve(open)
    }
    socket.once("connect", done(true)).once("error", done(false))
  })

/** A server of our own, which may be stopped; it keeps nothing. */
const start = async (port: number): Promise<ChildProcess> => {
  const server = spawn("redis-server", ["--port", `${port}`, "--bind", "127.0.0.1", "--save", "", "--dir", folder], {
    stdio: "ignore"
  })
  running.add(server)
  while (!(await answers(port))) await new Promise((resolve) => setTimeout(resolve, 10))
  return server
}

const layer = (port: number, prefix: string) =>
  RedisStore.layer({ url: Redacted.make(`redis://127.0.0.1:${port}`), prefix: `switchgear-partition-${prefix}:` })

describe("Redis goes and comes back under load", () => {
  it.live(
    "stopped by SIGSTOP",
    () =>
      Effect.gen(function* () {
        const port = yield* Effect.promise(freePort)
        const server = yield* Effect.promise(() => start(port))
        const signal = (name: NodeJS.Signals) => Effect.sync(() => server.kill(name))
        yield* goesAndComesBack("Redis, SIGSTOP", layer(port, "stop"), signal("SIGSTOP"), signal("SIGCONT"))
      }),
    120_000
  )

  it.live(
    "killed, and empty when it is back",
    () =>
      Effect.gen(function* () {
        const port = yield* Effect.promise(freePort)
        const server = yield* Effect.promise(() => start(port))
        const away = Effect.async<void>((resume) => {
          server.once("exit", () => resume(Effect.void))
          server.kill("SIGKILL")
        })
        const back = Effect.promise(() => start(port))
        yield* goesAndComesBack("Redis, killed", layer(port, "kill"), away, back)
      }),
    120_000
  )

  for (const mode of ["hangs", "hangs up", "errors"] satisfies ReadonlyArray<Mode>) {
    it.live(
      `behind something that ${mode}`,
      () =>
        Effect.gen(function* () {
          const port = yield* Effect.promise(freePort)
          yield* Effect.promise(() => start(port))
          const proxy = yield* Effect.promise(() => Proxy.start(port))
          const set = (to: Mode) => Effect.sync(() => proxy.set(to))
          yield* goesAndComesBack(`Redis, ${mode}`, layer(proxy.port, mode), set(mode), set("passes"))
          proxy.end()
        }),
      120_000
    )
  }
})

describe("Redis", () => {
  it.live(
    "is asked nothing by calls on a Closed breaker, counted at the socket",
    () =>
      Effect.gen(function* () {
        const port = yield* Effect.promise(freePort)
        yield* Effect.promise(() => start(port))
        const proxy = yield* Effect.promise(() => Proxy.start(port))
        const asked = yield* askedByCalls(layer(proxy.port, "count"), () => proxy.sent, 10_000)
        assert.isAbove(proxy.sent, 0)
        assert.strictEqual(asked, 0)
        proxy.end()
      }),
    120_000
  )
})
