import type { CircuitBreaker } from "@switchgear/breaker/CircuitBreaker"
import type { Fault } from "@switchgear/core/Fallback"
import type { Provider } from "@switchgear/providers/Provider"
import * as Either from "effect/Either"
import type { Gate } from "./gate.js"
import { build, check, type ModelInput, type Route, type Slot } from "./targets.js"

export interface ProviderInput {
  readonly provider: Provider
  readonly breaker?: CircuitBreaker | undefined
  readonly hostBreaker?: CircuitBreaker | undefined
  readonly maxConcurrent?: number | undefined
}

export interface GuardedModelInput extends ModelInput {
  readonly breaker?: CircuitBreaker | undefined
}

/** What a call of each model needs, or all that does not fit together. */
export const routesOf = (
  providers: ReadonlyArray<ProviderInput>,
  models: ReadonlyArray<GuardedModelInput>
): Either.Either<ReadonlyMap<string, Route>, ReadonlyArray<Fault>> => {
  const faults = check(providers, models)
  if (faults.length > 0) return Either.left(faults)
  const slots = new Map<string, Slot>()
  const guards = new Map<string, ReadonlyArray<Gate>>()
  for (const { breaker, hostBreaker, maxConcurrent = Number.POSITIVE_INFINITY, provider } of providers) {
    slots.set(provider.name, { provider, maxConcurrent, running: 0 })
    const gates: Array<Gate> = []
    if (breaker !== undefined) gates.push({ level: "provider", breaker })
    if (hostBreaker !== undefined) gates.push({ level: "host", breaker: hostBreaker })
    guards.set(provider.name, gates)
  }
  const byModel = new Map(models.map((model) => [model.name, model.breaker]))
  const gatesOf = (provider: string, model: string): ReadonlyArray<Gate> => {
    const shared = guards.get(provider) ?? []
    const breaker = byModel.get(model)
    return breaker === undefined ? shared : [...shared, { level: "model", breaker }]
  }
  return Either.right(build(slots, models, gatesOf))
}
