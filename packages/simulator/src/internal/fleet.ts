import type { CircuitBreaker } from "@switchgear/breaker/CircuitBreaker"
import * as CircuitBreakerRegistry from "@switchgear/breaker/CircuitBreakerRegistry"
import * as CircuitBreakerStore from "@switchgear/breaker/CircuitBreakerStore"
import * as Fallback from "@switchgear/core/Fallback"
import type { Policy } from "@switchgear/core/Policy"
import type { Provider } from "@switchgear/providers/Provider"
import * as Pipeline from "@switchgear/routing/Pipeline"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Scenario } from "../Scenario.js"

/** The replicas of a gateway: the product's own pipeline in each, over the same providers. */
export interface Fleet {
  readonly pipelines: ReadonlyArray<Pipeline.Service>
  /** One a replica; none without breakers. */
  readonly registries: ReadonlyArray<CircuitBreakerRegistry.Service>
}

/** A breaker by what it stands for, named as in the gateway. */
const names = {
  provider: (provider: string) => provider,
  model: (provider: string, upstream: string) => `${provider}:${upstream}`,
  host: (provider: string) => `${provider} (host)`
}

/** Whose breaker it is. */
export const owners = ({ models, providers }: Scenario): ReadonlyMap<string, string> => {
  const owner = new Map<string, string>()
  for (const { name } of providers) {
    owner.set(names.provider(name), name)
    owner.set(names.host(name), name)
  }
  for (const { name, provider, upstream = name } of models) owner.set(names.model(provider, upstream), provider)
  return owner
}

/** Transitions kept for a reader that is behind; ours reads at every step. */
const bufferSize = 65_536

const settings = (scenario: Scenario): Fallback.Settings => {
  const decoded = Fallback.decode(scenario.fallback)
  return decoded._tag === "Success" ? decoded.value : Fallback.recommended
}

const replica = (
  scenario: Scenario,
  providers: ReadonlyArray<Provider>,
  registry: CircuitBreakerRegistry.Service | undefined
): Effect.Effect<Pipeline.Service, Pipeline.PipelineConfigError> =>
  Effect.gen(function* () {
    const { per } = scenario.breakers
    const breaker = (wanted: boolean, name: string): Effect.Effect<CircuitBreaker | undefined> =>
      registry === undefined || !wanted ? Effect.succeed(undefined) : registry.get(name)
    const guarded = []
    for (const [index, { maxConcurrent, name }] of scenario.providers.entries()) {
      const provider = providers[index]
      if (provider === undefined) continue
      guarded.push({
        provider,
        maxConcurrent,
        breaker: yield* breaker(per.includes("provider"), names.provider(name)),
        hostBreaker: yield* breaker(per.includes("provider:host"), names.host(name))
      })
    }
    const models = []
    for (const { fallbackChain, name, provider, upstream = name } of scenario.models) {
      const own = yield* breaker(per.includes("provider:model"), names.model(provider, upstream))
      models.push({ name, provider, upstream, fallbackChain, breaker: own })
    }
    const stages = [Pipeline.fallback({ settings: settings(scenario) }), Pipeline.breaker()]
    return yield* Pipeline.make({ providers: guarded, models, stages })
  })

/** `policy` `undefined`: no breakers. */
export const make = (
  scenario: Scenario,
  policy: Policy | undefined,
  providers: ReadonlyArray<Provider>
): Effect.Effect<Fleet, Pipeline.PipelineConfigError, Scope.Scope> =>
  Effect.gen(function* () {
    const { enforce, replicas: sharing } = scenario.breakers
    const registries: Array<CircuitBreakerRegistry.Service> = []
    const pipelines: Array<Pipeline.Service> = []
    const store = yield* CircuitBreakerStore.makeMemory
    const registry = (policy: Policy) =>
      sharing === "own"
        ? CircuitBreakerRegistry.make({ policy, enforce, bufferSize })
        : CircuitBreakerRegistry.makeStored({ policy, enforce, bufferSize, mode: "shared" }).pipe(
            Effect.provideService(CircuitBreakerStore.CircuitBreakerStore, store)
          )
    for (let index = 0; index < scenario.replicas; index++) {
      if (policy !== undefined) registries.push(yield* registry(policy))
      pipelines.push(yield* replica(scenario, providers, registries[index]))
    }
    return { pipelines, registries }
  })
