import * as Failure from "@switchgear/failures/Failure"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Runtime from "effect/Runtime"
import { type Answer, ProviderError, type ProviderRequest } from "../Provider.js"
import { type Limit, type Limits, limitMessage, limitsOf } from "./limits.js"
import type { Meaning } from "./meaning.js"
import { StreamReader } from "./streamReader.js"

/** What a scripted upstream does next. After the last act its answer ends. */
export type Act =
  | { readonly _tag: "Wait"; readonly duration: Duration.DurationInput }
  | { readonly _tag: "Bytes"; readonly text: string }
  | { readonly _tag: "Hang" }
  | { readonly _tag: "Reset" }

/** What a scripted upstream answers. */
export interface Scene {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly acts: Iterable<Act>
}

const maxEvent = 4 * 1024 * 1024

const now = Effect.map(Clock.currentTimeNanos, (nanos) => Number(nanos) / 1e6)

/** One scripted call, under Effect's clock. It knows how long each wait is, so a limit needs no race. */
class Play {
  private phase: Limit = "firstOutput"
  private phaseDue: number
  private readonly totalDue: number
  private readonly output: number
  private readonly total: number
  private readonly acts: Iterator<Act>

  constructor(
    readonly name: string,
    readonly meaning: Meaning,
    readonly scene: Scene,
    readonly request: ProviderRequest,
    private readonly limits: Limits,
    start: number
  ) {
    this.acts = scene.acts[Symbol.iterator]()
    const { output, total } = limitsOf(limits, request)
    this.output = output
    this.total = total
    this.totalDue = start + total
    this.phaseDue = start + output
  }

  /** Output has come. */
  readonly rest: Effect.Effect<void> = Effect.map(now, (at) => {
    this.phase = "idle"
    this.phaseDue = at + this.limits.idle
  })

  error(failure: Failure.Failure, body?: Uint8Array): ProviderError {
    return new ProviderError({
      provider: this.name,
      failure,
      ...(body !== undefined && { response: { status: this.scene.status, headers: this.scene.headers, body } })
    })
  }

  /** The next bytes; `undefined` at the end. */
  readonly pull: Effect.Effect<Buffer | undefined, ProviderError> = Effect.suspend(() => {
    const next = this.acts.next()
    if (next.done === true) return Effect.succeed(undefined)
    const act = next.value
    switch (act._tag) {
      case "Bytes":
        return Effect.succeed(Buffer.from(act.text))
      case "Reset":
        return Effect.fail(this.error(this.meaning.thrown({ code: "ECONNRESET" }, 0)))
      case "Hang":
        return this.wait(Number.POSITIVE_INFINITY)
      case "Wait":
        return this.wait(Duration.toMillis(act.duration))
    }
  })

  private wait(millis: number): Effect.Effect<Buffer | undefined, ProviderError> {
    return Effect.flatMap(now, (at) => {
      const left = Math.min(this.phaseDue, this.totalDue) - at
      if (millis < left) return Effect.zipRight(Effect.sleep(millis), this.pull)
      if (!Number.isFinite(left)) return Effect.never
      return Effect.zipRight(
        Effect.sleep(Math.max(0, left)),
        Effect.suspend(() => Effect.fail(this.timeout()))
      )
    })
  }

  private timeout(): ProviderError {
    const limit = this.totalDue <= this.phaseDue ? "total" : this.phase
    const millis = limit === "total" ? this.total : limit === "firstOutput" ? this.output : this.limits[limit]
    return this.error(Failure.make("timeout", limitMessage(limit, millis), { code: `${limit}_timeout` }))
  }
}

const whole = Effect.fnUntraced(function* (play: Play) {
  const chunks: Array<Buffer> = []
  for (let chunk = yield* play.pull; chunk !== undefined; chunk = yield* play.pull) {
    chunks.push(chunk)
    yield* play.rest
  }
  const body = Buffer.concat(chunks)
  const { headers, status } = play.scene
  const failure = play.meaning.answer(
    play.request.stream ? "stream" : "json",
    status,
    headers,
    body,
    yield* Clock.currentTimeMillis
  )
  if (failure !== undefined) return yield* play.error(failure, body)
  return { _tag: "Json", status, headers, body } as const
})

/** The next bytes to pass on; `undefined` at the end. */
const advance = Effect.fnUntraced(function* (play: Play, reader: StreamReader, pending: { error?: ProviderError }) {
  while (true) {
    if (pending.error !== undefined) return yield* pending.error
    const chunk = yield* play.pull
    const found = chunk === undefined ? reader.end() : reader.push(chunk)
    if (found.failure !== undefined) {
      const frame = found.frame === undefined || found.pass !== undefined ? undefined : Buffer.from(found.frame)
      const error = play.error(found.failure, frame)
      if (found.pass === undefined) return yield* error
      pending.error = error
    }
    if (found.output) yield* play.rest
    if (found.pass !== undefined) return found.pass
    if (chunk === undefined) return undefined
  }
})

class Body implements AsyncIterableIterator<Uint8Array, undefined> {
  private over = false
  private fiber: Fiber.RuntimeFiber<Uint8Array | undefined, ProviderError> | undefined

  constructor(
    private first: Uint8Array | undefined,
    private readonly more: Effect.Effect<Uint8Array | undefined, ProviderError>,
    private readonly runtime: Runtime.Runtime<never>
  ) {}

  async next(): Promise<IteratorResult<Uint8Array, undefined>> {
    const first = this.first
    if (first !== undefined) {
      this.first = undefined
      return { done: false, value: first }
    }
    if (this.over) return { done: true, value: undefined }
    const fiber = Runtime.runFork(this.runtime, this.more)
    this.fiber = fiber
    const exit = await new Promise<Exit.Exit<Uint8Array | undefined, ProviderError>>((resolve) =>
      fiber.addObserver(resolve)
    )
    this.fiber = undefined
    if (Exit.isSuccess(exit) && exit.value !== undefined) return { done: false, value: exit.value }
    const left = this.over
    this.over = true
    if (Exit.isSuccess(exit) || left) return { done: true, value: undefined }
    throw exit.cause._tag === "Fail" ? exit.cause.error : exit.cause
  }

  return(): Promise<IteratorResult<Uint8Array, undefined>> {
    this.over = true
    this.first = undefined
    if (this.fiber !== undefined) Runtime.runFork(this.runtime, Fiber.interruptAsFork(this.fiber, FiberId.none))
    return Promise.resolve({ done: true, value: undefined })
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}

const streamed = Effect.fnUntraced(function* (play: Play) {
  const { headers, status } = play.scene
  const wall = yield* Clock.currentTimeMillis
  const noStream = Failure.make("server_error", "The answer was no stream")
  const reader = new StreamReader(
    play.meaning.initial,
    wall,
    (bytes) => play.meaning.answer("stream", status, headers, bytes, wall) ?? noStream,
    maxEvent
  )
  const pending: { error?: ProviderError } = {}
  const first = yield* advance(play, reader, pending)
  const body = new Body(first, advance(play, reader, pending), yield* Effect.runtime<never>())
  return { _tag: "Stream", status, headers, body } as const
})

/** Plays a scene to a caller. */
export const play = (
  name: string,
  meaning: Meaning,
  scene: Scene,
  request: ProviderRequest,
  limits: Limits
): Effect.Effect<Answer, ProviderError> =>
  Effect.flatMap(now, (start): Effect.Effect<Answer, ProviderError> => {
    const it = new Play(name, meaning, scene, request, limits, start)
    return request.stream && scene.status < 300 ? streamed(it) : whole(it)
  })
