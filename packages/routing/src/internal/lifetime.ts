import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import type { Call, Served } from "../Call.js"
import { WatchedBody } from "./watchedBody.js"

/** Closes what a call has open, and waits until those who watched it have done what they do at its end. */
export const close = (bodies: ReadonlyArray<WatchedBody>): Effect.Effect<void> => {
  const told = bodies.flatMap((body) => body.close() ?? [])
  return told.length === 0 ? Effect.void : Effect.promise(() => Promise.all(told))
}

/**
 * A call that is interrupted, or fails with a stream in its hands, leaves none open. What asks for JSON gets no stream,
 * so it needs no mask.
 */
export const closing = <E>(call: Call, serve: Effect.Effect<Served, E>): Effect.Effect<Served, E> =>
  call.request.stream
    ? Effect.uninterruptibleMask((restore) =>
        Effect.matchCauseEffect(restore(serve), {
          onFailure: (cause) => Effect.zipRight(close(call.journal.bodies), Effect.failCause(cause)),
          onSuccess: Effect.succeed
        })
      )
    : serve

/** The same, with a stream that closes with its scope at the latest. */
export const scoped = <E>(serve: Effect.Effect<Served, E>): Effect.Effect<Served, E, Scope.Scope> =>
  Effect.uninterruptibleMask((restore) =>
    Effect.flatMap(restore(serve), (served) => {
      if (served.answer._tag === "Json") return Effect.succeed(served)
      const body = served.answer.body instanceof WatchedBody ? served.answer.body : new WatchedBody(served.answer.body)
      const answer = { ...served.answer, body }
      return Effect.flatMap(Effect.scope, (scope) =>
        Effect.as(
          Scope.addFinalizer(
            scope,
            Effect.suspend(() => close([body]))
          ),
          { ...served, answer }
        )
      )
    })
  )
