import * as Breaker from "@switchgear/core/Breaker"
import { ProviderError } from "@switchgear/providers/Provider"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import type { Call, Served, Target } from "../Call.js"
import { type CallError, TargetRefused } from "../CallError.js"
import type { Handler } from "../Stage.js"
import * as Gate from "./gate.js"
import type { News } from "./news.js"
import { unknownTarget } from "./provide.js"
import type { Route } from "./targets.js"
import { monotonicMillis } from "./time.js"
import { watch } from "./watch.js"
import type { Ending } from "./watchedBody.js"

/** A target behind its breakers: permits of all or none, and each told what concerns it (DESIGN 6). */
export const guarded =
  (next: Handler, routes: ReadonlyMap<string, Route>, news: News | undefined): Handler =>
  (call) => {
    const { target } = call
    const route = target === undefined ? undefined : routes.get(target.model)
    if (target === undefined || route === undefined) return Effect.fail(unknownTarget(call.request.model))
    const { gates } = route
    // ROUTING F8: a caller's own key neither reads nor writes shared health
    if (call.byo || gates.length === 0) return next(call)
    // ROUTING F10: a last resort is called outside its breakers' count
    if (target.lastResort) {
      return Effect.flatMap(Gate.stateOf(gates), (state) => {
        target.state = state
        return next(call)
      })
    }
    return Effect.uninterruptibleMask((restore) =>
      Effect.matchEffect(Gate.acquire(gates), {
        onFailure: ({ cooldown, open, openedBy }) => {
          const retryAfter = open.retryAfterMillis
          return Effect.fail(new TargetRefused({ kind: "circuit_open", retryAfter, openedBy, cooldown }))
        },
        onSuccess: (held) =>
          Effect.flatMap(Gate.stateOf(gates), (state) => {
            target.state = state
            target.probe = Gate.isProbe(held)
            target.lease = Gate.leaseOf(held)
            const one = new Running(call, target, held, news)
            return Effect.matchCauseEffect(restore(next(call)), {
              onFailure: (cause) => one.failed(cause),
              onSuccess: (served) => one.served(served)
            })
          })
      })
    )
  }

/** A call on its way, with the permits it holds. */
class Running {
  private readonly startedAt: number

  constructor(
    private readonly call: Call,
    private readonly target: Target,
    private readonly held: ReadonlyArray<Gate.Held>,
    private readonly news: News | undefined
  ) {
    this.startedAt = monotonicMillis(call.clock)
  }

  failed(cause: Cause.Cause<CallError>): Effect.Effect<never, CallError> {
    return Effect.zipRight(this.reportFailure(cause), Effect.failCause(cause))
  }

  served(served: Served): Effect.Effect<Served> {
    const { answer } = served
    const latency = this.latency()
    if (answer._tag === "Json") return Effect.as(this.succeeded(this.held, latency), served)
    return Effect.flatMap(Gate.atFirstOutput(this.held, latency), (held) =>
      Effect.flatMap(Effect.runtime<never>(), (runtime) => {
        const run = Runtime.runFork(runtime)
        // reports are synchronous: the fiber is over before this returns
        const ended = (ending: Ending) => {
          if (held.length > 0) run(this.reportEnd(held, ending, latency))
        }
        return Effect.succeed({ ...served, answer: watch(answer, { ended }) })
      })
    )
  }

  private reportFailure(cause: Cause.Cause<CallError>): Effect.Effect<unknown> {
    // DESIGN 3: who went away has not failed
    if (Cause.isInterrupted(cause)) return Gate.report(this.held, Breaker.released)
    const failure = Cause.failureOption(cause)
    // a stage's defect, or a provider's, is a failure of whatever this is
    if (failure._tag === "None") return Gate.report(this.held, Breaker.failure("unknown", { latency: this.latency() }))
    // our own refusals count against nobody (DESIGN 5)
    if (!(failure.value instanceof ProviderError)) return Gate.report(this.held, Breaker.released)
    return this.failedWith(this.held, failure.value, this.latency())
  }

  private reportEnd(held: ReadonlyArray<Gate.Held>, ending: Ending, latency: number): Effect.Effect<unknown> {
    switch (ending._tag) {
      case "Complete":
        return this.succeeded(held, latency)
      case "Left":
        return Gate.report(held, Breaker.released)
      case "Unknown":
        return Gate.report(held, Breaker.failure("unknown", { latency }))
      case "Failed":
        return this.failedWith(held, ending.error, latency)
    }
  }

  private succeeded(held: ReadonlyArray<Gate.Held>, latency: number): Effect.Effect<unknown> {
    const counts = this.news === undefined || this.news.success(this.target, monotonicMillis(this.call.clock))
    return Gate.report(held, counts ? Breaker.success(latency) : Breaker.ignored)
  }

  private failedWith(held: ReadonlyArray<Gate.Held>, { failure }: ProviderError, latency: number) {
    const counts =
      this.news === undefined || this.news.failure(this.target, failure, held, monotonicMillis(this.call.clock))
    return counts ? Gate.fail(held, failure, latency) : Gate.report(held, Breaker.ignored)
  }

  private latency(): number {
    return Math.max(0, monotonicMillis(this.call.clock) - this.startedAt)
  }
}
