import { execFileSync } from "node:child_process"
import { chmodSync, mkdtempSync, readdirSync, rmSync } from "node:fs"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/** A server of the test's own, which it may stop. */
export interface OwnPostgres {
  readonly url: string
  readonly start: Effect.Effect<void>
  /** As a crash does: nobody is told, nothing is written any more. */
  readonly crash: Effect.Effect<void>
}

const root = "/usr/lib/postgresql"

const binaries = (): string => {
  const [latest] = readdirSync(root).sort((a, b) => Number(b) - Number(a))
  return join(root, latest ?? "", "bin")
}

/** PostgreSQL refuses to run as root. */
const run = (command: string, ...args: ReadonlyArray<string>): void => {
  const [program = "", ...rest] =
    process.getuid?.() === 0 ? ["runuser", "-u", "postgres", "--", command, ...args] : [command, ...args]
  execFileSync(program, rest, { stdio: ["ignore", "ignore", "inherit"], cwd: tmpdir() })
}

const freePort = Effect.async<number>((resume) => {
  const server = createServer()
  server.listen(0, "127.0.0.1", () => {
    const address = server.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    server.close(() => resume(Effect.succeed(port)))
  })
})

export const ownPostgres: Effect.Effect<OwnPostgres, never, Scope.Scope> = Effect.gen(function* () {
  const port = yield* freePort
  const bin = binaries()
  const folder = mkdtempSync(join(tmpdir(), "switchgear-postgres-"))
  chmodSync(folder, 0o777)
  const data = join(folder, "data")
  const pgCtl = (...args: ReadonlyArray<string>) => Effect.sync(() => run(join(bin, "pg_ctl"), "-D", data, ...args))
  const options = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories=${folder}`
  const own: OwnPostgres = {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    start: pgCtl("-w", "-o", options, "-l", join(folder, "log"), "start"),
    crash: pgCtl("-m", "immediate", "stop")
  }
  yield* Effect.addFinalizer(() =>
    Effect.zipRight(
      Effect.ignore(Effect.sandbox(own.crash)),
      Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
    )
  )
  run(join(bin, "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync")
  yield* own.start
  return own
})
