import * as Breaker from "@switchgear/core/Breaker"
import * as Walk from "@switchgear/core/Walk"
import type {
  Answer,
  JsonAnswer,
  ProviderError,
  ProviderRequest,
  RetryMode,
  StreamAnswer
} from "@switchgear/providers/Provider"
import * as Cause from "effect/Cause"
import type { Clock } from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import * as Scope from "effect/Scope"
import type { Attempt } from "../Attempt.js"
import * as Gate from "./gate.js"
import { replaceMembers } from "./jsonBytes.js"
import type { Request } from "./model.js"
import type { Route, Slot } from "./targets.js"
import { monotonicMillis } from "./time.js"
import { type Ending, WatchedBody } from "./watchedBody.js"

/** What came of one target: the walk's event, the record for telemetry, and the answer if there is one. */
export interface Outcome {
  readonly event: Walk.Event
  readonly attempt: Attempt
  readonly answer?: Answer
}

/** What the attempts of one request share. */
export interface Call {
  readonly request: Request
  readonly clock: Clock
  /** ms, monotonic */
  readonly startedAt: number
  /** Whether one more hop fits the budget, which it then takes (ROUTING F13). */
  readonly takeHop: () => boolean
}

const passes = {
  denied: Walk.denied,
  policy_error: Walk.policyError,
  unknown: Walk.unknown,
  over_budget: Walk.overBudget
} as const

/** A target that was not even tried. */
export const skipped = (model: string, hop: boolean, reason: keyof typeof passes): Outcome => ({
  event: passes[reason],
  attempt: { _tag: "Skipped", model, hop, reason }
})

const refused = (
  route: Route,
  hop: boolean,
  kind: "circuit_open" | "saturated",
  retryAfter?: number | undefined,
  openedBy?: string | undefined
): Outcome => {
  const base = { _tag: "Refused", model: route.name, provider: route.slot.provider.name, hop, kind } as const
  return {
    event: Walk.refused(kind, { retryAfter, openedBy }),
    attempt: retryAfter === undefined ? base : { ...base, retryAfter }
  }
}

/** ROUTING F5: every hop passes the policy, and so does the primary. */
const allowed = (call: Call, name: string, hop: boolean): Effect.Effect<Outcome | undefined> | undefined => {
  const { allow } = call.request
  if (allow === undefined) return undefined
  return Effect.match(allow(name), {
    onFailure: () => skipped(name, hop, "policy_error"),
    onSuccess: (is) => (is ? undefined : skipped(name, hop, "denied"))
  })
}

/** One target: may it be called, and what came of it. Whatever interrupts it, permits and upstream call are given back. */
export const attempt = (call: Call, route: Route, step: Walk.Next): Effect.Effect<Outcome, never, Scope.Scope> => {
  const asked = allowed(call, route.name, step.hop)
  const reached = reach(call, route, step)
  return asked === undefined
    ? reached
    : Effect.flatMap(asked, (no) => (no === undefined ? reached : Effect.succeed(no)))
}

/** Retries inside a target (ROUTING F12). */
const retryMode = (step: Walk.Next, state: Breaker.ObservedState): RetryMode => {
  if (step.lastResort || state !== "Closed") return "none"
  return step.rest.length > 0 ? "now" : "wait"
}

const reach = (call: Call, route: Route, step: Walk.Next): Effect.Effect<Outcome, never, Scope.Scope> =>
  Effect.uninterruptibleMask((restore) => {
    const { request } = call
    const { slot } = route
    // ROUTING F8: a caller's own key neither reads nor writes what is shared
    const own = request.apiKey !== undefined
    if (!own && slot.running >= slot.maxConcurrent) return Effect.succeed(refused(route, step.hop, "saturated"))
    const counted = own ? undefined : slot
    if (counted !== undefined) counted.running++
    const gates = own ? [] : route.gates
    // ROUTING F10: a last resort is called outside its breakers' count
    return Effect.matchEffect(Gate.acquire(step.lastResort ? [] : gates), {
      onFailure: ({ open, openedBy }) => {
        leave(counted)
        return Effect.succeed(refused(route, step.hop, "circuit_open", open.retryAfterMillis, openedBy))
      },
      onSuccess: (held) => {
        if (step.hop && !call.takeHop()) {
          leave(counted)
          return Effect.as(Gate.report(held, Breaker.released), skipped(route.name, step.hop, "over_budget"))
        }
        return Effect.flatMap(Gate.stateOf(gates), (state) => {
          const one = new Running(call, route, step, held, counted, state)
          const upstream = Effect.suspend(() => route.slot.provider.call(one.upstreamRequest()))
          return Effect.matchCauseEffect(restore(upstream), {
            onFailure: (cause) => one.failed(cause),
            onSuccess: (answer) => (answer._tag === "Json" ? one.json(answer) : one.stream(answer))
          })
        })
      }
    })
  })

const leave = (slot: Slot | undefined): void => {
  if (slot !== undefined) slot.running--
}

/** A call on its way, with what it holds. */
class Running {
  private readonly startedAt: number

  constructor(
    private readonly call: Call,
    private readonly route: Route,
    private readonly step: Walk.Next,
    private readonly held: ReadonlyArray<Gate.Held>,
    private readonly slot: Slot | undefined,
    private readonly state: Breaker.ObservedState
  ) {
    this.startedAt = monotonicMillis(call.clock)
  }

  upstreamRequest(): ProviderRequest {
    const { request, startedAt } = this.call
    const { apiKey, body, headers, operation, stream, timeLeft } = request
    const model = this.route.upstream
    return {
      operation,
      model,
      // ROUTING W6: as it came, but for the model's name
      body: replaceMembers(body, "model", this.route.upstreamJson) ?? body,
      stream,
      headers,
      retry: retryMode(this.step, this.state),
      ...(timeLeft === undefined ? undefined : { timeLeft: Math.max(0, timeLeft - (this.startedAt - startedAt)) }),
      ...(apiKey === undefined ? undefined : { apiKey })
    }
  }

  failed(cause: Cause.Cause<ProviderError>): Effect.Effect<Outcome> {
    leave(this.slot)
    // DESIGN 3: who went away has not failed
    if (Cause.isInterrupted(cause)) {
      return Effect.zipRight(Gate.report(this.held, Breaker.released), Effect.failCause(Cause.stripFailures(cause)))
    }
    const latency = this.latency()
    const failure = Cause.failureOption(cause)
    if (failure._tag === "None") {
      // a provider's defect is its failure, and no answer of anybody's
      const outcome = Breaker.failure("unknown", { latency })
      return Effect.zipRight(Gate.report(this.held, outcome), Effect.failCause(Cause.stripFailures(cause)))
    }
    const error = failure.value
    return Effect.as(Gate.fail(this.held, error.failure, latency), {
      event: Walk.failed(error.failure),
      attempt: { _tag: "Failed", ...this.record(latency), error }
    })
  }

  json(answer: JsonAnswer): Effect.Effect<Outcome> {
    leave(this.slot)
    const latency = this.latency()
    return Effect.as(Gate.report(this.held, Breaker.success(latency)), this.served(answer, latency))
  }

  /** An accepted stream is open until its scope closes at the latest; how it ends is reported when it ends. */
  stream(answer: StreamAnswer): Effect.Effect<Outcome, never, Scope.Scope> {
    const latency = this.latency()
    return Effect.flatMap(Gate.atFirstOutput(this.held, latency), (held) =>
      Effect.flatMap(Effect.runtime<Scope.Scope>(), (runtime) =>
        Effect.flatMap(Effect.scope, (scope) => {
          const run = Runtime.runFork(runtime)
          const body = new WatchedBody(answer.body, (ending) => {
            leave(this.slot)
            // reports are synchronous: the fiber is over before this returns
            if (held.length > 0) run(reportEnd(held, ending, latency))
          })
          const close = Effect.sync(() => body.close())
          return Effect.as(Scope.addFinalizer(scope, close), this.served({ ...answer, body }, latency))
        })
      )
    )
  }

  private served(answer: Answer, latency: number): Outcome {
    return { event: Walk.served, attempt: { _tag: "Served", ...this.record(latency) }, answer }
  }

  private latency(): number {
    return Math.max(0, monotonicMillis(this.call.clock) - this.startedAt)
  }

  private record(latency: number) {
    const { hop, lastResort } = this.step
    const { name, slot } = this.route
    const probe = Gate.isProbe(this.held)
    return { model: name, provider: slot.provider.name, hop, lastResort, latency, state: this.state, probe }
  }
}

const reportEnd = (held: ReadonlyArray<Gate.Held>, ending: Ending, latency: number): Effect.Effect<unknown> => {
  switch (ending._tag) {
    case "Complete":
      return Gate.report(held, Breaker.success(latency))
    case "Left":
      return Gate.report(held, Breaker.released)
    case "Unknown":
      return Gate.report(held, Breaker.failure("unknown", { latency }))
    case "Failed":
      return Gate.fail(held, ending.error.failure, latency)
  }
}
