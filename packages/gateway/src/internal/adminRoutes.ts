import { createHash, timingSafeEqual } from "node:crypto"
import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
import type { Service as Registry } from "@switchgear/breaker/CircuitBreakerRegistry"
import type { Service as Health } from "@switchgear/routing/Health"
import type { Client, Service as Policies, Rule } from "@switchgear/routing/ModelPolicies"
import type { StoreError } from "@switchgear/routing/StoreError"
import type { Service as Telemetry } from "@switchgear/routing/TelemetryStore"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as ParseResult from "effect/ParseResult"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { breaker, breakers, health, isLoopback, telemetry } from "./admin.js"
import * as ClientErrors from "./clientError.js"
import { type ClientError, invalid } from "./clientError.js"
import { dialects } from "./dialects.js"
import type { Exchange } from "./exchange.js"
import { bearerOf } from "./gate.js"
import * as Prometheus from "./prometheus.js"
import { send, sendError, sendJson } from "./reply.js"
import { parse } from "./requestShape.js"

export interface Parts {
  /** undefined: only callers on this machine are answered. */
  readonly token: Redacted.Redacted<string> | undefined
  readonly registry: Pick<Registry, "find" | "statuses">
  /** What can be edited. */
  readonly policies: Policies
  /** What the file says, which cannot. */
  readonly file: { readonly clients: ReadonlyArray<Client>; readonly policies: ReadonlyArray<Rule> | undefined }
  readonly telemetry: Telemetry
  readonly health: Health
  readonly providers: ReadonlyArray<string>
  readonly models: ReadonlyArray<string>
  /** After an edit of clients or rules. */
  readonly edited: Effect.Effect<void>
}

type Handle = (exchange: Exchange, argument: string) => Effect.Effect<void, ClientError | StoreError>

interface Route {
  readonly method: "GET" | "PUT" | "POST" | "DELETE"
  /** With a `*` for its one argument, if it has any. */
  readonly path: string
  readonly handle: Handle
}

/** bytes; rules of an organisation are small. */
const bodyLimit = 1024 * 1024

const fresh = { "cache-control": "no-store" }

const json = (exchange: Exchange, value: unknown): Effect.Effect<void> => sendJson(exchange, 200, value, fresh)
const noContent = (exchange: Exchange): Effect.Effect<void> => send(exchange, 204, fresh, "")

const unauthorized: ClientError = {
  status: 401,
  code: "invalid_admin_token",
  message: "Send server.adminToken as Authorization: Bearer TOKEN.",
  headers: { "www-authenticate": "Bearer" }
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest()

const authorize = (token: Parts["token"], exchange: Exchange): ClientError | undefined => {
  if (token === undefined) return isLoopback(exchange) ? undefined : ClientErrors.loopbackOnly
  const given = bearerOf(exchange)
  // Digests have one length, and comparing them takes the same time whatever they hold.
  return given !== undefined && timingSafeEqual(digest(given), digest(Redacted.value(token))) ? undefined : unauthorized
}

/** A body as `schema` has it, or all that is wrong with it, each with its path. */
const decoded = <A, I>(exchange: Exchange, schema: Schema.Schema<A, I>): Effect.Effect<A, ClientError> =>
  Effect.suspend(() => {
    const { body } = exchange
    if (!(body instanceof Uint8Array)) return Effect.fail(body ?? ClientErrors.internal)
    const parsed = parse(body)
    if ("error" in parsed) return Effect.fail(parsed.error)
    const result = Schema.decodeUnknownEither(schema, { errors: "all", onExcessProperty: "error" })(parsed.value)
    if (Either.isRight(result)) return Effect.succeed(result.right)
    const issues = ParseResult.ArrayFormatter.formatErrorSync(result.left)
    const path = issues[0]?.path.join(".") ?? ""
    const words = issues.map((issue) => `${issue.path.length === 0 ? "" : `${issue.path.join(".")}: `}${issue.message}`)
    return Effect.fail(invalid(words.join("; "), path))
  })

const PolicyBody = Schema.Struct({
  /** As it was read: what others have put since is not overwritten unseen. */
  revision: Schema.optional(Schema.NonNegativeInt),
  policies: Schema.Array(
    Schema.Struct({
      org: Schema.NonEmptyTrimmedString,
      model: Schema.NonEmptyTrimmedString,
      allow: Schema.optionalWith(Schema.Boolean, { default: () => true }),
      fallbackChain: Schema.optionalWith(Schema.Array(Schema.String), { default: () => [] })
    })
  )
})

const ClientBody = Schema.Struct({ org: Schema.NonEmptyTrimmedString })

const OpenBody = Schema.Struct({ for: Schema.optional(Schema.Union(Schema.Number, Schema.String)) })

const readDuration = (
  given: string | number | undefined
): Effect.Effect<Duration.Duration | undefined, ClientError> => {
  if (given === undefined) return Effect.succeed(undefined)
  const read = Duration.decodeUnknown(given)
  return Option.isSome(read) && Duration.toMillis(read.value) > 0 && Duration.isFinite(read.value)
    ? Effect.succeed(read.value)
    : Effect.fail(invalid('"for" must be a time above 0: milliseconds, or text such as "10 minutes".', "for"))
}

const notFound = (message: string): ClientError => ({ status: 404, code: "not_found", message })

const keyHash = /^sha256:[0-9a-f]{64}$/

/** ROUTING F11: a chain leads to models that there are. */
const unknownModels = (rules: ReadonlyArray<Rule>, models: ReadonlyArray<string>): ReadonlyArray<string> =>
  rules.flatMap(({ fallbackChain = [] }, index) =>
    fallbackChain.flatMap((name, place) =>
      name.trim() === "" || models.includes(name.trim())
        ? []
        : [`${index}.fallbackChain.${place}: there is no model ${JSON.stringify(name)}`]
    )
  )

const limitOf = ({ request }: Exchange): number | ClientError => {
  const query = new URL(request.url ?? "/", "http://gateway").searchParams
  const given = query.get("limit") ?? "100"
  const limit = Number(given)
  return /^\d{1,4}$/.test(given) && limit >= 1 && limit <= 1000
    ? limit
    : invalid('"limit" must be a whole number from 1 to 1000.', "limit")
}

const routesOf = (parts: Parts): ReadonlyArray<Route> => {
  const { edited, file, policies, registry } = parts

  const find = (name: string) =>
    Effect.flatMap(
      registry.find(name),
      Option.match({
        onNone: () => Effect.fail(notFound("There is no breaker of this name; GET /admin/breakers lists them.")),
        onSome: Effect.succeed
      })
    )

  const show = (exchange: Exchange, one: CircuitBreaker.CircuitBreaker) =>
    Effect.flatMap(CircuitBreaker.status(one), (status) => json(exchange, breaker(status)))

  const command =
    (run: (one: CircuitBreaker.CircuitBreaker) => Effect.Effect<void>): Handle =>
    (exchange, name) =>
      Effect.flatMap(find(name), (one) => Effect.zipRight(run(one), show(exchange, one)))

  const open: Handle = (exchange, name) =>
    Effect.gen(function* () {
      const empty = exchange.body instanceof Uint8Array && exchange.body.length === 0
      const duration = empty
        ? undefined
        : yield* Effect.flatMap(decoded(exchange, OpenBody), (body) => readDuration(body.for))
      const one = yield* find(name)
      yield* CircuitBreaker.forceOpen(one, duration)
      yield* show(exchange, one)
    })

  const ofFile = (what: string): ClientError => ({
    status: 409,
    code: "set_by_configuration",
    message: `The ${what} stand in the configuration file; change them there, or take them out of it to edit them here.`
  })

  const showPolicies: Handle = (exchange) =>
    file.policies === undefined
      ? Effect.flatMap(policies.revised, ({ revision, rules }) =>
          json(exchange, { source: "store", revision, policies: rules })
        )
      : json(exchange, { source: "configuration", policies: file.policies })

  const setRules = (rules: ReadonlyArray<Rule>, revision?: number | undefined) =>
    Effect.catchTags(policies.setRules(rules, { revision }), {
      InvalidRules: ({ faults }) =>
        Effect.fail(invalid(faults.map(({ message, path }) => `policies.${path}: ${message}`).join("; "), "policies")),
      RevisionConflict: ({ message }) => Effect.fail({ status: 409, code: "policies_changed", message })
    })

  const putPolicies: Handle = (exchange) =>
    Effect.gen(function* () {
      if (file.policies !== undefined) return yield* Effect.fail(ofFile("policies"))
      const { policies: rules, revision: read } = yield* decoded(exchange, PolicyBody)
      const unknown = unknownModels(rules, parts.models)
      if (unknown.length > 0) return yield* Effect.fail(invalid(`policies.${unknown.join("; policies.")}`, "policies"))
      const revision = yield* setRules(rules, read)
      yield* edited
      return yield* json(exchange, { source: "store", revision, policies: rules })
    })

  const deletePolicies: Handle = (exchange) =>
    file.policies !== undefined
      ? Effect.fail(ofFile("policies"))
      : setRules([]).pipe(Effect.zipRight(edited), Effect.zipRight(noContent(exchange)))

  const showClients: Handle = (exchange) =>
    Effect.flatMap(policies.clients, (stored) =>
      json(exchange, {
        clients: [
          ...file.clients.map((client) => ({ ...client, source: "configuration" })),
          ...stored.map((client) => ({ ...client, source: "store" }))
        ]
      })
    )

  const isFiles = (hash: string): boolean => file.clients.some((client) => client.keyHash === hash)

  const putClient: Handle = (exchange, hash) =>
    Effect.gen(function* () {
      if (!keyHash.test(hash)) {
        return yield* Effect.fail(
          invalid('The path must end in a key\'s hash, "sha256:" and 64 hexadecimal digits; never in the key itself.')
        )
      }
      if (isFiles(hash)) return yield* Effect.fail(ofFile("clients of this key"))
      const { org } = yield* decoded(exchange, ClientBody)
      yield* policies.putClient({ org, keyHash: hash })
      yield* edited
      yield* json(exchange, { org, keyHash: hash })
    })

  const removeClient: Handle = (exchange, hash) =>
    Effect.gen(function* () {
      if (isFiles(hash)) return yield* Effect.fail(ofFile("clients of this key"))
      const known = yield* policies.clients
      if (!known.some((client) => client.keyHash === hash)) {
        return yield* Effect.fail(notFound("There is no client with this key's hash."))
      }
      yield* policies.removeClient(hash)
      yield* edited
      yield* noContent(exchange)
    })

  return [
    {
      method: "GET",
      path: "/admin/breakers",
      handle: (exchange) =>
        Effect.flatMap(Effect.zip(registry.statuses, Clock.currentTimeMillis), ([statuses, now]) =>
          json(exchange, breakers(statuses, now))
        )
    },
    {
      method: "GET",
      path: "/admin/breakers/*",
      handle: (exchange, name) => Effect.flatMap(find(name), (one) => show(exchange, one))
    },
    { method: "POST", path: "/admin/breakers/*/open", handle: open },
    { method: "POST", path: "/admin/breakers/*/close", handle: command(CircuitBreaker.forceClosed) },
    { method: "POST", path: "/admin/breakers/*/auto", handle: command(CircuitBreaker.auto) },
    { method: "POST", path: "/admin/breakers/*/reset", handle: command(CircuitBreaker.reset) },
    {
      method: "GET",
      path: "/admin/health",
      handle: (exchange) =>
        Effect.flatMap(parts.health.providers, (known) =>
          json(exchange, health(parts.health.window, parts.providers, known))
        )
    },
    {
      method: "GET",
      path: "/admin/telemetry",
      handle: (exchange) => {
        const limit = limitOf(exchange)
        return typeof limit === "number"
          ? Effect.flatMap(parts.telemetry.recent(limit), (rows) => json(exchange, telemetry(rows)))
          : Effect.fail(limit)
      }
    },
    {
      method: "GET",
      path: "/metrics",
      handle: (exchange) =>
        Effect.flatMap(Metric.snapshot, (pairs) =>
          send(exchange, 200, { ...fresh, "content-type": Prometheus.contentType }, Prometheus.render(pairs))
        )
    },
    { method: "GET", path: "/admin/policies", handle: showPolicies },
    { method: "PUT", path: "/admin/policies", handle: putPolicies },
    { method: "DELETE", path: "/admin/policies", handle: deletePolicies },
    { method: "GET", path: "/admin/clients", handle: showClients },
    { method: "PUT", path: "/admin/clients/*", handle: putClient },
    { method: "DELETE", path: "/admin/clients/*", handle: removeClient }
  ]
}

/** What stands for the `*`, or undefined if the path is another. */
const match = (pattern: ReadonlyArray<string>, path: ReadonlyArray<string>): string | undefined => {
  if (pattern.length !== path.length) return undefined
  let argument = ""
  for (const [index, part] of pattern.entries()) {
    const given = path[index] ?? ""
    if (part === "*") {
      try {
        argument = decodeURIComponent(given)
      } catch {
        return undefined
      }
    } else if (part !== given) return undefined
  }
  return argument
}

const storeAway: ClientError = {
  status: 503,
  code: "store_unavailable",
  message: "The store does not answer; nothing was changed that could be confirmed. Try again.",
  retryAfter: 1000
}

/** Everything below `/admin/`, and `/metrics`. It is off the hot path, and shows nothing to one who may not see it. */
export interface Admin {
  readonly bodyLimit: (exchange: Exchange) => number | undefined
  readonly handle: (exchange: Exchange) => Effect.Effect<void>
}

export const make = (parts: Parts): Admin => {
  const routes = routesOf(parts).map((route) => ({ ...route, pattern: route.path.split("/") }))
  const found = (exchange: Exchange) => {
    const path = exchange.path.split("/")
    return routes.flatMap((route) => {
      const argument = match(route.pattern, path)
      return argument === undefined ? [] : [{ ...route, argument }]
    })
  }
  const run = (exchange: Exchange): Effect.Effect<void, ClientError | StoreError> => {
    const refused = authorize(parts.token, exchange)
    if (refused !== undefined) return Effect.fail(refused)
    const here = found(exchange)
    if (here.length === 0) return Effect.fail(ClientErrors.unknownPath(exchange.path))
    const method = exchange.method === "HEAD" ? "GET" : exchange.method
    const route = here.find((each) => each.method === method)
    return route === undefined
      ? Effect.fail(
          ClientErrors.wrongMethod(exchange.method, exchange.path, here.map((each) => each.method).join(", "))
        )
      : route.handle(exchange, route.argument)
  }
  return {
    bodyLimit: (exchange) =>
      (exchange.method === "PUT" || exchange.method === "POST") && authorize(parts.token, exchange) === undefined
        ? bodyLimit
        : undefined,
    handle: (exchange) =>
      Effect.catchAll(
        Effect.suspend(() => run(exchange)),
        (error) => sendError(exchange, dialects.openAi, "_tag" in error ? storeAway : error)
      )
  }
}
