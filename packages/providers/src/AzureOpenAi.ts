/**
 * OpenAI's models in Azure: a deployment's URL and an `api-key` header.
 *
 * @since 0.1.0
 */
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as HttpProvider from "./HttpProvider.js"
import * as Provider from "./Provider.js"

/**
 * An Azure resource, its API's version, the key, and the limits of its calls.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options extends Omit<HttpProvider.Options, "name"> {
  /** Default `azure-openai`. */
  readonly name?: string
  /** The resource: `https://NAME.openai.azure.com`. The request's model is the deployment's name. */
  readonly baseUrl: string | URL
  /** Default `2024-10-21`. `v1` uses the API without deployments in its paths, `/openai/v1/...`. */
  readonly apiVersion?: string
}

const paths = {
  "chat.completions": "/chat/completions",
  responses: "/responses",
  embeddings: "/embeddings",
  messages: "/messages"
} as const satisfies { readonly [O in Provider.Operation]: string }

/**
 * A deployment's paths, the key as `api-key`.
 *
 * @example
 * ```ts
 * import * as AzureOpenAi from "@switchgear/providers/AzureOpenAi"
 * import * as Provider from "@switchgear/providers/Provider"
 * import * as assert from "node:assert"
 *
 * const request = Provider.request("chat.completions", { model: "m", messages: [] })
 * assert.strictEqual(AzureOpenAi.dialect("2024-10-21").path(request), "/openai/deployments/m/chat/completions?api-version=2024-10-21")
 * ```
 *
 * @since 0.1.0
 * @category dialects
 */
export const dialect = (apiVersion = "2024-10-21"): HttpProvider.Dialect => ({
  kind: "azure-openai",
  operations: ["chat.completions", "responses", "embeddings"],
  path: (request) => {
    const path = paths[request.operation]
    if (apiVersion === "v1") return `/openai/v1${path}`
    const query = `?api-version=${encodeURIComponent(apiVersion)}`
    // Responses names its deployment in the body.
    if (request.operation === "responses") return `/openai${path}${query}`
    return `/openai/deployments/${encodeURIComponent(request.model)}${path}${query}`
  },
  credential: (key) => ["api-key", key]
})

/**
 * One Azure resource; the request's model picks the deployment. It lives as long as its scope.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as AzureOpenAi from "@switchgear/providers/AzureOpenAi"
 * import * as Effect from "effect/Effect"
 * import * as Redacted from "effect/Redacted"
 *
 * const program = Effect.gen(function*() {
 *   const provider = yield* AzureOpenAi.make({
 *     baseUrl: "https://mine.openai.azure.com",
 *     apiKey: Redacted.make("...")
 *   })
 *   assert.strictEqual(provider.name, "azure-openai")
 * })
 *
 * await Effect.runPromise(Effect.scoped(program))
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (options: Options): Effect.Effect<Provider.Provider, never, Scope.Scope> =>
  HttpProvider.make({ ...options, name: options.name ?? "azure-openai" }, dialect(options.apiVersion))

/**
 * The provider of a service that uses this one only.
 *
 * @example
 * ```ts
 * import * as AzureOpenAi from "@switchgear/providers/AzureOpenAi"
 * import { Provider } from "@switchgear/providers/Provider"
 * import * as Effect from "effect/Effect"
 * import * as assert from "node:assert"
 *
 * const name = Effect.map(Provider, (provider) => provider.name)
 * const Live = AzureOpenAi.layer({ name: "mine", baseUrl: "https://mine.openai.azure.com" })
 * assert.strictEqual(await Effect.runPromise(Effect.provide(name, Live)), "mine")
 * ```
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (options: Options): Layer.Layer<Provider.Provider> =>
  Layer.scoped(Provider.Provider, make(options))

/**
 * The same from configuration.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as AzureOpenAi from "@switchgear/providers/AzureOpenAi"
 * import { Provider } from "@switchgear/providers/Provider"
 * import * as Config from "effect/Config"
 * import * as ConfigProvider from "effect/ConfigProvider"
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 *
 * const Live = AzureOpenAi.layerConfig({
 *   name: Config.succeed("mine"),
 *   baseUrl: Config.string("API_URL"),
 *   apiKey: Config.redacted("API_KEY")
 * })
 * const Env = Layer.setConfigProvider(ConfigProvider.fromMap(new Map([["API_KEY", "sk-1"], ["API_URL", "https://llm.example/v1"]])))
 * const name = Effect.map(Provider, (provider) => provider.name)
 *
 * assert.strictEqual(await Effect.runPromise(Effect.provide(name, Live.pipe(Layer.provide(Env)))), "mine")
 * ```
 *
 * @since 0.1.0
 * @category layers
 */
export const layerConfig = (
  config: Config.Config.Wrap<Options>
): Layer.Layer<Provider.Provider, ConfigError.ConfigError> =>
  Layer.scoped(Provider.Provider, Effect.flatMap(Config.unwrap(config), make))
