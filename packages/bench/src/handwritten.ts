import * as Clock from "effect/Clock"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Ref from "effect/Ref"

/** What a service writes when it writes its own: consecutive failures, a cooldown, one probe. */
type State =
  | { readonly _tag: "Closed"; readonly failures: number }
  | { readonly _tag: "Open"; readonly until: number }
  | { readonly _tag: "HalfOpen" }

export class Rejected extends Data.TaggedError("Rejected")<{ readonly retryAfter: number }> {}

export interface HandWritten {
  readonly guard: <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E | Rejected, R>
}

/** A breaker of `Ref`, `Effect.gen` and `Effect.onExit`, without anything that ours has beyond that. */
export const make = (options: {
  readonly failureThreshold: number
  readonly cooldown: number
}): Effect.Effect<HandWritten> =>
  Effect.map(Ref.make<State>({ _tag: "Closed", failures: 0 }), (ref) => {
    const admit = (now: number) =>
      Ref.modify(ref, (state): readonly [number | undefined, State] => {
        switch (state._tag) {
          case "Closed":
            return [undefined, state]
          case "Open":
            return now < state.until ? [state.until - now, state] : [undefined, { _tag: "HalfOpen" }]
          case "HalfOpen":
            return [options.cooldown, state]
        }
      })
    const settle = (exit: Exit.Exit<unknown, unknown>) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) =>
        Ref.update(ref, (state): State => {
          if (Exit.isSuccess(exit)) return state._tag === "Open" ? state : { _tag: "Closed", failures: 0 }
          if (state._tag === "Open") return state
          const failures = state._tag === "Closed" ? state.failures + 1 : options.failureThreshold
          return failures >= options.failureThreshold
            ? { _tag: "Open", until: now + options.cooldown }
            : { _tag: "Closed", failures }
        })
      )
    return {
      guard: (self) =>
        Effect.gen(function* () {
          const now = yield* Clock.currentTimeMillis
          const retryAfter = yield* admit(now)
          if (retryAfter !== undefined) return yield* new Rejected({ retryAfter })
          return yield* Effect.onExit(self, settle)
        })
    }
  })
