import type * as Fallback from "@switchgear/core/Fallback"
import * as FallbackBudget from "@switchgear/core/FallbackBudget"
import * as Walk from "@switchgear/core/Walk"
import type { Clock } from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Attempt } from "../Attempt.js"
import type { Failed, Reason, Refused } from "../RouteError.js"
import { RouteError } from "../RouteError.js"
import { attempt, type Call, type Outcome, skipped } from "./attempt.js"
import * as Gate from "./gate.js"
import type { Request, Routed } from "./model.js"
import { chainTargets, type Route } from "./targets.js"
import { monotonicMillis } from "./time.js"

export interface Context {
  readonly routes: ReadonlyMap<string, Route>
  readonly settings: Fallback.Settings
  readonly health: ((provider: string) => number | undefined) | undefined
  /** ms, monotonic: the zero of the budget's time. */
  readonly origin: number
}

/** ROUTING F13, shared by all requests of a router. */
class Budget {
  private state: FallbackBudget.State = FallbackBudget.initial(0)

  constructor(
    private readonly share: number,
    private readonly origin: number
  ) {}

  first(clock: Clock): void {
    if (this.share < 1) this.state = FallbackBudget.first(this.state, monotonicMillis(clock) - this.origin)
  }

  takeHop(clock: Clock): boolean {
    if (this.share >= 1) return true
    const now = monotonicMillis(clock) - this.origin
    if (!FallbackBudget.admits(this.share, this.state, now)) return false
    this.state = FallbackBudget.hop(this.state, now)
    return true
  }
}

/** The chain with what is known of its targets now, for H2 and H4. */
const ranked = (context: Context, chain: ReadonlyArray<Walk.Target>): Effect.Effect<ReadonlyArray<Walk.Target>> =>
  Effect.forEach(chain, (target) => {
    const route = context.routes.get(target.name)
    if (route === undefined) return Effect.succeed(target)
    const score = context.settings.reorderByHealth ? context.health?.(route.slot.provider.name) : undefined
    const scored = score === undefined ? target : { ...target, score }
    if (!context.settings.preferHealthyState) return Effect.succeed(scored)
    return Effect.map(Gate.stateOf(route.gates), (state) => ({ ...scored, state }))
  })

/** One request on its way over the targets. */
class Journey {
  private readonly outcomes: Array<Outcome> = []

  constructor(
    private readonly context: Context,
    private readonly primary: Route,
    private readonly call: Call
  ) {}

  /** The primary is due first whatever the chain (ROUTING F1), so the chain is looked at only when it is needed. */
  start(): Effect.Effect<Routed, RouteError, Scope.Scope> {
    const { first, plan, chain } = this.prepare()
    const { preferHealthyState, reorderByHealth } = this.context.settings
    return Effect.flatMap(attempt(this.call, this.primary, first), (outcome) => {
      this.outcomes.push(outcome)
      if (outcome.event._tag === "Served" || chain.length < 2 || !(preferHealthyState || reorderByHealth)) {
        return this.after(Walk.step(first, outcome.event))
      }
      return Effect.flatMap(ranked(this.context, chain), (chain) =>
        this.after(Walk.step(Walk.start({ ...plan, chain }), outcome.event))
      )
    })
  }

  private prepare() {
    const { apiKey, chain, fallback } = this.call.request
    const { primary } = this
    const plan = { primary: primary.target, settings: this.context.settings }
    if (fallback === false || apiKey !== undefined) return { first: primary.alone, plan, chain: [] }
    if (chain === undefined) return { first: primary.first, plan, chain: primary.chain }
    const targets = chainTargets(primary, chain, this.context.routes)
    return { first: Walk.start({ ...plan, chain: targets }), plan, chain: targets }
  }

  private after(step: Walk.Step): Effect.Effect<Routed, RouteError, Scope.Scope> {
    if (step._tag === "Done") return this.end(step)
    const route = this.context.routes.get(step.target.name)
    const next =
      route === undefined
        ? Effect.succeed(skipped(step.target.name, step.hop, "unknown"))
        : attempt(this.call, route, step)
    return Effect.flatMap(next, (outcome) => {
      this.outcomes.push(outcome)
      return this.after(Walk.step(step, outcome.event))
    })
  }

  private end({ answer, attempts: walked }: Walk.Done): Effect.Effect<Routed, RouteError> {
    const attempts = this.attempts(walked)
    const last = this.outcomes.at(-1)
    if (answer._tag === "Served" && last?.answer !== undefined && last.attempt._tag === "Served") {
      const { model, provider } = last.attempt
      return Effect.succeed({ answer: last.answer, model, provider, substituted: answer.substituted, attempts })
    }
    const reason = reasonOf(answer, attempts)
    if (reason === undefined) return Effect.interrupt
    return Effect.fail(new RouteError({ model: this.call.request.model, reason, attempts }))
  }

  /** What the walk passed over by itself has no outcome here. */
  private attempts(walked: ReadonlyArray<Walk.Attempt>): ReadonlyArray<Attempt> {
    if (walked.length === this.outcomes.length) return this.outcomes.map((outcome) => outcome.attempt)
    const rest = [...this.outcomes]
    return walked.map(({ event, hop, target }): Attempt => {
      const own = event._tag === "Ineligible" ? undefined : rest.shift()?.attempt
      return own ?? { _tag: "Skipped", model: target.name, hop, reason: "context_window" }
    })
  }
}

const errorOf = (attempt: Attempt | undefined): Failed | Refused | undefined => {
  if (attempt?._tag === "Failed") return { _tag: "Failed", model: attempt.model, error: attempt.error }
  if (attempt?._tag !== "Refused") return undefined
  const { kind, retryAfter } = attempt
  const refused = { _tag: "Refused", kind, status: 503 } as const
  return retryAfter === undefined ? refused : { ...refused, retryAfter }
}

/** What the walk's answer is in the errors that the attempts had; `undefined`: nothing is to be answered. */
const reasonOf = (answer: Walk.Answer, attempts: ReadonlyArray<Attempt>): Reason | undefined => {
  switch (answer._tag) {
    case "Failed":
    case "Broken":
      return errorOf(attempts[answer.index])
    case "Exhausted":
      return { _tag: "Exhausted", errors: answer.indices.flatMap((index) => errorOf(attempts[index]) ?? []) }
    case "Refused": {
      const open = attempts.some((one) => one._tag === "Refused" && one.kind === "circuit_open")
      const { retryAfter, status } = answer
      const refused = { _tag: "Refused", kind: open ? "circuit_open" : "saturated", status } as const
      return retryAfter === undefined ? refused : { ...refused, retryAfter }
    }
    case "NotAllowed":
    case "PolicyUnavailable":
    case "UnknownModel":
    case "Ineligible":
      return answer
    case "Served":
    case "Cancelled":
      return undefined
  }
}

export const route = (context: Context) => {
  const budget = new Budget(context.settings.budget, context.origin)
  return (request: Request): Effect.Effect<Routed, RouteError, Scope.Scope> =>
    Effect.clockWith((clock) => {
      const primary = context.routes.get(request.model)
      if (primary === undefined) {
        const { attempt } = skipped(request.model, false, "unknown")
        const reason: Reason = { _tag: "UnknownModel" }
        return Effect.fail(new RouteError({ model: request.model, reason, attempts: [attempt] }))
      }
      if (request.apiKey === undefined) budget.first(clock)
      const call: Call = {
        request,
        clock,
        startedAt: monotonicMillis(clock),
        takeHop: () => budget.takeHop(clock)
      }
      return new Journey(context, primary, call).start()
    })
}
