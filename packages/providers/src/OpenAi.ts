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
 * Where OpenAI's API is, on whose behalf it is called, the key, and the limits of its calls.
 *
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
 * Chat Completions, Responses and Embeddings of api.openai.com, or of a base URL in its place. It lives as long as its scope.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as OpenAi from "@switchgear/providers/OpenAi"
 * import * as Effect from "effect/Effect"
 * import * as Redacted from "effect/Redacted"
 *
 * const program = Effect.gen(function*() {
 *   const provider = yield* OpenAi.make({ apiKey: Redacted.make("sk-...") })
 *   assert.strictEqual(provider.name, "openai")
 * })
 *
 * await Effect.runPromise(Effect.scoped(program))
 * ```
 *
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
 * The provider of a service that uses this one only.
 *
 * @example
 * ```ts
 * import * as OpenAi from "@switchgear/providers/OpenAi"
 * import { Provider } from "@switchgear/providers/Provider"
 * import * as Effect from "effect/Effect"
 * import * as assert from "node:assert"
 *
 * const name = Effect.map(Provider, (provider) => provider.name)
 * const Live = OpenAi.layer({ name: "mine" })
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
 * import * as OpenAi from "@switchgear/providers/OpenAi"
 * import { Provider } from "@switchgear/providers/Provider"
 * import * as Config from "effect/Config"
 * import * as ConfigProvider from "effect/ConfigProvider"
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 *
 * const Live = OpenAi.layerConfig({
 *   name: Config.succeed("mine"),
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
