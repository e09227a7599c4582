import * as Policies from "@switchgear/routing/ModelPolicies"
import type { StoreError } from "@switchgear/routing/StoreError"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { type Db, failing, keyText } from "./db.js"

const rulesTable = "switchgear_rules"
const clientsTable = "switchgear_clients"

const { Array: List, Boolean: Bool, String: Str, Struct } = Schema

const decodeRule = Schema.decodeUnknownEither(
  Schema.parseJson(
    Struct({ org: Str, model: Str, allow: Schema.optional(Bool), fallbackChain: Schema.optional(List(Str)) })
  )
)
const decodeClient = Schema.decodeUnknownEither(Schema.parseJson(Struct({ keyHash: Str, org: Str })))

interface Read {
  readonly at: number
  readonly rules: ReadonlyArray<Policies.Rule>
  readonly decide: (org: string, model: string) => Policies.Decision
  readonly clients: ReadonlyMap<string, Policies.Client>
}

interface Values {
  readonly value: string
}

/** `pollInterval`: ms, how old what a call is judged by may be; what is written here is seen at once. */
export const make = (db: Db, pollInterval: number): Policies.Service => {
  const { sql } = db
  let read: Read | undefined
  const load: Effect.Effect<Read, StoreError> = Effect.gen(function* () {
    const rules = yield* sql<Values>`SELECT value FROM ${sql(rulesTable)} ORDER BY position`
    const clients = yield* sql<Values>`SELECT value FROM ${sql(clientsTable)} ORDER BY key`
    const compiled = rules.flatMap(({ value }) =>
      Either.match(decodeRule(value), { onLeft: () => [], onRight: (a) => [a] })
    )
    const known = clients.flatMap(({ value }) =>
      Either.match(decodeClient(value), { onLeft: () => [], onRight: (a) => [a] })
    )
    const fresh: Read = {
      at: yield* Clock.currentTimeMillis,
      rules: compiled,
      decide: Policies.compile(compiled),
      clients: new Map(known.map((client) => [client.keyHash, client]))
    }
    read = fresh
    return fresh
  }).pipe(failing("policies"))
  // What was read last goes on while the database is away: nothing can have been revoked in it meanwhile.
  const current: Effect.Effect<Read, StoreError> = Effect.flatMap(Clock.currentTimeMillis, (now) => {
    if (read === undefined) return load
    if (Math.abs(now - read.at) < pollInterval) return Effect.succeed(read)
    const last: Read = { ...read, at: now }
    read = last
    return Effect.catchAll(load, () => Effect.succeed(last))
  })
  const written = Effect.sync(() => {
    read = undefined
  })
  const lock = sql.onDialectOrElse({
    pg: () => sql`SELECT pg_advisory_xact_lock(7305012)`,
    orElse: () => Effect.void
  })
  return {
    decide: (org, model) => Effect.map(current, ({ decide }) => decide(org, model)),
    rules: Effect.map(load, ({ rules }) => rules),
    setRules: (rules) => {
      const faults = Policies.check(rules)
      if (faults.length > 0) return Effect.fail(new Policies.InvalidRules({ faults }))
      const rows = rules.map((rule, position) => ({
        position,
        org: JSON.stringify(rule.org),
        model: JSON.stringify(rule.model),
        value: JSON.stringify(rule),
        chain: JSON.stringify(rule.fallbackChain ?? [])
      }))
      return Effect.gen(function* () {
        yield* lock
        yield* sql`DELETE FROM ${sql(rulesTable)}`
        if (rows.length > 0) yield* sql`INSERT INTO ${sql(rulesTable)} ${sql.insert(rows)}`
      }).pipe(sql.withTransaction, Effect.zipLeft(written), failing("policies"))
    },
    client: (keyHash) => Effect.map(current, ({ clients }) => Option.fromNullable(clients.get(keyHash))),
    clients: Effect.map(load, ({ clients }) => [...clients.values()]),
    putClient: (client) =>
      sql`INSERT INTO ${sql(clientsTable)} ${sql.insert({ key: keyText(client.keyHash), value: JSON.stringify(client) })}
        ON CONFLICT (key) DO UPDATE SET value = excluded.value`.pipe(Effect.zipRight(written), failing("policies")),
    removeClient: (keyHash) =>
      sql`DELETE FROM ${sql(clientsTable)} WHERE key = ${keyText(keyHash)}`.pipe(
        Effect.zipRight(written),
        failing("policies")
      )
  }
}
