/**
 * OpenAI itself: Chat Completions, Responses, Embeddings.
 *
 * @since 0.1.0
 */
import * as Config from "effect/Config"
import type * as ConfigError from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as HttpProvider from "./HttpProvider.js"
import * as OpenAiCompatible from "./OpenAiCompatible.js"
import * as Provider from "./Provider.js"

/**
 * @since 0.1.0
 * @category models
 */
export interface Options extends Omit<HttpProvider.Options, "name" | "baseUrl"> {
  /** Default `openai`. */
  readonly name?: string
  /** Default `https://api.openai.com/v1`. */
  readonly baseUrl?: string | URL
  readonly organization?: string
  readonly project?: string
}

/**
 * @since 0.1.0
 * @category constructors
 */
export const make = (options: Options): Effect.Effect<Provider.Provider, never, Scope.Scope> =>
  HttpProvider.make(
    {
      ...options,
      name: options.name ?? "openai",
      baseUrl: options.baseUrl ?? "https://api.openai.com/v1",
      headers: {
        ...(options.organization !== undefined && { "openai-organization": options.organization }),
        ...(options.project !== undefined && { "openai-project": options.project }),
        ...options.headers
      }
    },
    OpenAiCompatible.dialect("openai")
  )

/**
 * @since 0.1.0
 * @category layers
 */
export const layer = (options: Options): Layer.Layer<Provider.Provider> =>
  Layer.scoped(Provider.Provider, make(options))

/**
 * @since 0.1.0
 * @category layers
 */
export const layerConfig = (
  config: Config.Config.Wrap<Options>
): Layer.Layer<Provider.Provider, ConfigError.ConfigError> =>
  Layer.scoped(Provider.Provider, Effect.flatMap(Config.unwrap(config), make))
