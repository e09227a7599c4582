import { type ChildProcess, spawn, spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, onTestFinished } from "vitest"

/** The command as people run it; `npm test` has built it by now. */
export const bin = fileURLToPath(new URL("../bin/switchgear.js", import.meta.url))
export const traces = fileURLToPath(new URL("../../testing/traces/", import.meta.url))

const clean = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(SWITCHGEAR_|OPENAI_|FORCE_COLOR|NO_COLOR)/.test(name))
)

export const run = (...args: ReadonlyArray<string>) => runWith({}, ...args)

export const runWith = (env: Record<string, string>, ...args: ReadonlyArray<string>) => {
  const { status, stderr, stdout } = spawnSync(process.execPath, [bin, ...args], {
    encoding: "utf8",
    env: { ...clean, ...env },
    maxBuffer: 64 * 1024 * 1024
  })
  return { status, stdout, stderr }
}

/** The same for a command that takes its time, while which the test runner must go on. */
export const runLong = (
  ...args: ReadonlyArray<string>
): Promise<{ readonly status: number | null; readonly stdout: string; readonly stderr: string }> =>
  new Promise((resolve) => {
    const child = spawn(process.execPath, [bin, ...args], { env: clean, stdio: ["ignore", "pipe", "pipe"] })
    let stdout = ""
    let stderr = ""
    child.stdout.on("data", (chunk: Buffer) => {
      stdout += chunk.toString()
    })
    child.stderr.on("data", (chunk: Buffer) => {
      stderr += chunk.toString()
    })
    child.on("close", (status) => resolve({ status, stdout, stderr }))
  })

/** A line of shell, `$BIN` being the command. */
export const shell = (line: string) => {
  const { status, stderr, stdout } = spawnSync("sh", ["-c", line], {
    encoding: "utf8",
    env: { ...clean, BIN: `${process.execPath} ${bin}` }
  })
  return { status, stdout, stderr }
}

const folder = mkdtempSync(join(tmpdir(), "switchgear-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

export const newFolder = (): string => mkdtempSync(join(folder, "data-"))

export const file = (name: string, text: string): string => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

export interface Serving {
  readonly child: ChildProcess
  readonly url: string
  /** What it has printed so far, both outputs. */
  readonly printed: () => string
  readonly ended: Promise<number | null>
}

/** Starts a command that serves, and waits until it says where. */
export const serve = (args: ReadonlyArray<string>, env: Record<string, string> = {}): Promise<Serving> =>
  new Promise((resolve, reject) => {
    // A demo keeps its state in the folder it runs in: each has one of its own, unless a test is about what it keeps.
    const cwd = args.includes("--data") ? undefined : mkdtempSync(join(folder, "demo-"))
    const child = spawn(process.execPath, [bin, ...args], {
      cwd,
      env: { ...clean, ...env },
      stdio: ["ignore", "pipe", "pipe"]
    })
    onTestFinished(() => {
      child.kill("SIGKILL")
    })
    let text = ""
    const ended = new Promise<number | null>((done) => {
      child.on("close", done)
    })
    const take = (chunk: Buffer) => {
      text += chunk.toString()
      const url = /listening on (http:\/\/\S+)/.exec(text)?.[1]
      if (url !== undefined) resolve({ child, url, printed: () => text, ended })
    }
    child.stdout.on("data", take)
    child.stderr.on("data", take)
    ended.then((code) => reject(new Error(`ended with ${code}: ${text}`)))
  })

export const ask = (url: string, model: string, stream = false): Promise<Response> =>
  fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model, stream, messages: [{ role: "user", content: "Hello" }] })
  })
