import type { RegistryEvent } from "@switchgear/breaker/RegistryEvent"
import type { Transition } from "@switchgear/breaker/Transition"
import * as Effect from "effect/Effect"
import type { RuntimeFiber } from "effect/Fiber"
import * as LogLevel from "effect/LogLevel"
import type { Exchange } from "./exchange.js"
import { logLine } from "./logLine.js"
import { reason } from "./words.js"

/** Asked every few seconds by whoever watches the gateway: of no interest unless something is wrong. */
const probes: ReadonlyArray<string> = ["/healthz", "/readyz", "/metrics"]

/** One line per request. It names models, as clients know them, and nothing of what is said, sent or held secret. */
export const accessLog = (
  fiber: RuntimeFiber<unknown, unknown>,
  exchange: Exchange,
  cancelled: boolean,
  millis: number
): void => {
  const { attempts, id, log, method, path, response } = exchange
  logLine(fiber, probes.includes(path) ? LogLevel.Debug : LogLevel.Info, "request", {
    method,
    path: path.slice(0, 200),
    // nginx's number for a caller who left before the answer's end.
    status: cancelled ? 499 : response.statusCode,
    ms: Math.round(millis),
    attempts,
    ...log,
    id
  })
}

/** What a breaker did, and why. */
export const logTransition = ({ breaker, era, from, reason: why, to }: Transition): Effect.Effect<void> =>
  Effect.annotateLogs(to === "Open" ? Effect.logWarning("breaker") : Effect.logInfo("breaker"), {
    breaker,
    from,
    to,
    era,
    why: `${reason(why)} (${why.rule})`
  })

/** What the registry has to say of itself. */
export const logEvent = (event: RegistryEvent): Effect.Effect<void> => {
  switch (event._tag) {
    case "StoreUnavailable":
      return Effect.logWarning("the breakers' store is away").pipe(Effect.annotateLogs({ reason: event.reason }))
    case "StoreAvailable":
      return Effect.logInfo("the breakers' store is back")
    case "Grown":
      return Effect.logWarning("more breakers than their bound").pipe(
        Effect.annotateLogs({ size: event.size, bound: event.bound })
      )
    case "Unguarded":
      return Effect.logWarning("too many breakers: one more name runs without").pipe(
        Effect.annotateLogs({ breaker: event.breaker, size: event.size })
      )
  }
}
