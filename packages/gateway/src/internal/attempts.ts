import type { Attempt } from "@switchgear/routing/Attempt"
import * as Effect from "effect/Effect"
import type { Exchange } from "./exchange.js"

/** How many targets were really called. */
export const called = (attempts: ReadonlyArray<Attempt>): number => {
  let count = 0
  for (const { _tag } of attempts) if (_tag === "Served" || _tag === "Failed") count++
  return count
}

/** A key of ours that its provider refuses is the operator's to mend: it is said loudly, and to no client (ROUTING W4). */
export const refusedKey = (exchange: Exchange, attempts: ReadonlyArray<Attempt>): Effect.Effect<void> => {
  for (const attempt of attempts) {
    if (attempt._tag === "Failed" && attempt.error.failure.kind === "auth") {
      return Effect.annotateLogs(Effect.logError("a provider refuses its configured key"), {
        provider: attempt.provider,
        status: attempt.error.failure.status ?? 0,
        id: exchange.id
      })
    }
  }
  return Effect.void
}
