import type * as AiError from "@effect/ai/AiError"
import type * as Chunk from "effect/Chunk"
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Mailbox from "effect/Mailbox"
import * as Stream from "effect/Stream"
import { timedOut } from "./faults.js"
import { isOutput, type Part } from "./parts.js"
import type { Watch } from "./watch.js"

/** Limits of one call; what runs out is a failure of kind `timeout`. */
export interface Timeouts {
  readonly firstOutput?: Duration.DurationInput | undefined
  readonly idle?: Duration.DurationInput | undefined
  readonly total?: Duration.DurationInput | undefined
}

/** Runs the model's own work. */
export type Inside = <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** ms */
export interface Limits {
  readonly firstOutput: number
  readonly idle: number
  readonly total: number
}

export const limitsOf = (timeouts: Timeouts | undefined): Limits => ({
  firstOutput: Duration.toMillis(timeouts?.firstOutput ?? "60 seconds"),
  idle: Duration.toMillis(timeouts?.idle ?? "60 seconds"),
  total: Duration.toMillis(timeouts?.total ?? "10 minutes")
})

/** Fails when the time is up; not while the caller's tools run, whose time is their own. */
const alarm = (millis: number, watch: Watch, error: () => AiError.AiError): Effect.Effect<never, AiError.AiError> =>
  Effect.flatMap(Effect.sleep(millis), () => (watch.busy > 0 ? alarm(millis, watch, error) : Effect.fail(error())))

const within = <A, E, R>(
  self: Effect.Effect<A, E, R>,
  millis: number,
  watch: Watch,
  error: () => AiError.AiError
): Effect.Effect<A, E | AiError.AiError, R> =>
  Number.isFinite(millis) ? Effect.raceFirst(self, alarm(Math.max(0, millis), watch, error)) : self

/** A call that answers in one piece. */
export const limitEffect = <A, E, R>(
  self: Effect.Effect<A, E, R>,
  limits: Limits,
  watch: Watch,
  method: string
): Effect.Effect<A, E | AiError.AiError, R> =>
  within(self, limits.total, watch, () => timedOut("total", limits.total, method))

/** Chunks read ahead of a slow reader; then the model is not read any further. */
const ahead = 16

/** What a stream is waiting for, and since when (ms). */
class Waiting {
  private output = false
  private since: number
  /** The reader is behind: it is his time. */
  private blocked = false
  private readonly started: number

  constructor(
    private readonly clock: Clock.Clock,
    private readonly limits: Limits,
    private readonly watch: Watch,
    private readonly method: string
  ) {
    this.started = this.now()
    this.since = this.started
  }

  /** Hands a chunk on. Only output disarms the first limit and re-arms the second. */
  pass<P extends Part, E>(chunk: Chunk.Chunk<P>, mailbox: Mailbox.Mailbox<P, E>): Effect.Effect<unknown> {
    return Effect.suspend(() => {
      const arrived = this.now()
      const meaningful = some(chunk)
      this.output ||= meaningful
      this.blocked = true
      return Effect.map(mailbox.offerAll(chunk), () => {
        const now = this.now()
        this.blocked = false
        this.since = meaningful ? now : this.since + Math.max(0, now - arrived)
      })
    })
  }

  /** Ends when a limit has run out, with the error that says which. */
  readonly alarm: Effect.Effect<AiError.AiError> = Effect.suspend(() => {
    const [name, gap] = this.output ? ["idle", this.limits.idle] : ["firstOutput", this.limits.firstOutput]
    const now = this.now()
    const wait = this.since + gap - now
    const total = this.started + this.limits.total - now
    const left = Math.min(wait, total)
    if (left > 0) return left === Number.POSITIVE_INFINITY ? Effect.never : this.later(left)
    if (!this.blocked && this.watch.busy === 0) {
      return Effect.succeed(
        total < wait ? timedOut("total", this.limits.total, this.method) : timedOut(name, gap, this.method)
      )
    }
    this.since = now
    return this.later(Math.min(gap, this.limits.total))
  })

  private later(millis: number): Effect.Effect<AiError.AiError> {
    return Effect.zipRight(Effect.sleep(Math.ceil(millis)), this.alarm)
  }

  private now(): number {
    return Number(this.clock.unsafeCurrentTimeNanos()) / 1_000_000
  }
}

/**
 * A stream read by a fiber of its own, under insulation, and watched by another: a race per part costs a hundred times
 * as much. Time the reader takes for himself, and the caller's tools, is not the model's.
 */
export const limitStream = <P extends Part, E, R>(
  self: Stream.Stream<P, E, R>,
  limits: Limits,
  watch: Watch,
  inside: Inside,
  method: string
): Stream.Stream<P, E | AiError.AiError, R> =>
  Stream.unwrapScoped(
    Effect.gen(function* () {
      const mailbox = yield* Mailbox.make<P, E | AiError.AiError>(ahead)
      const waiting = new Waiting(yield* Effect.clock, limits, watch, method)
      yield* inside(Stream.runForEachChunk(self, (chunk) => waiting.pass(chunk, mailbox))).pipe(
        Effect.onExit((exit) => mailbox.done(exit)),
        Effect.forkScoped
      )
      yield* Effect.forkScoped(Effect.flatMap(waiting.alarm, (error) => mailbox.fail(error)))
      return Mailbox.toStream(mailbox)
    })
  )

const some = (chunk: Chunk.Chunk<Part>): boolean => {
  for (const part of chunk) if (isOutput(part)) return true
  return false
}
