/**
 * Anthropic's Messages.
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
 * Where Anthropic's API is, the key, and the limits of its calls.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options extends Omit<HttpProvider.Options, "name" | "baseUrl"> {
  /** Default `anthropic`. */
  readonly name?: string
  /** Default `https://api.anthropic.com`. `/v1` is appended unless it ends so, since people write it both ways. */
  readonly baseUrl?: string | URL
  /** Default `2023-06-01`; a request that forwards an `anthropic-version` goes before. */
  readonly version?: string
}

/**
 * Messages, the key as `x-api-key`, the version as a header.
 *
 * @example
 * ```ts
 * import * as Anthropic from "@switchgear/providers/Anthropic"
 * import * as Provider from "@switchgear/providers/Provider"
 * import * as assert from "node:assert"
 *
 * const request = Provider.request("messages", { model: "m", messages: [] })
 * assert.strictEqual(Anthropic.dialect().path(request), "/messages")
 * ```
 *
 * @since 0.1.0
 * @category dialects
 */
export const dialect = (version = "2023-06-01"): HttpProvider.Dialect => ({
  kind: "anthropic",
  operations: ["messages"],
  path: () => "/messages",
  credential: (key) => ["x-api-key", key],
  headers: { "anthropic-version": version }
})

const versioned = (baseUrl: string): string =>
  /\/v\d+\/*$/.test(baseUrl) ? baseUrl : `${baseUrl.replace(/\/+$/, "")}/v1`

/**
 * Messages of api.anthropic.com, or of a base URL in its place. It lives as long as its scope.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Anthropic from "@switchgear/providers/Anthropic"
 * import * as Effect from "effect/Effect"
 * import * as Redacted from "effect/Redacted"
 *
 * const program = Effect.gen(function*() {
 *   const provider = yield* Anthropic.make({ apiKey: Redacted.make("sk-ant-...") })
 *   assert.strictEqual(provider.name, "anthropic")
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
      name: options.name ?? "anthropic",
      baseUrl: versioned(`${options.baseUrl ?? "https://api.anthropic.com"}`)
    },
    dialect(options.version)
  )

/**
 * The provider of a service that uses this one only.
 *
 * @example
 * ```ts
 * import * as Anthropic from "@switchgear/providers/Anthropic"
 * import { Provider } from "@switchgear/providers/Provider"
 * import * as Effect from "effect/Effect"
 * import * as assert from "node:assert"
 *
 * const name = Effect.map(Provider, (provider) => provider.name)
 * const Live = Anthropic.layer({ name: "mine" })
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
 * import * as Anthropic from "@switchgear/providers/Anthropic"
 * import { Provider } from "@switchgear/providers/Provider"
 * import * as Config from "effect/Config"
 * import * as ConfigProvider from "effect/ConfigProvider"
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 *
 * const Live = Anthropic.layerConfig({
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
