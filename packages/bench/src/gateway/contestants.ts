import { execFile } from "node:child_process"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { type Child, start } from "./child.js"

export interface Contestant {
  readonly name: string
  readonly child: Child
  readonly headers: Readonly<Record<string, string>>
  /** Whether its streams are measured. */
  readonly streams: boolean
}

const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url))

export const passthrough = async (upstream: number): Promise<Contestant> => ({
  name: "pass-through",
  child: await start("pass-through", [here("passthrough.js"), `http://127.0.0.1:${upstream}`], /listening (\d+)/),
  headers: {},
  streams: true
})

/** The command as it is built, with what a first configuration would say. */
export const switchgear = async (upstream: number, folder: string): Promise<Contestant> => {
  const config = join(folder, "gateway.yaml")
  await writeFile(
    config,
    `server: { port: 0 }
providers:
  - { name: primary, kind: openai-compatible, baseUrl: "http://127.0.0.1:${upstream}/v1", apiKey: sk-0123456789abcdef0123 }
models:
  - { name: m, provider: primary }
`
  )
  const command = here("../../../switchgear/bin/switchgear.js")
  const profile = process.env["BENCH_PROFILE"]
  const flags = profile === undefined ? [] : ["--cpu-prof", "--cpu-prof-interval=200", `--cpu-prof-dir=${profile}`]
  const args = [...flags, command, "gateway", "--config", config]
  return {
    name: "switchgear",
    child: await start("switchgear", args, /listening on http:\/\/127\.0\.0\.1:(\d+)/),
    headers: {},
    streams: true
  }
}

export const portkeyVersion = "1.15.2"

/** Fetched into a folder of the benchmark's: nothing of it belongs to this repository. */
export const portkey = async (upstream: number, folder: string): Promise<Contestant> => {
  const wanted = `@portkey-ai/gateway@${portkeyVersion}`
  await promisify(execFile)(
    "npm",
    ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", folder, wanted],
    {
      cwd: folder
    }
  )
  const script = join(folder, "node_modules/@portkey-ai/gateway/build/start-server.js")
  const port = await freePort()
  const args = [script, "--headless", `--port=${port}`]
  const child = await start("portkey", args, /(\d+)/, { ...process.env, TRUSTED_CUSTOM_HOSTS: "127.0.0.1,localhost" })
  return {
    name: "portkey",
    child: { ...child, port },
    headers: {
      authorization: "Bearer sk-0123456789abcdef0123",
      "x-portkey-provider": "openai",
      "x-portkey-custom-host": `http://127.0.0.1:${upstream}/v1`
    },
    streams: false
  }
}

const freePort = async (): Promise<number> => {
  const { createServer } = await import("node:net")
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const address = server.address()
      const port = typeof address === "object" && address !== null ? address.port : 0
      server.close(() => resolve(port))
    })
  })
}

export const upstream = (): Promise<Child> => start("upstream", [here("upstream.js")], /listening (\d+)/)

export const loader = (): Promise<Child> => start("load", [here("load.js")], /listening (\d+)/)

/** A folder that is gone afterwards. */
export const withFolder = async (use: (folder: string) => Promise<void>): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), "switchgear-bench-"))
  try {
    await use(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
