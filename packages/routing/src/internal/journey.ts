import type * as Fallback from "@switchgear/core/Fallback"
import * as FallbackBudget from "@switchgear/core/FallbackBudget"
import * as Walk from "@switchgear/core/Walk"
import type { Clock } from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Attempt } from "../Attempt.js"
import type { Call, Served } from "../Call.js"
import type { CallError } from "../CallError.js"
import { type Failed, type Reason, type Refused, RouteError } from "../RouteError.js"
import type { Handler } from "../Stage.js"
import { attempt, type Continue, type Outcome, skipped } from "./attempt.js"
import * as Gate from "./gate.js"
import { chainTargets, type Route } from "./targets.js"
import { monotonicMillis } from "./time.js"

export interface Context {
  readonly routes: ReadonlyMap<string, Route>
  readonly settings: Fallback.Settings
  /** A provider's health score in [0, 1]; looked up only where the chain is to be sorted by it (ROUTING H2). */
  readonly health: Effect.Effect<(provider: string) => number | undefined> | undefined
  readonly next: Handler
}

/** Walks of a model in their first state, made once: a walk is immutable data. */
interface Starts {
  readonly route: Route
  readonly first: Walk.Next
  readonly alone: Walk.Next
  /** The same for chains of policies. A rule's chain is the same array in every call, so most are found. */
  readonly byChain: WeakMap<
    ReadonlyArray<string>,
    { readonly chain: ReadonlyArray<Walk.Target>; readonly first: Walk.Next }
  >
}

/** ROUTING F13, shared by all calls. Its time begins with the first of them. */
class Budget {
  private state: FallbackBudget.State = FallbackBudget.initial(0)
  private origin: number | undefined = undefined

  constructor(private readonly share: number) {}

  first(clock: Clock): void {
    if (this.share < 1) this.state = FallbackBudget.first(this.state, this.now(clock))
  }

  takeHop(clock: Clock): boolean {
    if (this.share >= 1) return true
    const now = this.now(clock)
    if (!FallbackBudget.admits(this.share, this.state, now)) return false
    this.state = FallbackBudget.hop(this.state, now)
    return true
  }

  private now(clock: Clock): number {
    const now = monotonicMillis(clock)
    if (this.origin === undefined) this.origin = now
    return now - this.origin
  }
}

/** The chain with what is known of its targets now, for H2 and H4. */
const ranked = (context: Context, chain: ReadonlyArray<Walk.Target>): Effect.Effect<ReadonlyArray<Walk.Target>> => {
  const { health, routes, settings } = context
  const known: Effect.Effect<(provider: string) => number | undefined> =
    settings.reorderByHealth && health !== undefined ? health : Effect.succeed(() => undefined)
  return Effect.flatMap(known, (scoreOf) =>
    Effect.forEach(chain, (target) => {
      const route = routes.get(target.name)
      if (route === undefined) return Effect.succeed(target)
      const score = scoreOf(route.slot.provider.name)
      const scored = score === undefined ? target : { ...target, score }
      if (!settings.preferHealthyState) return Effect.succeed(scored)
      return Effect.map(Gate.stateOf(route.gates), (state) => ({ ...scored, state }))
    })
  )
}

/** One call on its way over the targets. */
class Journey {
  private readonly outcomes: Array<Outcome> = []
  private readonly made: Array<Attempt> = []

  constructor(
    private readonly context: Context,
    private readonly primary: Starts,
    private readonly call: Call,
    private readonly takeHop: () => boolean
  ) {}

  /** The primary is due first whatever the chain (ROUTING F1), so the chain is looked at only when it is needed. */
  start(): Effect.Effect<Served, CallError> {
    const { first, plan, chain } = this.prepare()
    // also for one who is told nothing more, because it goes away
    this.call.journal.attempts = this.made
    const { preferHealthyState, reorderByHealth } = this.context.settings
    return this.attempt(this.primary.route, first, (outcome) => {
      this.keep(outcome)
      if (outcome.event._tag === "Served" || chain.length < 2 || !(preferHealthyState || reorderByHealth)) {
        return this.after(Walk.step(first, outcome.event))
      }
      return Effect.flatMap(ranked(this.context, chain), (chain) =>
        this.after(Walk.step(Walk.start({ ...plan, chain }), outcome.event))
      )
    })
  }

  private attempt(route: Route, step: Walk.Next, then: Continue): Effect.Effect<Served, CallError> {
    return attempt(this.call, this.context.next, route, step, this.takeHop, then)
  }

  private keep(outcome: Outcome): void {
    this.outcomes.push(outcome)
    this.made.push(outcome.attempt)
  }

  private prepare() {
    const { byo, granted, request } = this.call
    const { alone, byChain, first, route } = this.primary
    const plan = { primary: route.target, settings: this.context.settings }
    if (request.fallback === false || byo) return { first: alone, plan, chain: [] }
    if (granted.chain === undefined) return { first, plan, chain: route.chain }
    const known = byChain.get(granted.chain)
    if (known !== undefined) return { ...known, plan }
    const chain = chainTargets(route, granted.chain, this.context.routes)
    const begun = { chain, first: Walk.start({ ...plan, chain }) }
    byChain.set(granted.chain, begun)
    return { ...begun, plan }
  }

  private after(step: Walk.Step): Effect.Effect<Served, CallError> {
    if (step._tag === "Done") return this.end(step)
    const route = this.context.routes.get(step.target.name)
    const then: Continue = (outcome) => {
      this.keep(outcome)
      return this.after(Walk.step(step, outcome.event))
    }
    return route === undefined ? then(skipped(step.target.name, step.hop, "unknown")) : this.attempt(route, step, then)
  }

  private end({ answer, attempts: walked }: Walk.Done): Effect.Effect<Served, RouteError> {
    const attempts = this.attempts(walked)
    this.call.journal.attempts = attempts
    const served = this.outcomes.at(-1)?.served
    if (answer._tag === "Served" && served !== undefined) {
      const { cached, model, provider, replayed } = served
      const { substituted } = answer
      return Effect.succeed({ answer: served.answer, model, provider, substituted, attempts, replayed, cached })
    }
    const reason = reasonOf(answer, attempts)
    if (reason === undefined) return Effect.interrupt
    return Effect.fail(new RouteError({ model: this.call.request.model, reason, attempts }))
  }

  /** What the walk passed over by itself has no outcome here. */
  private attempts(walked: ReadonlyArray<Walk.Attempt>): ReadonlyArray<Attempt> {
    if (walked.length === this.made.length) return this.made
    const rest = [...this.made]
    return walked.map(({ event, hop, target }): Attempt => {
      const [next] = rest
      const looked = next?._tag === "Skipped" && next.reason === "ineligible" && next.model === target.name
      const own = event._tag !== "Ineligible" || looked ? rest.shift() : undefined
      return own ?? { _tag: "Skipped", model: target.name, hop, reason: "context_window" }
    })
  }
}

const errorOf = (attempt: Attempt | undefined): Failed | Refused | undefined => {
  if (attempt?._tag === "Failed") return { _tag: "Failed", model: attempt.model, error: attempt.error }
  if (attempt?._tag !== "Refused") return undefined
  return refusedWith(attempt.kind, 503, attempt.retryAfter, attempt.cooldown)
}

const refusedWith = (
  kind: Refused["kind"],
  status: Refused["status"],
  retryAfter: number | undefined,
  cooldown: number | undefined
): Refused => ({
  _tag: "Refused",
  kind,
  status,
  ...(retryAfter === undefined ? undefined : { retryAfter }),
  ...(cooldown === undefined ? undefined : { cooldown })
})

/** What the walk's answer is in the errors that the attempts had; `undefined`: nothing is to be answered. */
const reasonOf = (answer: Walk.Answer, attempts: ReadonlyArray<Attempt>): Reason | undefined => {
  switch (answer._tag) {
    case "Failed":
    case "Broken":
      return errorOf(attempts[answer.index])
    case "Exhausted":
      return { _tag: "Exhausted", errors: answer.indices.flatMap((index) => errorOf(attempts[index]) ?? []) }
    case "Refused": {
      const refused = attempts.filter((one) => one._tag === "Refused")
      const open = refused.find((one) => one.kind === "circuit_open")
      const kind = open === undefined ? "saturated" : "circuit_open"
      return refusedWith(kind, answer.status, answer.retryAfter, open?.cooldown)
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

/** The walk over the targets of a call, each tried by `next`. */
export const walk = (context: Context): Handler => {
  const { routes, settings } = context
  const budget = new Budget(settings.budget)
  const starts = new Map<string, Starts>()
  for (const [name, route] of routes) {
    const { chain, target: primary } = route
    const alone = Walk.start({ primary, chain: [], settings })
    starts.set(name, { route, first: Walk.start({ primary, chain, settings }), alone, byChain: new WeakMap() })
  }
  return (call) =>
    Effect.suspend(() => {
      const { model } = call.request
      const primary = starts.get(model)
      if (primary === undefined) {
        const attempts = [skipped(model, false, "unknown").attempt]
        call.journal.attempts = attempts
        return Effect.fail(new RouteError({ model, reason: { _tag: "UnknownModel" }, attempts }))
      }
      if (!call.byo) budget.first(call.clock)
      return new Journey(context, primary, call, () => budget.takeHop(call.clock)).start()
    })
}
