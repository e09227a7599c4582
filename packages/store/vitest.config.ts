import { connect } from "node:net"
import { mergeConfig } from "vitest/config"
import { project } from "../../vitest.shared.js"

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
  { name: "postgres", port: 5_432 }
]

/**
 * What needs a server is not collected where there is none, so that nothing is reported as skipped. With
 * SWITCHGEAR_REQUIRE_SERVERS=1 it is, and fails.
 */
const required = process.env["SWITCHGEAR_REQUIRE_SERVERS"] === "1"
const missing = await Promise.all(
  servers.map(async ({ name, port }) => (required || (await answers(port)) ? [] : [`test/servers/${name}{,.*}.test.ts`]))
)

export default mergeConfig(project("store"), { test: { exclude: missing.flat() } })
