import * as AiError from "@effect/ai/AiError"
import type * as LanguageModel from "@effect/ai/LanguageModel"
import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
import { type CircuitOpen, findOpen } from "@switchgear/breaker/CircuitOpen"
import * as Breaker from "@switchgear/core/Breaker"
import type { ProviderKind } from "@switchgear/failures/ProviderKind"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { type Insulation, make as insulate, type Wrappers } from "./insulate.js"
import { type Inside, type Limits, limitEffect, limitStream } from "./limits.js"
import { commits, faultOf, type Part } from "./parts.js"
import { isContent, meaning, type Options, redactCause } from "./redact.js"
import { Watch } from "./watch.js"
import { whole } from "./whole.js"

/** A model and all that is needed to call it once. */
export interface Target {
  readonly model: LanguageModel.Service
  readonly breaker: CircuitBreaker.CircuitBreaker
  readonly provider: ProviderKind | undefined
  readonly limits: Limits
  readonly secrets: ReadonlyArray<string>
  readonly wrappers: Wrappers
}

/** An answer in one piece. */
export interface Answer {
  readonly content: ReadonlyArray<Part>
}

/** How a method of the service is called on a model. */
export type Call<A> = (model: LanguageModel.Service, watch: Watch) => A

/** One call of one target, and what is known about it when it fails. */
export interface Attempt<A> {
  readonly run: A
  readonly watch: Watch
}

const optionsOf = (target: Target, now: number): Options => ({
  secrets: target.secrets,
  provider: target.provider,
  now
})

/** What the end of a call means for the health of its model. */
const outcomeOf = (target: Target, watch: Watch, exit: Exit.Exit<unknown, unknown>, now: number): Breaker.Outcome => {
  if (exit._tag === "Success") return Breaker.success()
  if (Cause.isInterruptedOnly(exit.cause)) return Breaker.released
  if (watch.foreign) return watch.answered ? Breaker.success() : Breaker.released
  const error = Cause.failureOption(exit.cause)
  if (Option.isNone(error)) return Breaker.failure("unknown")
  if (findOpen(error.value) !== undefined) return Breaker.released
  if (AiError.isAiError(error.value) && isContent(error.value)) return Breaker.success()
  const { kind, retryAfter, status } = meaning(error.value, optionsOf(target, now))
  return kind === "cancelled" || kind === "circuit_open"
    ? Breaker.released
    : Breaker.failure(kind, { status, retryAfter })
}

/**
 * Insulated, and with nothing of the request in its errors. This is done before anything else sees them: a fiber logs the
 * error it ends with.
 */
const inside =
  (target: Target, insulation: Insulation): Inside =>
  (self) =>
    Effect.catchAllCause(insulation.inside(self), (cause) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => Effect.failCause(redactCause(cause, optionsOf(target, now))))
    )

/** One call that answers in one piece: limited, judged, and with nothing of its request in its errors. */
const once = <A extends Answer, E, R>(
  target: Target,
  method: string,
  call: Call<Effect.Effect<A, E, R>>,
  watch: Watch,
  insulation: Insulation
): Effect.Effect<A, E | AiError.AiError, R> =>
  inside(
    target,
    insulation
  )(Effect.suspend(() => call(target.model, watch))).pipe(
    (self) => limitEffect(self, target.limits, watch, method),
    Effect.flatMap((answer) => {
      const fault = faultOf(answer.content, method)
      return fault === undefined ? Effect.succeed(answer) : Effect.fail(fault)
    })
  )

/** One call under the target's breaker, or, as a last resort, beside it. */
export const effect = <A extends Answer, E, R>(
  target: Target,
  method: string,
  call: Call<Effect.Effect<A, E, R>>,
  guarded = true
): Effect.Effect<Attempt<Effect.Effect<A, E | AiError.AiError | CircuitOpen, R>>> =>
  Effect.map(insulate(target.wrappers), (insulation) => {
    if (!guarded) {
      const watch = new Watch(insulation)
      return { watch, run: once(target, method, call, watch, insulation) }
    }
    // The permit is known only once the call has begun, and the tools' watch before that.
    let permit: CircuitBreaker.Permit | undefined
    const watch = new Watch(
      insulation,
      Effect.suspend(() => (permit === undefined ? Effect.void : CircuitBreaker.report(permit, Breaker.success())))
    )
    const run = Effect.acquireUseRelease(
      Effect.tap(CircuitBreaker.unsafeAcquire(target.breaker), (taken) =>
        Effect.sync(() => {
          permit = taken
        })
      ),
      () => once(target, method, call, watch, insulation),
      (taken, exit) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) =>
          CircuitBreaker.report(taken, outcomeOf(target, watch, exit, now))
        )
    )
    return { watch, run }
  })

/** As `effect`, for a stream: under one permit, a probe answered at its first output (SEMANTICS R7). */
export const stream = <P extends Part, E, R>(
  target: Target,
  method: string,
  call: Call<Stream.Stream<P, E, R>>,
  guarded = true
): Effect.Effect<Attempt<Stream.Stream<P, E | AiError.AiError | CircuitOpen, R>>> =>
  Effect.zipWith(insulate(target.wrappers), Effect.clock, (insulation, clock) => {
    const watch = new Watch(insulation)
    const run = Stream.suspend(() => call(target.model, watch)).pipe(
      (self) => limitStream(self, target.limits, watch, inside(target, insulation), method),
      (self) => whole(self, method, () => optionsOf(target, clock.unsafeCurrentTimeMillis()))
    )
    return {
      watch,
      run: guarded
        ? CircuitBreaker.guardStream(run, target.breaker, {
            isOutput: commits,
            classify: (exit, now) => outcomeOf(target, watch, exit, now)
          })
        : run
    }
  })
