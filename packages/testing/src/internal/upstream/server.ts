import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import { endpointOf } from "./dialect.js"
import type { Behaviour, Call, Ending, Script } from "./model.js"
import { Player } from "./play.js"

const headersOf = (request: IncomingMessage): Readonly<Record<string, string>> => {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(", ") : value
  }
  return headers
}

const parsed = (body: Uint8Array): unknown => {
  try {
    return JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString())
  } catch {
    return undefined
  }
}

const field = (json: unknown, name: string): unknown =>
  typeof json === "object" && json !== null ? Reflect.get(json, name) : undefined

/** The server and its memory. Mutable, in one place; everything that reads it is an effect. */
export class Recorder {
  readonly calls: Array<Call> = []
  readonly server: Server
  count = 0
  left = 0
  open = 0
  mostOpen = 0
  private readonly arrivals = new Set<() => void>()

  constructor(
    private script: Script,
    private readonly keep: number
  ) {
    this.server = createServer((request, response) => {
      const chunks: Array<Uint8Array> = []
      request.on("data", (chunk: Uint8Array) => chunks.push(chunk))
      request.on("end", () => this.answer(request, response, Buffer.concat(chunks)))
      request.on("error", () => undefined)
    })
    // A connection that closes while it waits for its next request would look like a failure of that request.
    this.server.keepAliveTimeout = 0
  }

  setScript(script: Script): void {
    this.script = script
    this.calls.length = 0
    this.count = 0
    this.left = 0
    this.mostOpen = this.open
  }

  /** Calls `run` now and after each arrival, until it returns true. Returns what ends that. */
  watch(run: () => boolean): () => void {
    const each = () => {
      if (run()) this.arrivals.delete(each)
    }
    this.arrivals.add(each)
    each()
    return () => this.arrivals.delete(each)
  }

  private behaviourFor(call: Call): Behaviour {
    if (typeof this.script === "function") return this.script(call)
    return this.script[Math.min(call.index, this.script.length - 1)] ?? this.script[0]
  }

  private answer(request: IncomingMessage, response: ServerResponse, body: Uint8Array): void {
    const json = parsed(body)
    const model = field(json, "model")
    const path = request.url ?? "/"
    const over = Deferred.unsafeMake<Ending>(FiberId.none)
    let player: Player | undefined
    const call: Call = {
      index: this.count,
      endpoint: endpointOf(path),
      method: request.method ?? "",
      path,
      headers: headersOf(request),
      body,
      json,
      stream: field(json, "stream") === true,
      model: typeof model === "string" ? model : "",
      sent: () => player?.sent ?? 0,
      closed: Deferred.await(over)
    }
    this.count += 1
    this.open += 1
    this.mostOpen = Math.max(this.mostOpen, this.open)
    this.calls.push(call)
    if (this.calls.length > this.keep) this.calls.shift()
    player = new Player(response, this.behaviourFor(call), call, (ending) => {
      this.open -= 1
      if (ending === "left") this.left += 1
      Deferred.unsafeDone(over, Effect.succeed(ending))
      this.notify()
    })
    this.notify()
    player.go()
  }

  private notify(): void {
    for (const each of [...this.arrivals]) each()
  }
}
