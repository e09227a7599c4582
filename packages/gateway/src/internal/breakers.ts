import type { CircuitBreaker } from "@switchgear/breaker/CircuitBreaker"
import type { Mode, Service } from "@switchgear/breaker/CircuitBreakerRegistry"
import type * as Policy from "@switchgear/core/Policy"
import * as Effect from "effect/Effect"
import { breakerName } from "./breakersSection.js"
import type { ModelConfig } from "./modelSection.js"
import type { ProviderConfig } from "./providerSection.js"

interface Configured {
  readonly providers: ReadonlyArray<ProviderConfig>
  readonly models: ReadonlyArray<ModelConfig>
}

type Registry = Pick<Service, "get">

interface Configuration {
  readonly policy: Policy.Policy
  readonly mode: Mode | undefined
}

/** Every breaker of a configuration by its name. */
export const breakersOf = ({ models, providers }: Configured): ReadonlyMap<string, Configuration> => {
  const found = new Map<string, Configuration>()
  for (const { breakers, name } of providers) {
    for (const { key, mode, policy } of breakers) {
      if (key !== "provider:model") found.set(breakerName(key, name, ""), { policy, mode })
      else {
        for (const { provider, upstream } of models) {
          if (provider === name) found.set(breakerName(key, name, upstream), { policy, mode })
        }
      }
    }
  }
  return found
}

const has = ({ breakers }: ProviderConfig, key: ProviderConfig["breakers"][number]["key"]): boolean =>
  breakers.some((each) => each.key === key)

/** What guards all of a provider's calls. */
export const guards = (
  provider: ProviderConfig,
  registry: Registry
): Effect.Effect<{ readonly own: CircuitBreaker; readonly host: CircuitBreaker | undefined }> =>
  Effect.all({
    own: registry.get(breakerName("provider", provider.name, "")),
    host: has(provider, "provider:host")
      ? registry.get(breakerName("provider:host", provider.name, ""))
      : Effect.succeed(undefined)
  })

/** What guards one model besides: names for the same model of a provider share it. */
export const modelGuard = (
  model: ModelConfig,
  providers: ReadonlyArray<ProviderConfig>,
  registry: Registry
): Effect.Effect<CircuitBreaker | undefined> => {
  const provider = providers.find(({ name }) => name === model.provider)
  return provider !== undefined && has(provider, "provider:model")
    ? registry.get(breakerName("provider:model", provider.name, model.upstream))
    : Effect.succeed(undefined)
}
