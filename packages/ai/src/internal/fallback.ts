import type * as AiError from "@effect/ai/AiError"
import type { CircuitOpen } from "@switchgear/breaker/CircuitOpen"
import * as Walk from "@switchgear/core/Walk"
import * as Cause from "effect/Cause"
import type * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import type * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as attempt from "./attempt.js"
import { openTo } from "./faults.js"
import { commits, isEmptyDelta, type Part } from "./parts.js"
import type { Around } from "./service.js"
import { annotate, type Plan, Walking } from "./walking.js"

const effect =
  (plan: Plan): Around["effect"] =>
  <A extends attempt.Answer, E, R>(
    method: string,
    call: attempt.Call<Effect.Effect<A, E, R>>
  ): Effect.Effect<A, E | AiError.AiError, R> =>
    Effect.gen(function* () {
      const walking = new Walking<E>(plan, method)
      let step: Walk.Step = yield* plan.start
      while (step._tag === "Next") {
        const next: Walk.Next = step
        const target = plan.get(next.target.name)
        if (target === undefined || (yield* plan.isOverBudget(next))) {
          step = Walk.step(next, target === undefined ? Walk.unknown : Walk.overBudget)
          continue
        }
        const one = yield* attempt.effect(
          target,
          method,
          (model, watch) => Effect.zipRight(plan.count(next), call(model, watch)),
          !next.lastResort
        )
        const exit: Exit.Exit<A, E | AiError.AiError | CircuitOpen> = yield* Effect.exit(one.run)
        if (exit._tag === "Success") {
          yield* annotate(Walk.step(next, Walk.served).attempts)
          return exit.value
        }
        step = yield* walking.failed(next, exit.cause, one)
      }
      yield* annotate(step.attempts)
      return yield* walking.answer(step)
    })

type Pull<P, E, R> = Effect.Effect<Chunk.Chunk<P>, Option.Option<E>, R>

/** Reads until the first part that commits. Parts before it are held, so that a reader never sees those of a target that fails. */
const hold = <P extends Part, E, R>(pull: Pull<P, E, R>, held: Array<P>): Effect.Effect<void, E, R> =>
  Effect.matchCauseEffect(pull, {
    onSuccess: (chunk) => {
      let committed = false
      for (const part of chunk) {
        committed ||= commits(part)
        if (committed || !isEmptyDelta(part)) held.push(part)
      }
      return committed ? Effect.void : hold(pull, held)
    },
    onFailure: (cause) =>
      Option.match(Cause.flipCauseOption(cause), { onNone: () => Effect.void, onSome: Effect.failCause })
  })

const stream =
  (plan: Plan): Around["stream"] =>
  <P extends Part, E, R>(
    method: string,
    call: attempt.Call<Stream.Stream<P, E, R>>
  ): Stream.Stream<P, E | AiError.AiError, R> =>
    Stream.unwrapScoped(
      Effect.gen(function* () {
        const outer = yield* Effect.scope
        const walking = new Walking<E>(plan, method)
        let step: Walk.Step = yield* plan.start
        while (step._tag === "Next") {
          const next: Walk.Next = step
          const target = plan.get(next.target.name)
          if (target === undefined || (yield* plan.isOverBudget(next))) {
            step = Walk.step(next, target === undefined ? Walk.unknown : Walk.overBudget)
            continue
          }
          const one = yield* attempt.stream(
            target,
            method,
            (model, watch) => Stream.unwrap(Effect.as(plan.count(next), call(model, watch))),
            !next.lastResort
          )
          const scope = yield* Scope.fork(outer, ExecutionStrategy.sequential)
          const pull: Pull<P, E | AiError.AiError | CircuitOpen, R> = yield* Scope.extend(Stream.toPull(one.run), scope)
          const held: Array<P> = []
          const exit: Exit.Exit<void, E | AiError.AiError | CircuitOpen> = yield* Effect.exit(hold(pull, held))
          if (exit._tag === "Success") {
            yield* annotate(Walk.step(next, Walk.served).attempts)
            return Stream.mapError(
              Stream.concat(Stream.fromIterable(held), Stream.repeatEffectChunkOption(pull)),
              openTo(method)
            )
          }
          yield* Scope.close(scope, exit)
          step = yield* walking.failed(next, exit.cause, one)
        }
        yield* annotate(step.attempts)
        return yield* walking.answer(step)
      })
    )

export const around = (plan: Plan): Around => ({ effect: effect(plan), stream: stream(plan) })
