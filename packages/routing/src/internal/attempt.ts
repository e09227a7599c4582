import * as Walk from "@switchgear/core/Walk"
import * as Provider from "@switchgear/providers/Provider"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type { Attempt } from "../Attempt.js"
import { type Call, type Served, Target } from "../Call.js"
import type { CallError, TargetRefused } from "../CallError.js"
import type { Handler } from "../Stage.js"
import { close } from "./lifetime.js"
import type { Route } from "./targets.js"
import { monotonicMillis } from "./time.js"
import { upstreamRequest } from "./upstreamRequest.js"

/** What came of one target: the walk's event, the record for telemetry, and the answer if there is one. */
export interface Outcome {
  readonly event: Walk.Event
  readonly attempt: Attempt
  readonly served?: Served
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

/** A target that cannot serve this request whatever happens (ROUTING W6): passed over, not failed. */
const ineligible = ({ hop, model }: Target, obstacle: string): Outcome => ({
  event: Walk.ineligible(obstacle),
  attempt: { _tag: "Skipped", model, hop, reason: "ineligible", obstacle }
})

const refused = (
  { hop, model, provider }: Target,
  { cooldown, kind, openedBy, retryAfter }: TargetRefused
): Outcome => {
  if (kind === "over_budget") return skipped(model, hop, "over_budget")
  const base = { _tag: "Refused", model, provider, hop, kind } as const
  return {
    event: Walk.refused(kind, { retryAfter, openedBy }),
    attempt: {
      ...base,
      ...(retryAfter === undefined ? undefined : { retryAfter }),
      ...(cooldown === undefined ? undefined : { cooldown })
    }
  }
}

/** ROUTING F5: every hop passes the policy; the primary has, unless nobody asked. */
const allowed = ({ granted }: Call, name: string, hop: boolean): Effect.Effect<Outcome | undefined> | undefined => {
  const { allow, unchecked } = granted
  if (allow === undefined || !(hop || unchecked === true)) return undefined
  return Effect.match(allow(name), {
    onFailure: () => skipped(name, hop, "policy_error"),
    onSuccess: (is) => (is ? undefined : skipped(name, hop, "denied"))
  })
}

/** What goes on with an outcome: a function, not a value to be passed back, which saves every call two steps. */
export type Continue = (outcome: Outcome) => Effect.Effect<Served, CallError>

/** One target: may it be called, and what came of it. */
export const attempt = (
  call: Call,
  next: Handler,
  route: Route,
  step: Walk.Next,
  takeHop: () => boolean,
  then: Continue
): Effect.Effect<Served, CallError> => {
  const asked = allowed(call, route.name, step.hop)
  if (asked === undefined) return reach(call, next, route, step, takeHop, then)
  return Effect.flatMap(asked, (no) => (no === undefined ? reach(call, next, route, step, takeHop, then) : then(no)))
}

const record = (target: Target, call: Call) => {
  const { hop, lastResort, model, probe, provider, startedAt, state } = target
  const latency = Math.max(0, monotonicMillis(call.clock) - startedAt)
  return { model, provider, hop, lastResort, latency, state, probe }
}

const reach = (
  call: Call,
  next: Handler,
  route: Route,
  step: Walk.Next,
  takeHop: () => boolean,
  then: Continue
): Effect.Effect<Served, CallError> => {
  const provider = call.request.via ?? route.slot.provider
  const now = monotonicMillis(call.clock)
  const target = new Target(route.name, provider.name, step.hop, step.lastResort, step.rest.length, now, takeHop)
  if (provider.operations !== undefined || provider.cannotCarry !== undefined) {
    const obstacle = Provider.obstacle(provider, upstreamRequest(call, target, route))
    if (obstacle !== undefined) return then(ineligible(target, obstacle))
  }
  const failed = (cause: Cause.Cause<CallError>): Outcome | undefined => {
    // who went away has not failed, and a defect is no answer of anybody's
    const failure = Cause.isInterrupted(cause) ? undefined : Cause.failureOption(cause)
    if (failure?._tag !== "Some") return undefined
    const error = failure.value
    if (error._tag === "TargetRefused") return refused(target, error)
    // a stage's own refusal ends the call
    if (error._tag !== "ProviderError") return undefined
    return { event: Walk.failed(error.failure), attempt: { _tag: "Failed", ...record(target, call), error } }
  }
  return Effect.matchCauseEffect(next(call.at(target)), {
    onSuccess: (served) => then({ event: Walk.served, attempt: { _tag: "Served", ...record(target, call) }, served }),
    onFailure: (cause) => {
      const outcome = failed(cause)
      if (outcome === undefined) return Effect.failCause(cause)
      // a stage inside may have given up a stream it had
      const { bodies } = call.journal
      return bodies.length === 0 ? then(outcome) : Effect.zipRight(close(bodies), then(outcome))
    }
  })
}
