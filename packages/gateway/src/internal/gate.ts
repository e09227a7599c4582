import * as Access from "@switchgear/routing/Access"
import type { Request } from "@switchgear/routing/Call"
import type { Client, Rule, Service } from "@switchgear/routing/ModelPolicies"
import * as ModelPolicies from "@switchgear/routing/ModelPolicies"
import { Rejected } from "@switchgear/routing/Rejected"
import type { RouteError } from "@switchgear/routing/RouteError"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { type Exchange, header } from "./exchange.js"
import { isLoopback } from "./values.js"

export interface Configured {
  readonly server: { readonly host: string }
  readonly clients: ReadonlyArray<Client>
  readonly policies: ReadonlyArray<Rule> | undefined
}

/** Who may call, and what (ROUTING S0). The file's clients are known besides those of the store; its rules stand in place of the store's. */
export interface Gate {
  readonly access: Access.Access
  /** The key a client came with, where there are clients at all: others send one because their library does. */
  readonly keyOf: (exchange: Exchange) => Redacted.Redacted | undefined
  /** The models that whoever asks may use. */
  readonly visible: (
    exchange: Exchange,
    models: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyArray<string>, RouteError | Rejected>
  /** Looks again at whether there are clients and rules. */
  readonly refresh: Effect.Effect<void>
  /** Whether that is known: till then nobody is let in. */
  readonly ready: () => boolean
}

/** The file's clients and rules over those of a store. */
const over = (config: Configured, file: Service, store: Service): Service => ({
  ...store,
  decide: config.policies === undefined ? store.decide : file.decide,
  client: (keyHash) =>
    Effect.flatMap(file.client(keyHash), (found) =>
      Option.isSome(found) ? Effect.succeed(found) : store.client(keyHash)
    )
})

const unknown = new Rejected({
  stage: "access",
  status: 503,
  code: "policy_unavailable",
  message: "Whether this call is allowed cannot be said now; try again."
})

const bearer = /^Bearer +(\S+) *$/i

export const bearerOf = (exchange: Exchange): string | undefined => {
  const authorization = header(exchange, "authorization")
  const match = authorization === undefined ? null : bearer.exec(authorization)
  return match?.[1]
}

/** What a client's library sends as its key: either of the two families' headers. */
const sentKey = (exchange: Exchange): Redacted.Redacted | undefined => {
  const key = bearerOf(exchange) ?? header(exchange, "x-api-key")
  return key === undefined || key === "" ? undefined : Redacted.make(key)
}

export const make = (config: Configured, store: Service): Effect.Effect<Gate, ModelPolicies.InvalidRules> =>
  Effect.gen(function* () {
    const file = yield* ModelPolicies.makeMemory({ clients: config.clients, rules: config.policies ?? [] })
    const service = over(config, file, store)
    /** An address that others reach is open to nobody without a key, whatever becomes of the store's clients. */
    const always = config.clients.length > 0 || !isLoopback(config.server.host)
    /** What there is; undefined until the store has said so once, and till then nobody is let in. */
    let known: { readonly clients: boolean; readonly rules: boolean } | undefined =
      always && config.policies !== undefined ? { clients: true, rules: true } : undefined

    const accesses = {
      open: Access.open,
      rules: Access.policies(service),
      clients: Access.policies(service, { clients: "required", rules: "clients" }),
      both: Access.policies(service, { clients: "required" })
    }
    const current = (): Access.Access | undefined => {
      if (known === undefined) return undefined
      if (known.clients) return known.rules ? accesses.both : accesses.clients
      return known.rules ? accesses.rules : accesses.open
    }

    const refresh = Effect.zip(store.clients, store.rules).pipe(
      Effect.flatMap(([clients, rules]) =>
        Effect.sync(() => {
          known = {
            // who revokes the last key does not mean to let everyone in
            clients: always || known?.clients === true || clients.length > 0,
            rules: config.policies !== undefined || rules.length > 0
          }
        })
      ),
      // What was known last goes on, as in the store's own reading.
      Effect.ignore
    )
    yield* refresh

    const access = (request: Request) => current()?.(request) ?? Effect.fail(unknown)
    return {
      access,
      refresh,
      ready: () => known !== undefined,
      keyOf: (exchange) => {
        if (known?.clients === false) return undefined
        return sentKey(exchange)
      },
      visible: (exchange, models) =>
        Effect.suspend(() => {
          if (known === undefined) return Effect.fail(unknown)
          const { clients, rules } = known
          const whose = clients ? accesses.clients : accesses.open
          const clientKey = clients ? sentKey(exchange) : undefined
          return Effect.flatMap(
            whose({ model: "", operation: "chat.completions", body: nothing, stream: false, headers: {}, clientKey }),
            ({ org }) =>
              rules
                ? Effect.filter(models, (model) =>
                    Effect.map(service.decide(org, model), ({ _tag }) => _tag === "Allowed")
                  ).pipe(Effect.mapError(() => unknown))
                : Effect.succeed(models)
          )
        })
    }
  })

const nothing = new Uint8Array()
