import { readdirSync } from "node:fs"
import { connect } from "node:net"
import { fileURLToPath } from "node:url"
import { defineConfig, mergeConfig, type ViteUserConfig } from "vitest/config"

const packages = fileURLToPath(new URL("./packages/", import.meta.url))
const names = readdirSync(packages, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name)

/** Tests read the sources, so that they need no build and a mutant is what runs. */
const alias = names.flatMap((name) => {
  const scope = name === "switchgear" ? name : `@switchgear/${name}`
  return [
    { find: new RegExp(`^${scope}$`), replacement: `${packages}${name}/src/index.ts` },
    { find: new RegExp(`^${scope}/(.+)$`), replacement: `${packages}${name}/src/$1.ts` }
  ]
})

/** The test project of one package. */
export const project = (name: string): ViteUserConfig =>
  defineConfig({
    resolve: { alias },
    test: { name, root: `${packages}${name}`, include: ["test/**/*.test.ts"], testTimeout: 30_000 }
  })

const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host: "127.0.0.1", port, timeout: 500 })
    const done = (open: boolean) => () => {
      socket.destroy()
      resolve(open)
    }
    socket.once("connect", done(true)).once("timeout", done(false)).once("error", done(false))
  })

const servers = [
  { name: "redis", port: 6_379 },
  { name: "postgres", port: 5_432 },
  // There is no port that a ClickHouse could be expected at: .ci/clickhouse starts one.
  { name: "clickhouse", port: Number(process.env["SWITCHGEAR_CLICKHOUSE_PORT"] ?? 8_123) }
]

/**
 * A project some of whose tests need a server: those in `test/servers/NAME.test.ts` and `NAME.*.test.ts` are not collected where it is not, so
 * that nothing is reported as skipped. With SWITCHGEAR_REQUIRE_SERVERS=1 they are, and fail.
 */
export const projectWithServers = async (name: string): Promise<ViteUserConfig> => {
  const required = process.env["SWITCHGEAR_REQUIRE_SERVERS"] === "1"
  const missing = await Promise.all(
    servers.map(async (server) =>
      required || (await answers(server.port)) ? [] : [`test/servers/${server.name}{,.*}.test.ts`]
    )
  )
  return mergeConfig(project(name), { test: { exclude: missing.flat() } })
}
