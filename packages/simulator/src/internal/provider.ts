import type * as VirtualClock from "@switchgear/clock/VirtualClock"
import * as Failure from "@switchgear/failures/Failure"
import { type Answer, type Provider, ProviderError, type ProviderRequest } from "@switchgear/providers/Provider"
import * as Retry from "@switchgear/providers/Retry"
import * as Effect from "effect/Effect"
import type { Script } from "./behaviour.js"
import { type Fault, meaningOf } from "./errors.js"
import type { ProviderScript } from "./scenarioSchema.js"

/** Names the call whose fate is asked for. */
export const callHeader = "x-simulated-call"

/** Told what reaches a provider. */
export interface Witness {
  readonly called: (provider: number, call: number, model: string, at: number, sick: boolean, probe: boolean) => void
  /** With a good answer, which arrived. */
  readonly answered: (provider: number, call: number, model: string, sick: boolean) => void
}

/** The gateway's own limit, unless the scenario sets another. */
const defaultTotal = 600_000

/** Calls within a call that a provider's own retries may make; each has a fate of its own. */
const retriesPerCall = 8

/** Tries of one call that a client may make: each has a fate of its own. */
export const triesPerCall = 16

/** Whose fate the first attempt at a call draws. */
export const drawOf = (call: number): number => call * triesPerCall * retriesPerCall

const encoder = new TextEncoder()

const good = (model: string): Answer => ({
  _tag: "Json",
  status: 200,
  headers: { "content-type": "application/json" },
  body: encoder.encode(
    JSON.stringify({
      object: "chat.completion",
      model,
      choices: [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }]
    })
  )
})

/** A scripted provider at the product's own port: bytes in and out, failures through the product's classifier. */
export const simulated = (
  config: ProviderScript,
  index: number,
  script: Script,
  clock: VirtualClock.Service,
  witness: Witness
): Provider => {
  const { name } = config
  const total = config.limits.total ?? defaultTotal
  const answers = new Map<string, Effect.Effect<Answer>>()
  const errors = new WeakMap<Fault, Effect.Effect<never, ProviderError>>()
  const tries = new WeakMap<object, number>()

  const answerOf = (model: string): Effect.Effect<Answer> => {
    const known = answers.get(model)
    if (known !== undefined) return known
    const answer = Effect.succeed(good(model))
    answers.set(model, answer)
    return answer
  }

  const errorOf = (fault: Fault): Effect.Effect<never, ProviderError> => {
    const known = errors.get(fault)
    if (known !== undefined) return known
    const response = fault._tag === "Answer" ? { ...fault.answer, body: encoder.encode(fault.answer.body) } : undefined
    const error = Effect.fail(
      new ProviderError({
        provider: name,
        failure: meaningOf(fault),
        ...(response === undefined ? undefined : { response })
      })
    )
    errors.set(fault, error)
    return error
  }

  const timeout = (limit: number) =>
    Effect.fail(
      new ProviderError({
        provider: name,
        failure: Failure.make("timeout", `not finished within ${limit} ms (limit total)`, { code: "total_timeout" })
      })
    )

  /** Which of the provider's own attempts at this call it is. */
  const again = (request: ProviderRequest): number => {
    if (config.retries === undefined) return 0
    const before = tries.get(request.headers) ?? 0
    tries.set(request.headers, before + 1)
    return Math.min(before, retriesPerCall - 1)
  }

  const provider: Provider = {
    name,
    call: (request) =>
      Effect.suspend((): Effect.Effect<Answer, ProviderError> => {
        const { answerWithin, model, timeLeft } = request
        const call = Number(request.headers[callHeader])
        const now = clock.unsafeCurrentTimeMillis()
        const { fault, latency, sick } = script.at(call * retriesPerCall + again(request), model, now)
        witness.called(index, call, model, now, sick, answerWithin !== undefined)
        const limit = Math.min(total, timeLeft ?? Number.POSITIVE_INFINITY, answerWithin ?? Number.POSITIVE_INFINITY)
        if (latency > limit) return Effect.flatMap(Effect.sleep(limit), () => timeout(limit))
        return Effect.flatMap(Effect.sleep(latency), (): Effect.Effect<Answer, ProviderError> => {
          if (fault !== undefined) return errorOf(fault)
          witness.answered(index, call, model, sick)
          return answerOf(model)
        })
      })
  }
  if (config.retries === undefined) return provider
  const { base, cap, max } = config.retries
  return Retry.withRetries(provider, {
    max,
    total,
    ...(base === undefined ? undefined : { base }),
    ...(cap === undefined ? undefined : { cap })
  })
}

/** What the call would have taken, had it gone to a healthy provider. */
export const healthyLatency = (script: Script, call: number): number => script.healthyLatency(call * retriesPerCall)
