import type { StreamAnswer } from "@switchgear/providers/Provider"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import { WatchedBody, type Watcher } from "./watchedBody.js"

/** A stream that can be watched and is closed with its scope at the latest; the same if it is one already. */
export const hold = (answer: StreamAnswer): Effect.Effect<StreamAnswer, never, Scope.Scope> => {
  if (answer.body instanceof WatchedBody) return Effect.succeed(answer)
  return Effect.flatMap(Effect.scope, (scope) => {
    const body = new WatchedBody(answer.body)
    const close = Effect.suspend(() => {
      const told = body.close()
      return told === undefined ? Effect.void : Effect.promise(() => told)
    })
    return Effect.as(Scope.addFinalizer(scope, close), { ...answer, body })
  })
}

/** Looks at a stream's chunks and its end. A stage of the user's may have put a body of its own around ours. */
export const watch = (answer: StreamAnswer, watcher: Watcher): Effect.Effect<StreamAnswer, never, Scope.Scope> => {
  const { body } = answer
  if (body instanceof WatchedBody) {
    body.watch(watcher)
    return Effect.succeed(answer)
  }
  return Effect.flatMap(hold(answer), (held) => watch(held, watcher))
}
