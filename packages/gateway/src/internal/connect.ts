import * as Anthropic from "@switchgear/providers/Anthropic"
import * as AzureOpenAi from "@switchgear/providers/AzureOpenAi"
import type { Options } from "@switchgear/providers/HttpProvider"
import * as OpenAiCompatible from "@switchgear/providers/OpenAiCompatible"
import type { Provider } from "@switchgear/providers/Provider"
import * as ScriptedProvider from "@switchgear/providers/ScriptedProvider"
import * as Translated from "@switchgear/providers/Translated"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { RetriesConfig, TimeoutsConfig } from "./limitsSection.js"
import type { ModelConfig } from "./modelSection.js"
import type { ProviderConfig } from "./providerSection.js"
import type { ScriptStep } from "./scriptSection.js"

type Made = Effect.Effect<Provider, never, Scope.Scope>

/** The values that are there: an absent limit is the provider's default. */
const given = <A>(values: { readonly [K in keyof A]: A[K] | undefined }): { readonly [K in keyof A]?: A[K] } => {
  const out: { [K in keyof A]?: A[K] } = {}
  for (const key in values) {
    const value = values[key]
    if (value !== undefined) out[key] = value
  }
  return out
}

const step = (each: ScriptStep): ScriptedProvider.Step => {
  switch (each._tag) {
    case "Ok":
      return ScriptedProvider.ok(each.text)
    case "Status":
      return ScriptedProvider.status(
        each.status,
        each.retryAfter === undefined ? {} : { headers: { "retry-after-ms": String(each.retryAfter) } }
      )
    case "Hang":
      return ScriptedProvider.hang
    case "Reset":
      return ScriptedProvider.reset
    case "Cut":
      return ScriptedProvider.cut(["cut", " off"])
    case "Drip":
      return ScriptedProvider.drip(each.parts, each.every)
  }
}

const scripted = (name: string, steps: ReadonlyArray<ScriptStep>, timeouts: TimeoutsConfig): Made => {
  const script = steps.map(step)
  const ok = ScriptedProvider.ok()
  const turn = (_: unknown, index: number) => script[index % script.length] ?? ok
  return Effect.succeed(ScriptedProvider.make(name, turn, { timeouts: given(timeouts) }))
}

/** One set of limits and retries. ROUTING W4: whose errors they are decides how they are read. */
const one = (config: ProviderConfig, timeouts: TimeoutsConfig, retries: RetriesConfig | undefined): Made => {
  const { apiKey, apiVersion, baseUrl, kind, name, script } = config
  if (kind === "scripted" || baseUrl === undefined) return scripted(name, script ?? [], timeouts)
  const options: Options = {
    name,
    baseUrl,
    timeouts: given(timeouts),
    ...given({ apiKey }),
    ...(retries === undefined
      ? {}
      : { retries: { max: retries.max, ...given({ base: retries.base, cap: retries.cap }) } })
  }
  return Effect.map(
    kind === "anthropic"
      ? Anthropic.make({ ...options, baseUrl })
      : kind === "azure-openai"
        ? AzureOpenAi.make({ ...options, ...given({ apiVersion }) })
        : OpenAiCompatible.make({ ...options, kind }),
    (provider) => Translated.make(provider, { maxTokensField: maxTokens[kind] ?? "max_tokens" })
  )
}

/** The newer name is known to those who made it; servers that only speak alike know the older one. */
const maxTokens: { readonly [K in ProviderConfig["kind"]]?: "max_completion_tokens" } = {
  openai: "max_completion_tokens",
  "azure-openai": "max_completion_tokens"
}

const hasLimits = ({ retries, timeouts }: ModelConfig): boolean =>
  retries !== undefined || Object.values(timeouts).some((limit) => limit !== undefined)

/** A provider of a configuration. Models with limits of their own have connections of their own behind the same name. */
export const connect = (config: ProviderConfig, models: ReadonlyArray<ModelConfig>): Made =>
  Effect.gen(function* () {
    const general = yield* one(config, config.timeouts, config.retries)
    const own = new Map<string, Provider>()
    for (const model of models) {
      if (model.provider !== config.name || own.has(model.upstream) || !hasLimits(model)) continue
      const timeouts = { ...config.timeouts, ...given(model.timeouts) }
      own.set(model.upstream, yield* one(config, timeouts, model.retries ?? config.retries))
    }
    if (own.size === 0) return general
    return { ...general, call: (request) => (own.get(request.model) ?? general).call(request) }
  })
