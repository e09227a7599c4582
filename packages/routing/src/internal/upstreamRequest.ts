import type { ProviderRequest, RetryMode } from "@switchgear/providers/Provider"
import type { Call, Target } from "../Call.js"
import { replaceMembers } from "./jsonBytes.js"
import type { Route } from "./targets.js"
import { monotonicMillis } from "./time.js"

/** Retries inside a target (ROUTING F12). */
const retryMode = ({ lastResort, left, state }: Target): RetryMode => {
  if (lastResort || state !== "Closed") return "none"
  return left > 0 ? "now" : "wait"
}

/** ROUTING W6: as it came, but for the model's name. Made once a target, because a translation is kept by its bytes. */
const upstreamBody = (body: Uint8Array, target: Target, route: Route): Uint8Array => {
  target.body ??= replaceMembers(body, "model", route.upstreamJson) ?? body
  return target.body
}

/** What goes to the provider of a target. */
export const upstreamRequest = (call: Call, target: Target, route: Route): ProviderRequest => {
  const { apiKey, body, headers, operation, stream, timeLeft } = call.request
  return {
    operation,
    model: route.upstream,
    body: upstreamBody(body, target, route),
    stream,
    headers,
    retry: retryMode(target),
    ...(timeLeft === undefined
      ? undefined
      : { timeLeft: Math.max(0, timeLeft - (monotonicMillis(call.clock) - call.startedAt)) }),
    ...(target.lease === undefined ? undefined : { answerWithin: target.lease }),
    ...(apiKey === undefined ? undefined : { apiKey })
  }
}
