import { type ChildProcess, spawn } from "node:child_process"
import { readFileSync } from "node:fs"
import { createInterface } from "node:readline"

/** A process of the benchmark's own, and the port it said it listens on. */
export interface Child {
  readonly process: ChildProcess
  readonly port: number
  /** Its next line. Lines that nobody waits for are thrown away: a full pipe would stop it. */
  readonly line: () => Promise<string>
  readonly stop: () => Promise<void>
}

/** Starts a node process and waits for the line that names its port. */
export const start = (
  name: string,
  args: ReadonlyArray<string>,
  ready: RegExp,
  env: NodeJS.ProcessEnv = process.env
): Promise<Child> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "pipe"], env })
    let said = ""
    child.stderr.on("data", (chunk: Buffer) => {
      said = `${said}${chunk.toString()}`.slice(-2000)
    })
    child.once("exit", (code) => reject(new Error(`${name} ended with ${code}: ${said}`)))
    const stop = (): Promise<void> =>
      new Promise((gone) => {
        if (child.exitCode !== null || child.signalCode !== null) return gone()
        child.once("exit", () => gone())
        child.kill("SIGKILL")
      })
    let take: ((line: string) => void) | undefined
    const line = (): Promise<string> =>
      new Promise((taken) => {
        take = taken
      })
    createInterface({ input: child.stdout }).on("line", (text) => {
      const waiting = take
      take = undefined
      waiting?.(text)
      const port = ready.exec(text)?.[1]
      if (port !== undefined) resolve({ process: child, port: Number(port), line, stop })
    })
  })

/** Processor time a process has used so far (ms), and its memory now and at most (MiB): what Linux says of it. */
export const usage = (pid: number): { readonly cpu: number; readonly memory: number; readonly most: number } => {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  const status = readFileSync(`/proc/${pid}/status`, "utf8")
  const mib = (key: string): number => Number(new RegExp(`${key}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024
  // utime and stime, in ticks of 10 ms
  return { cpu: (Number(fields[11]) + Number(fields[12])) * 10, memory: mib("VmRSS"), most: mib("VmHWM") }
}
