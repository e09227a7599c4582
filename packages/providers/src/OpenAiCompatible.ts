/**
 * Everyone who speaks OpenAI's wire format: vLLM, Ollama, Mistral, Groq, OpenRouter, Gemini's compatible endpoint.
 *
 * @since 0.1.0
 */
import type { ProviderKind } from "@switchgear/failures/ProviderKind"
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as HttpProvider from "./HttpProvider.js"
import * as Provider from "./Provider.js"

/**
 * Where the server is, whose errors it gives, the key, and the limits of its calls.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options extends HttpProvider.Options {
  /** Whose errors they are. Default `openai-compatible`. */
  readonly kind?: ProviderKind
}

const paths: { readonly [O in Provider.Operation]: string } = {
  "chat.completions": "/chat/completions",
  responses: "/responses",
  embeddings: "/embeddings",
  messages: "/messages"
}

/**
 * OpenAI's paths below the base URL, the key as a bearer token.
 *
 * @example
 * ```ts
 * import * as OpenAiCompatible from "@switchgear/providers/OpenAiCompatible"
 * import * as Provider from "@switchgear/providers/Provider"
 * import * as assert from "node:assert"
 *
 * const request = Provider.request("chat.completions", { model: "m", messages: [] })
 * assert.strictEqual(OpenAiCompatible.dialect("groq").path(request), "/chat/completions")
 * ```
 *
 * @since 0.1.0
 * @category dialects
 */
export const dialect = (kind: ProviderKind = "openai-compatible"): HttpProvider.Dialect => ({
  kind,
  operations: ["chat.completions", "responses", "embeddings"],
  path: (request) => paths[request.operation],
  credential: (key) => ["authorization", `Bearer ${key}`]
})

/**
 * Chat Completions, Responses and Embeddings below a base URL. It lives as long as its scope.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as OpenAiCompatible from "@switchgear/providers/OpenAiCompatible"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function*() {
 *   const provider = yield* OpenAiCompatible.make({
 *     name: "vllm",
 *     baseUrl: "http://10.0.0.7:8000/v1",
 *     timeouts: { firstOutput: "90 seconds" }
 *   })
 *   assert.strictEqual(provider.name, "vllm")
 * })
 *
 * await Effect.runPromise(Effect.scoped(program))
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (options: Options): Effect.Effect<Provider.Provider, never, Scope.Scope> =>
  HttpProvider.make(options, dialect(options.kind))

/**
 * The provider of a service that uses this one only.
 *
 * @example
 * ```ts
 * import * as OpenAiCompatible from "@switchgear/providers/OpenAiCompatible"
 * import { Provider } from "@switchgear/providers/Provider"
 * import * as Effect from "effect/Effect"
 * import * as assert from "node:assert"
 *
 * const name = Effect.map(Provider, (provider) => provider.name)
 * const Live = OpenAiCompatible.layer({ name: "mine", baseUrl: "http://127.0.0.1:8000/v1" })
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
 * import * as OpenAiCompatible from "@switchgear/providers/OpenAiCompatible"
 * import { Provider } from "@switchgear/providers/Provider"
 * import * as Config from "effect/Config"
 * import * as ConfigProvider from "effect/ConfigProvider"
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 *
 * const Live = OpenAiCompatible.layerConfig({
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
