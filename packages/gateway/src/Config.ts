/**
 * The gateway's configuration: a YAML file with the environment over it, read to the end before anything is refused.
 *
 * @since 0.1.0
 */
import { readFile } from "node:fs/promises"
import type * as Policy from "@switchgear/core/Policy"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { policy } from "./internal/coreDecoder.js"
import * as Cursor from "./internal/cursor.js"
import { override, overrides } from "./internal/environment.js"
import * as Faults from "./internal/faults.js"
import { checkLinks } from "./internal/links.js"
import type { ProviderConfig } from "./internal/providerSection.js"
import { type RootConfig, root } from "./internal/sections.js"

export type {
  /**
   * One of a provider's breakers, and what it stands for.
   *
   * @since 0.1.0
   * @category models
   */
  BreakerConfig,
  /**
   * All of a provider, each of its models, or its host.
   *
   * @since 0.1.0
   * @category models
   */
  BreakerKey
} from "./internal/breakersSection.js"
export type {
  /**
   * Retries inside one target; times in ms.
   *
   * @since 0.1.0
   * @category models
   */
  RetriesConfig,
  /**
   * The limits of a call, in ms.
   *
   * @since 0.1.0
   * @category models
   */
  TimeoutsConfig
} from "./internal/limitsSection.js"
export type {
  /**
   * A model that clients may ask for, and where it goes.
   *
   * @since 0.1.0
   * @category models
   */
  ModelConfig
} from "./internal/modelSection.js"
export type {
  /**
   * Whether answers are cached, and for how long (ROUTING S3). Default: not; 5 minutes.
   *
   * @since 0.1.0
   * @category models
   */
  CacheConfig,
  /**
   * The headers that tell a client of a substitution (ROUTING W3). Default prefix: `X-Switchgear-Provider`.
   *
   * @since 0.1.0
   * @category models
   */
  HeadersConfig,
  /**
   * What is done with idempotency keys (ROUTING I). Defaults: kept 24 hours, a lease of 9 minutes, no wait, `final`.
   *
   * @since 0.1.0
   * @category models
   */
  IdempotencyConfig
} from "./internal/pipelineSections.js"
export type {
  /**
   * Where a model is served, with which key and limits.
   *
   * @since 0.1.0
   * @category models
   */
  ProviderConfig,
  /**
   * Kinds of provider that a configuration may name: whose wire and errors they are.
   *
   * @since 0.1.0
   * @category models
   */
  ProviderKind
} from "./internal/providerSection.js"
export type {
  /**
   * What a scripted provider does with one call.
   *
   * @since 0.1.0
   * @category models
   */
  ScriptStep
} from "./internal/scriptSection.js"
export type {
  /**
   * Which upstreams callers may bring along.
   *
   * @since 0.1.0
   * @category models
   */
  ByoConfig,
  /**
   * Where the gateway listens, and its own limits.
   *
   * @since 0.1.0
   * @category models
   */
  ServerConfig
} from "./internal/sections.js"
export type {
  /**
   * Where policies, clients and budgets are kept, if not in the store.
   *
   * @since 0.1.0
   * @category models
   */
  PolicyStoreConfig,
  /**
   * Where breakers, policies, clients, idempotency records and budgets are kept (STORES). Default: in memory.
   *
   * @since 0.1.0
   * @category models
   */
  StoreConfig,
  /**
   * Where telemetry is kept. Default: where the store is, if that can keep it; else the last 10 000 calls in memory.
   *
   * @since 0.1.0
   * @category models
   */
  TelemetryConfig
} from "./internal/storeSections.js"

/**
 * Everything the gateway needs to run, checked.
 *
 * @since 0.1.0
 * @category models
 */
export interface GatewayConfig extends RootConfig {}

/**
 * One thing wrong with a configuration: `line` and `column` count from 1 and are absent for a fault of the environment,
 * whose `path` is the variable's name.
 *
 * @since 0.1.0
 * @category models
 */
export type Fault = Faults.Fault

/**
 * The configuration was refused; `faults` names all that is wrong with it. No secret and no address stands in it.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import { ConfigError } from "@switchgear/gateway/Config"
 *
 * const error = new ConfigError({
 *   source: "gateway.yaml",
 *   faults: [{ path: "server.port", message: "must be a port: a whole number from 0 to 65535", line: 1, column: 17 }]
 * })
 * assert.match(error.message, /1 fault in gateway.yaml:\n {2}line 1, server.port: must be a port/)
 * ```
 *
 * @since 0.1.0
 * @category errors
 */
export class ConfigError extends Data.TaggedError("ConfigError")<{
  readonly source: string
  readonly faults: ReadonlyArray<Fault>
}> {
  override get message(): string {
    const count = this.faults.length === 1 ? "1 fault" : `${this.faults.length} faults`
    return [`${count} in ${this.source}:`, ...this.faults.map((fault) => `  ${Faults.renderFault(fault)}`)].join("\n")
  }
}

/**
 * Reads a configuration from YAML text. `env` fills `${NAME}` in and overrides breakers and fallback by
 * `SWITCHGEAR_PROVIDER_CIRCUIT_BREAKER_FAILURES`, `_WINDOW_SECONDS`, `_BUCKET_PERIOD_SECONDS`, `_MIN_SAMPLES`,
 * `_FAILURE_RATE`, `_COOLDOWN_SECONDS` and `SWITCHGEAR_PROVIDER_FALLBACK_MAX_DEPTH`. Keys are `Redacted` from here on.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Config from "@switchgear/gateway/Config"
 * import * as Either from "effect/Either"
 *
 * const result = Config.decode(`
 * providers: [{ name: local, kind: openai-compatible, baseUrl: "http://127.0.0.1:9001/v1" }]
 * models: [{ name: gpt-4o, provider: remote }]
 * `)
 * assert.ok(Either.isLeft(result))
 * assert.strictEqual(result.left.faults[0]?.path, "models[0].provider")
 * assert.strictEqual(result.left.faults[0]?.line, 3)
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const decode = (
  text: string,
  options: { readonly env?: Readonly<Record<string, string | undefined>>; readonly source?: string } = {}
): Either.Either<GatewayConfig, ConfigError> => {
  const reading: Faults.Reading = { env: options.env ?? {}, faults: [], declared: [], mentioned: [] }
  const environment = overrides(reading)
  const top = Cursor.open(text, reading)
  const file = top === undefined ? undefined : root(top)
  checkLinks(reading)
  const providers: Array<ProviderConfig> = []
  for (const provider of file?.providers ?? []) {
    const breakers: Array<ProviderConfig["breakers"][number]> = []
    for (const breaker of provider.breakers) {
      const policy = override(reading, environment, provider.name, breaker.policy)
      if (policy !== undefined) breakers.push({ ...breaker, policy })
    }
    providers.push({ ...provider, breakers })
  }
  return file === undefined || reading.faults.length > 0
    ? Either.left(
        new ConfigError({ source: options.source ?? "the configuration", faults: Faults.inOrder(reading.faults) })
      )
    : Either.right({
        ...file,
        providers,
        fallback: { ...file.fallback, maxDepth: environment.maxDepth ?? file.fallback.maxDepth }
      })
}

/**
 * Reads one policy, or a preset's name, from YAML or JSON text; faults name their line as in {@link decode}.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Config from "@switchgear/gateway/Config"
 * import * as Either from "effect/Either"
 *
 * const policy = Either.getOrThrow(Config.decodePolicy("trip: { _tag: Consecutive, failureThreshold: 3 }"))
 * assert.strictEqual(policy.cooldown.base, 30_000)
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const decodePolicy = (
  text: string,
  options: { readonly source?: string } = {}
): Either.Either<Policy.Policy, ConfigError> => {
  const reading: Faults.Reading = { env: {}, faults: [], declared: [], mentioned: [] }
  const top = Cursor.open(text, reading)
  const decoded = top === undefined ? undefined : policy(top)
  return decoded === undefined
    ? Either.left(new ConfigError({ source: options.source ?? "the policy", faults: Faults.inOrder(reading.faults) }))
    : Either.right(decoded)
}

/**
 * Reads a configuration from a file. A file that cannot be read is a fault like any other.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Config from "@switchgear/gateway/Config"
 * import * as Effect from "effect/Effect"
 *
 * const error = await Effect.runPromise(Effect.flip(Config.load("no-such.yaml", process.env)))
 * assert.match(error.message, /no such file/)
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const load = (
  path: string,
  env: Readonly<Record<string, string | undefined>>
): Effect.Effect<GatewayConfig, ConfigError> =>
  Effect.tryPromise({
    try: () => readFile(path, "utf8"),
    catch: (cause) => new ConfigError({ source: path, faults: [{ path, message: unreadable(cause) }] })
  }).pipe(Effect.flatMap((text) => decode(text, { env, source: path })))

const unreadable = (cause: unknown): string => {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined
  if (code === "ENOENT") return "there is no such file; check the path given with --config"
  if (code === "EISDIR") return "this is a folder; give the file itself"
  if (code === "EACCES") return "it may not be read by this user; change its permissions"
  return "it cannot be read"
}
