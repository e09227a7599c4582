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
 * @since 0.1.0
 * @category constructors
 */
export const make = (options: Options): Effect.Effect<Provider.Provider, never, Scope.Scope> =>
  HttpProvider.make(options, dialect(options.kind))

/**
 * @since 0.1.0
 * @category layers
 */
export const layer = (options: Options): Layer.Layer<Provider.Provider> =>
  Layer.scoped(Provider.Provider, make(options))

/**
 * The same from configuration, such as `{ name: Config.succeed("vllm"), baseUrl: Config.string("VLLM_URL"), ... }`.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerConfig = (
  config: Config.Config.Wrap<Options>
): Layer.Layer<Provider.Provider, ConfigError.ConfigError> =>
  Layer.scoped(Provider.Provider, Effect.flatMap(Config.unwrap(config), make))
