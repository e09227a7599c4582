import type * as AiError from "@effect/ai/AiError"
import type * as Chunk from "effect/Chunk"
import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { timedOut } from "./faults.js"
import type { Insulation } from "./insulate.js"
import { isOutput, type Part } from "./parts.js"
import type { Watch } from "./watch.js"

/** Limits of one call; what runs out is a failure of kind `timeout`. */
export interface Timeouts {
  readonly firstOutput?: Duration.DurationInput | undefined
  readonly idle?: Duration.DurationInput | undefined
  readonly total?: Duration.DurationInput | undefined
}

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

/**
 * A stream by its pulls, run under insulation. Only output disarms the first limit and re-arms the second; time the reader takes for itself is not
 * the model's.
 */
export const limitStream = <P extends Part, E, R>(
  self: Stream.Stream<P, E, R>,
  limits: Limits,
  watch: Watch,
  insulation: Insulation,
  method: string
): Stream.Stream<P, E | AiError.AiError, R> =>
  Stream.unwrapScoped(
    Effect.gen(function* () {
      const clock = yield* Effect.clock
      const pull = insulation.inside(yield* insulation.inside(Stream.toPull(self)))
      const started = millisOf(clock)
      let output = false
      let waited = 0
      const next: Effect.Effect<Chunk.Chunk<P>, Option.Option<E | AiError.AiError>, R> = Effect.suspend(() => {
        const from = millisOf(clock)
        const gap = output ? limits.idle : limits.firstOutput
        const total = started + limits.total - from
        const [limit, left, whole]: readonly [string, number, number] =
          total < gap - waited ? ["total", total, limits.total] : [output ? "idle" : "firstOutput", gap - waited, gap]
        const pulled = Number.isFinite(left)
          ? Effect.raceFirst(
              pull,
              Effect.mapError(
                alarm(Math.max(0, left), watch, () => timedOut(limit, whole, method)),
                Option.some
              )
            )
          : pull
        return Effect.map(pulled, (chunk) => {
          const meaningful = some(chunk)
          output ||= meaningful
          waited = meaningful ? 0 : waited + Math.max(0, millisOf(clock) - from)
          return chunk
        })
      })
      return Stream.repeatEffectChunkOption(next)
    })
  )

const millisOf = (clock: Clock.Clock): number => Number(clock.unsafeCurrentTimeNanos()) / 1_000_000

const some = (chunk: Chunk.Chunk<Part>): boolean => {
  for (const part of chunk) if (isOutput(part)) return true
  return false
}
