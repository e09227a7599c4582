import * as Failure from "@switchgear/failures/Failure"
import { type Answer, ProviderError, type StreamAnswer } from "@switchgear/providers/Provider"
import * as Effect from "effect/Effect"
import type { Call, Served, Target } from "../Call.js"
import { type CallError, TargetRefused } from "../CallError.js"
import { RouteError } from "../RouteError.js"
import type { Handler } from "../Stage.js"
import type { Route, Slot } from "./targets.js"
import { upstreamRequest } from "./upstreamRequest.js"
import { WatchedBody } from "./watchedBody.js"

const saturated = new TargetRefused({ kind: "saturated" })
const overBudget = new TargetRefused({ kind: "over_budget" })

/** A target that the pipeline does not know: only a stage of the user's can name one. */
export const unknownTarget = (model: string): RouteError =>
  new RouteError({ model, reason: { _tag: "UnknownModel" }, attempts: [] })

const leave = (slot: Slot | undefined): void => {
  if (slot !== undefined) slot.running--
}

const served = (answer: Answer, { model, provider }: Target): Served => ({
  answer,
  model,
  provider,
  substituted: false,
  attempts: [],
  replayed: false,
  cached: false
})

/** A provider that streams to who asked for JSON keeps no contract: its stream is closed, and it has failed. */
const unasked = ({ body }: StreamAnswer, provider: string): Effect.Effect<never, ProviderError> => {
  new WatchedBody(body).close()
  const failure = Failure.make("server_error", "answered with a stream where none was asked")
  return Effect.fail(new ProviderError({ provider, failure }))
}

/** The innermost handler: one attempt at the target that is due. */
export const provide =
  (routes: ReadonlyMap<string, Route>): Handler =>
  (call) =>
    Effect.suspend((): Effect.Effect<Served, CallError> => {
      const { request, target } = call
      const route = target === undefined ? undefined : routes.get(target.model)
      if (target === undefined || route === undefined) return Effect.fail(unknownTarget(request.model))
      const { slot } = route
      // ROUTING F8: a caller's own key neither reads nor writes what is shared
      if (!call.byo && slot.running >= slot.maxConcurrent) return Effect.fail(saturated)
      if (target.hop && !target.takeHop()) return Effect.fail(overBudget)
      const provider = request.via ?? slot.provider
      const upstream = provider.call(upstreamRequest(call, target, route))
      const counted = call.byo || slot.maxConcurrent === Number.POSITIVE_INFINITY ? undefined : slot
      // what holds nothing needs no mask
      if (counted === undefined && !request.stream) {
        return Effect.flatMap(upstream, (answer) =>
          answer._tag === "Json" ? Effect.succeed(served(answer, target)) : unasked(answer, provider.name)
        )
      }
      return Effect.uninterruptibleMask((restore) => {
        if (counted !== undefined) counted.running++
        return Effect.matchCauseEffect(restore(upstream), {
          onFailure: (cause) => {
            leave(counted)
            return Effect.failCause(cause)
          },
          onSuccess: (answer) => {
            if (answer._tag === "Stream" && !request.stream) {
              leave(counted)
              return unasked(answer, provider.name)
            }
            return Effect.succeed(accepted(answer, call, target, counted))
          }
        })
      })
    })

/** An accepted stream is open until it is read to its end, or closed by whoever looks after the call. */
const accepted = (answer: Answer, call: Call, target: Target, slot: Slot | undefined): Served => {
  if (answer._tag === "Json") {
    leave(slot)
    return served(answer, target)
  }
  const body = new WatchedBody(answer.body)
  if (slot !== undefined) body.watch({ ended: () => leave(slot) })
  call.journal.bodies.push(body)
  return served({ ...answer, body }, target)
}
