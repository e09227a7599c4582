/**
 * A caller's own key and base URL (ROUTING W7): a provider for one call, to an upstream that the operator allows or that is
 * public. Nothing of it is shared with anybody (ROUTING F8).
 *
 * @since 0.1.0
 */
import { lookup } from "node:dns/promises"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import * as Anthropic from "./Anthropic.js"
import type * as HttpProvider from "./HttpProvider.js"
import { pinned } from "./internal/byo/pinned.js"
import * as Target from "./internal/byo/target.js"
import * as OpenAiCompatible from "./OpenAiCompatible.js"
import type { Provider } from "./Provider.js"
import type { Dialect } from "./Wire.js"

/**
 * Why a base URL was refused. `not_public` says no more than that: whether a name is known to our resolver, and where it
 * leads, is nobody's business.
 *
 * @since 0.1.0
 * @category models
 */
export type Reason = Target.Reason

/**
 * All addresses of a name, at least one.
 *
 * @since 0.1.0
 * @category models
 */
export type Resolver = (name: string) => Effect.Effect<ReadonlyArray<string>, unknown>

/**
 * Which upstreams a caller may name.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /**
   * The base URLs that callers may name, or name something below: `https://api.openai.com` allows
   * `https://api.openai.com/v1`. What is on it is trusted: it may be private, and plain http. Default: no list, so any that
   * is https and public.
   */
  readonly allowedBaseUrls?: ReadonlyArray<string | URL>
  /** Without a list: the ports that may be called. Default 443 and 8443. */
  readonly ports?: ReadonlyArray<number>
  /** Without a list: how names are resolved. Default: as the system does. */
  readonly resolve?: Resolver
  /** Limits of the calls. */
  readonly http?: Pick<HttpProvider.Options, "timeouts" | "maxAnswer" | "maxEvent">
}

/**
 * What a caller brings along.
 *
 * @since 0.1.0
 * @category models
 */
export interface Asked {
  /** The caller's own. Absent: no credential is sent, never one of ours. */
  readonly apiKey?: Redacted.Redacted
  readonly baseUrl: string
  /** What the caller speaks, and so the upstream: one's own upstream is asked in one's own words. */
  readonly dialect: Dialect
}

/**
 * The base URL was refused. It is not in the message, nor is what it resolved to.
 *
 * @example
 * ```ts
 * import { ByoRefused } from "@switchgear/providers/Byo"
 * import * as assert from "node:assert"
 *
 * assert.match(new ByoRefused({ reason: "not_https" }).message, /https/)
 * ```
 *
 * @since 0.1.0
 * @category errors
 */
export class ByoRefused extends Data.TaggedError("ByoRefused")<{ readonly reason: Reason }> {
  override get message(): string {
    return words[this.reason]
  }
}

const words: { readonly [R in Reason]: string } = {
  malformed: "the base URL is no URL that can be called",
  not_allowed: "the base URL is not one of those that are allowed here",
  not_https: "the base URL must be https",
  userinfo: "the base URL must not hold a user or a password",
  port: "the base URL's port is not allowed here",
  not_public: "the base URL does not lead to public addresses only"
}

const system: Resolver = (name) =>
  Effect.map(
    Effect.tryPromise(() => lookup(name, { all: true, verbatim: true })),
    (all) => all.map(({ address }) => address)
  )

const refused = (reason: Reason) => Effect.fail(new ByoRefused({ reason }))

/** Where a call may go: the URL as it will be used, and the addresses its name is bound to. */
interface Place {
  readonly url: URL
  readonly lookup: NonNullable<HttpProvider.Options["lookup"]> | undefined
}

const listed = (list: ReadonlyArray<string | URL>, baseUrl: string): Effect.Effect<Place, ByoRefused> => {
  const url = Target.parse(baseUrl)
  if (url === undefined) return refused("malformed")
  const isAllowed = list.some((one) => {
    const allowed = Target.parse(`${one}`)
    return allowed !== undefined && Target.isBelow(url, allowed)
  })
  return isAllowed ? Effect.succeed({ url, lookup: undefined }) : refused("not_allowed")
}

const anyPublic = (options: Options, baseUrl: string): Effect.Effect<Place, ByoRefused> => {
  const checked = Target.check(baseUrl, options.ports ?? [443, 8443])
  if (checked._tag === "Refused") return refused(checked.reason)
  const { host, url } = checked
  if (host._tag === "Address") return Effect.succeed({ url, lookup: undefined })
  return (options.resolve ?? system)(host.name).pipe(
    Effect.timeout(options.http?.timeouts?.connect ?? "5 seconds"),
    Effect.orElseSucceed((): ReadonlyArray<string> => []),
    Effect.flatMap((found) => {
      const addresses = Target.publicOnly(found)
      if (addresses.length === 0) return refused("not_public")
      return Effect.succeed({ url, lookup: pinned(host.name, addresses) })
    })
  )
}

/**
 * Checks a caller's base URL and makes a provider of it that lives as long as the scope. A name is resolved once, all that
 * it resolves to must be public, and that is what is called, whatever the name resolves to later; redirects are not
 * followed. Give the provider to a call as its `via`.
 *
 * @example
 * ```ts
 * import * as Byo from "@switchgear/providers/Byo"
 * import * as Effect from "effect/Effect"
 * import * as Redacted from "effect/Redacted"
 * import * as assert from "node:assert"
 *
 * const asked = { apiKey: Redacted.make("sk-..."), baseUrl: "https://169.254.169.254/latest", dialect: "messages" } as const
 * const error = await Effect.runPromise(Effect.scoped(Effect.flip(Byo.provider({}, asked))))
 * assert.strictEqual(error.reason, "not_public")
 *
 * const options = { allowedBaseUrls: ["https://api.openai.com"] }
 * const openai = { ...asked, baseUrl: "https://api.openai.com/v1", dialect: "chat.completions" } as const
 * const provider = await Effect.runPromise(Effect.scoped(Byo.provider(options, openai)))
 * assert.strictEqual(provider.name, "byo")
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const provider: (options: Options, asked: Asked) => Effect.Effect<Provider, ByoRefused, Scope.Scope> =
  Effect.fnUntraced(function* (options: Options, asked: Asked) {
    const list = options.allowedBaseUrls
    const { lookup, url } = yield* list === undefined ? anyPublic(options, asked.baseUrl) : listed(list, asked.baseUrl)
    const own: HttpProvider.Options = {
      ...options.http,
      name: "byo",
      baseUrl: url,
      ...(asked.apiKey !== undefined && { apiKey: asked.apiKey }),
      ...(lookup !== undefined && { lookup })
    }
    return asked.dialect === "messages" ? yield* Anthropic.make(own) : yield* OpenAiCompatible.make(own)
  })
