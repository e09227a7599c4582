import { type ChildProcess, fork } from "node:child_process"
import { fileURLToPath } from "node:url"
import type { RegistryEvent } from "@switchgear/breaker/RegistryEvent"
import type { Transition } from "@switchgear/breaker/Transition"
import { afterAll } from "vitest"

const replicaScript = fileURLToPath(new URL("./replica.mjs", import.meta.url))

export interface Settings {
  readonly backend: "redis" | "postgres"
  readonly url: string
  /** Prefix or schema. */
  readonly space: string
  readonly policy: unknown
  /** By breaker. */
  readonly policies: Readonly<Record<string, unknown>>
  readonly pollInterval?: string
}

/** A call that reached the upstream, which is us. */
export interface Call {
  readonly replica: Replica
  readonly breaker: string
  readonly id: number
  readonly era: number
  readonly state: string
  /** ms on the machine's clock. */
  readonly at: number
}

export interface Heard {
  readonly replica: Replica
  readonly transition: Transition
  readonly refuses: boolean
  readonly at: number
}

type Message =
  | { readonly is: "ready" | "done" }
  | { readonly is: "tripped"; readonly at: number }
  | { readonly is: "stopped"; readonly made: number; readonly refused: number }
  | { readonly is: "failed"; readonly error: string }
  | ({ readonly is: "call" } & Omit<Call, "replica">)
  | { readonly is: "event"; readonly event: RegistryEvent }
  | { readonly is: "transition"; readonly transition: Transition; readonly refuses: boolean; readonly at: number }

export interface Replica {
  readonly index: number
  readonly process: ChildProcess
}

const started = new Set<ChildProcess>()
afterAll(() => {
  for (const child of started) child.kill("SIGKILL")
})

/** Waits until something holds, for as long as the test may take. */
export const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 1))
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Eight processes, or so many, that share breakers. */
export class Fleet {
  readonly replicas: Array<Replica> = []
  /** Every call that reached the upstream, in order. */
  private readonly calls: Array<Call> = []
  /** What the registries had to say: where a store was away, its replica went on by itself. */
  readonly events: Array<RegistryEvent> = []
  readonly heard: Array<Heard> = []
  private readonly answers: Array<Extract<Message, { readonly is: "ready" | "done" | "tripped" | "stopped" }>> = []
  private failure: string | undefined

  /** `apart`: ms between the wall clocks of one replica and the next. */
  static async start(settings: Settings, size = 8, apart = 0): Promise<Fleet> {
    const fleet = new Fleet()
    for (let index = 0; index < size; index++) {
      const given = JSON.stringify({ ...settings, apart: index * apart })
      const child = fork(replicaScript, [given], { stdio: ["ignore", "inherit", "inherit", "ipc"] })
      started.add(child)
      const replica = { index, process: child }
      fleet.replicas.push(replica)
      child.on("message", (message: Message) => fleet.take(replica, message))
    }
    await fleet.answered("ready", size)
    return fleet
  }

  tell(replica: Replica, message: Readonly<Record<string, unknown>>): void {
    replica.process.send(message)
  }

  /** Tells all of them, and waits until each has answered. */
  async all(message: Readonly<Record<string, unknown>>, answer?: "done" | "stopped"): Promise<void> {
    for (const replica of this.replicas) this.tell(replica, message)
    if (answer !== undefined) await this.answered(answer, this.replicas.length)
  }

  callsOf(breaker: string): ReadonlyArray<Call> {
    return this.calls.filter((call) => call.breaker === breaker)
  }

  answer(call: Call, ok: boolean): void {
    this.tell(call.replica, { do: "answer", id: call.id, ok })
  }

  kill(replica: Replica): void {
    replica.process.kill("SIGKILL")
    this.replicas.splice(this.replicas.indexOf(replica), 1)
  }

  /** Trips the breaker in one of them; ms on the machine's clock, when it began to. */
  async trip(replica: Replica, name: string, times: number): Promise<number> {
    this.tell(replica, { do: "trip", name, times })
    const [tripped] = await this.answered("tripped", 1)
    return tripped?.is === "tripped" ? tripped.at : Number.NaN
  }

  async stop(): Promise<{ readonly made: number; readonly refused: number }> {
    for (const replica of this.replicas) this.tell(replica, { do: "stop" })
    const stopped = await this.answered("stopped", this.replicas.length)
    let [made, refused] = [0, 0]
    for (const each of stopped) {
      if (each.is === "stopped") [made, refused] = [made + each.made, refused + each.refused]
    }
    return { made, refused }
  }

  /** Trips the breaker in one of them, and waits until all refuse. */
  async open(replica: Replica, name: string, times: number): Promise<number> {
    const began = await this.trip(replica, name, times)
    const heard = () => this.heard.filter(({ transition }) => transition.breaker === name)
    await this.until(() => new Set(heard().map((each) => each.replica)).size === this.replicas.length)
    return began
  }

  end(): void {
    for (const { process } of this.replicas) process.kill("SIGKILL")
  }

  /** Waits until something holds, or a replica has failed. */
  async until(holds: () => boolean): Promise<void> {
    await until(() => this.failure !== undefined || holds())
    if (this.failure !== undefined) throw new Error(this.failure)
  }

  private async answered(is: string, count: number) {
    await this.until(() => this.answers.filter((answer) => answer.is === is).length >= count)
    const found = this.answers.filter((answer) => answer.is === is)
    this.answers.splice(0, this.answers.length, ...this.answers.filter((answer) => answer.is !== is))
    return found
  }

  private take(replica: Replica, message: Message): void {
    switch (message.is) {
      case "call":
        this.calls.push({ replica, ...message })
        return
      case "transition":
        this.heard.push({ replica, ...message })
        return
      case "event":
        this.events.push(message.event)
        return
      case "failed":
        this.failure = message.error
        return
      default:
        this.answers.push(message)
    }
  }
}
