/**
 * What all providers over HTTP have in common: connections, limits, credentials, streams. A vendor is a `Dialect` on it.
 *
 * @since 0.1.0
 */
import type { LookupFunction } from "node:net"
import type { ProviderKind } from "@switchgear/failures/ProviderKind"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { Pool } from "undici"
import { Exchange, type Line } from "./internal/exchange.js"
import { outgoing } from "./internal/headers.js"
import { limits, type Timeouts } from "./internal/limits.js"
import { Mask } from "./internal/mask.js"
import { Meaning } from "./internal/meaning.js"
import { tickFor, Wheel } from "./internal/wheel.js"
import type * as Provider from "./Provider.js"
import { ProviderError } from "./Provider.js"
import * as Retry from "./Retry.js"

export type { Timeouts } from "./internal/limits.js"

/**
 * Where a provider's API is, the key, and the limits of its calls.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** Names the provider in errors, logs and metrics. */
  readonly name: string
  /** Where the API is, version included: `https://api.openai.com/v1`. */
  readonly baseUrl: string | URL
  readonly apiKey?: Redacted.Redacted
  readonly timeouts?: Timeouts
  readonly pool?: {
    /** The most connections at a time; calls above it wait, within `connect`. Default: no bound. */
    readonly connections?: number
    /** How long an idle connection is kept. Default 4 seconds; a server's own hint goes before. */
    readonly keepAlive?: Duration.DurationInput
  }
  /** How the host's name is resolved, as `net.connect` takes it. Default: as the system does. */
  readonly lookup?: LookupFunction
  /** Default: none. */
  readonly retries?: Retry.Retries
  /** The largest JSON answer, in bytes. Default 32 MiB. */
  readonly maxAnswer?: number
  /** The largest event of a stream, and the most that is held back before its first output, in bytes. Default 4 MiB. */
  readonly maxEvent?: number
  /** Sent with every request that does not bring headers of these names itself. Lower-case names. */
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * How a vendor's HTTP API differs from the others.
 *
 * @since 0.1.0
 * @category models
 */
export interface Dialect {
  /** Whose answers they are: picks the classifier's tables. */
  readonly kind: ProviderKind
  readonly operations: ReadonlyArray<Provider.Operation>
  /** Appended to the base URL's path. */
  readonly path: (request: Provider.ProviderRequest) => string
  /** The header that carries the key. */
  readonly credential: (key: string) => readonly [name: string, value: string]
  readonly headers?: Readonly<Record<string, string>>
}

const positive = (name: string, value: number | undefined): Effect.Effect<void> =>
  value === undefined || value > 0
    ? Effect.void
    : Effect.die(new Cause.IllegalArgumentException(`${name} must be more than 0`))

const check = Effect.fnUntraced(function* (options: Options) {
  const url = URL.canParse(`${options.baseUrl}`) ? new URL(options.baseUrl) : undefined
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:")) {
    return yield* Effect.die(new Cause.IllegalArgumentException(`${options.name}: baseUrl is no http or https URL`))
  }
  for (const [name, limit] of Object.entries(options.timeouts ?? {})) {
    yield* positive(`${options.name}: timeouts.${name}`, limit === undefined ? undefined : Duration.toMillis(limit))
  }
  yield* positive(`${options.name}: pool.connections`, options.pool?.connections)
  yield* positive(`${options.name}: maxAnswer`, options.maxAnswer)
  yield* positive(`${options.name}: maxEvent`, options.maxEvent)
  return url
})

/** Undici's own clock is coarse and its error names the address: ours decides, this only ends the dial. */
const dialFor = (connect: number): number => (Number.isFinite(connect) ? connect + 1_000 : 0)

const withQuery = (path: string, search: string): string =>
  search.length > 1 && path.includes("?") ? `${path}&${search.slice(1)}` : `${path}${search}`

const unsupported = (name: string, operation: Provider.Operation) =>
  new ProviderError({
    provider: name,
    failure: {
      kind: "client_fault",
      scope: "none",
      code: "unsupported_operation",
      message: `this provider does not speak ${operation}`
    }
  })

/**
 * A provider over its own pool of connections, which closes with the scope. Redirects are not followed; the key is in the
 * outgoing header and nowhere else. A base URL or a limit that makes no sense is a defect.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as HttpProvider from "@switchgear/providers/HttpProvider"
 * import * as Effect from "effect/Effect"
 *
 * // A vendor of one's own: Chat Completions under another path, with the key in a header of its own.
 * const dialect: HttpProvider.Dialect = {
 *   kind: "openai-compatible",
 *   operations: ["chat.completions"],
 *   path: (request) => `/models/${request.model}/chat`,
 *   credential: (key) => ["x-token", key]
 * }
 *
 * const program = Effect.gen(function*() {
 *   const provider = yield* HttpProvider.make({ name: "own", baseUrl: "https://llm.example" }, dialect)
 *   assert.deepStrictEqual(provider.operations, ["chat.completions"])
 * })
 *
 * await Effect.runPromise(Effect.scoped(program))
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const make: (options: Options, dialect: Dialect) => Effect.Effect<Provider.Provider, never, Scope.Scope> =
  Effect.fnUntraced(function* (options: Options, dialect: Dialect) {
    const url = yield* check(options)
    const clock = yield* Effect.clock
    const allowed = limits(options.timeouts)
    const pool = yield* Effect.acquireRelease(
      Effect.sync(
        () =>
          new Pool(url.origin, {
            connections: options.pool?.connections ?? null,
            connectTimeout: dialFor(allowed.connect),
            headersTimeout: 0,
            bodyTimeout: 0,
            ...(options.lookup !== undefined && { connect: { lookup: options.lookup } }),
            ...(options.pool?.keepAlive !== undefined && {
              keepAliveTimeout: Duration.toMillis(options.pool.keepAlive)
            })
          })
      ),
      (pool) => Effect.promise(() => pool.destroy())
    )
    const wheel = yield* Effect.acquireRelease(
      Effect.sync(() => new Wheel(clock, tickFor(Object.values(allowed)))),
      (wheel) => Effect.sync(() => wheel.close())
    )
    const line: Line = {
      name: options.name,
      pool,
      limits: allowed,
      wheel,
      clock,
      maxAnswer: options.maxAnswer ?? 32 * 1024 * 1024,
      maxEvent: options.maxEvent ?? 4 * 1024 * 1024
    }
    const base = url.pathname.replace(/\/+$/, "")
    const own = { ...dialect.headers, ...options.headers }
    const apiKey = options.apiKey
    const voice = (key: string | undefined) => {
      const mask = new Mask(key, url.host)
      return { mask, meaning: new Meaning(dialect.kind, mask.needles) }
    }
    const ownVoice = voice(apiKey === undefined ? undefined : Redacted.value(apiKey))

    const call = (request: Provider.ProviderRequest): Effect.Effect<Provider.Answer, ProviderError> => {
      if (!dialect.operations.includes(request.operation))
        return Effect.fail(unsupported(options.name, request.operation))
      return Effect.async<Provider.Answer, ProviderError>((resume) => {
        const redacted = request.apiKey ?? apiKey
        const key = redacted === undefined ? undefined : Redacted.value(redacted)
        const { mask, meaning } = request.apiKey === undefined ? ownVoice : voice(key)
        const exchange = new Exchange(line, meaning, request, mask, resume)
        exchange.start(
          withQuery(`${base}${dialect.path(request)}`, url.search),
          outgoing(request.headers, own, key === undefined ? undefined : dialect.credential(key), request.stream)
        )
        return Effect.sync(() => exchange.leave())
      })
    }
    const provider = { name: options.name, operations: dialect.operations, call }
    return options.retries === undefined
      ? provider
      : Retry.withRetries(provider, { total: allowed.total, ...options.retries })
  })
