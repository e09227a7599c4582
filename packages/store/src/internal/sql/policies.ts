import { SqlError } from "@effect/sql/SqlError"
import * as Policies from "@switchgear/routing/ModelPolicies"
import { StoreError } from "@switchgear/routing/StoreError"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { type Db, failing, isBusy, keyText, routingError } from "./db.js"

const rulesTable = "switchgear_rules"
const clientsTable = "switchgear_clients"
const revisionsTable = "switchgear_revisions"

const { Array: List, Boolean: Bool, String: Str, Struct } = Schema

const decodeRule = Schema.decodeUnknownEither(
  Schema.parseJson(
    Struct({ org: Str, model: Str, allow: Schema.optional(Bool), fallbackChain: Schema.optional(List(Str)) })
  )
)
const decodeClient = Schema.decodeUnknownEither(Schema.parseJson(Struct({ keyHash: Str, org: Str })))

/** What calls are judged by. */
interface Known {
  /** When the database last said so: ns of the monotonic clock. */
  readonly at: bigint
  readonly revision: number
  readonly rules: ReadonlyArray<Policies.Rule>
  readonly decide: (org: string, model: string) => Policies.Decision
  readonly clients: ReadonlyMap<string, Policies.Client>
}

interface Values {
  readonly value: string
}

export interface Settings {
  /** ms between two looks at the revision. */
  readonly pollInterval?: number | undefined
  /** ms for which what is known goes on while the database is away. */
  readonly staleAfter?: number | undefined
}

/** Nothing is judged by a part: an unread rule may be the one that denies. */
const all = <A>(
  rows: ReadonlyArray<Values>,
  decode: (text: string) => Either.Either<A, unknown>
): Effect.Effect<ReadonlyArray<A>, StoreError> =>
  Either.match(Either.all(rows.map(({ value }) => decode(value))), {
    onLeft: () => Effect.fail(new StoreError({ store: "policies", reason: "Corrupt" })),
    onRight: (values) => Effect.succeed(values)
  })

export const make = (
  db: Db,
  { pollInterval = 1_000, staleAfter = 300_000 }: Settings
): Effect.Effect<Policies.Service, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { sql } = db
    let known: Known | undefined
    /** Whether the last look failed: then calls do not look themselves. */
    let away = false
    const revision = Effect.map(
      sql<{ readonly value: number }>`SELECT value FROM ${sql(revisionsTable)} WHERE name = 'policies'`,
      ([row]) => row?.value ?? 0
    ).pipe(failing("policies"))

    // The revision first: an edit in between is then seen as one at the next look.
    const read: Effect.Effect<Known, StoreError> = Effect.gen(function* () {
      const at = yield* Clock.currentTimeNanos
      const of = yield* revision
      const rules = yield* Effect.flatMap(
        sql<Values>`SELECT value FROM ${sql(rulesTable)} ORDER BY position`.pipe(failing("policies")),
        (rows) => all(rows, decodeRule)
      )
      const clients = yield* Effect.flatMap(
        sql<Values>`SELECT value FROM ${sql(clientsTable)} ORDER BY key`.pipe(failing("policies")),
        (rows) => all(rows, decodeClient)
      )
      return {
        at,
        revision: of,
        rules,
        decide: Policies.compile(rules),
        clients: new Map(clients.map((client) => [client.keyHash, client]))
      }
    })

    // One at a time: what was read earlier never takes the place of what was read later.
    const one = yield* Effect.makeSemaphore(1)
    const looking = <A>(look: Effect.Effect<A, StoreError>): Effect.Effect<A, StoreError> =>
      one.withPermits(1)(
        Effect.onExit(look, ({ _tag }) =>
          Effect.sync(() => {
            away = _tag === "Failure"
          })
        )
      )
    const learn = Effect.tap(read, (fresh) =>
      Effect.sync(() => {
        known = fresh
      })
    )
    const load = looking(learn)
    const poll = looking(
      Effect.gen(function* () {
        const at = yield* Clock.currentTimeNanos
        if (known === undefined || known.revision !== (yield* revision)) yield* learn
        else known = { ...known, at }
      })
    )
    yield* Effect.forkScoped(Effect.forever(Effect.zipRight(Effect.sleep(pollInterval), Effect.ignore(poll))))

    const limit = BigInt(Math.ceil(staleAfter)) * 1_000_000n
    const fresh = Effect.map(Clock.currentTimeNanos, (now) =>
      known !== undefined && now - known.at <= limit ? known : undefined
    )
    // Of many calls that find nothing fresh one looks, and the others find what it read.
    const found = looking(Effect.flatMap(fresh, (held) => (held === undefined ? learn : Effect.succeed(held))))
    const current: Effect.Effect<Known, StoreError> = Effect.flatMap(fresh, (held) => {
      if (held !== undefined) return Effect.succeed(held)
      return away ? Effect.fail(new StoreError({ store: "policies", reason: "Unavailable" })) : found
    })
    yield* Effect.ignore(found)

    /** Its row is the lock: of two edits one waits for the other. */
    const raise = Effect.map(
      sql<{ readonly value: number }>`UPDATE ${sql(revisionsTable)} SET value = value + 1
        WHERE name = 'policies' RETURNING value`,
      ([row]) => row?.value ?? 0
    )
    /** An edit that was written is one, whether or not it can be read at once. */
    const edit = <A, E>(step: (revision: number) => Effect.Effect<A, E | SqlError>) =>
      Effect.flatMap(raise, step).pipe(
        sql.withTransaction,
        Effect.retry({ times: 5, while: (error) => error instanceof SqlError && isBusy(error) }),
        Effect.mapError((error) => (error instanceof SqlError ? routingError("policies", error) : error)),
        Effect.zipLeft(Effect.ignore(load))
      )

    const service: Policies.Service = {
      decide: (org, model) => Effect.map(current, ({ decide }) => decide(org, model)),
      rules: Effect.map(load, ({ rules }) => rules),
      revised: Effect.map(load, ({ revision, rules }) => ({ revision, rules })),
      setRules: (rules, options) => {
        const faults = Policies.check(rules)
        if (faults.length > 0) return Effect.fail(new Policies.InvalidRules({ faults }))
        const rows = rules.map((rule, position) => ({
          position,
          org: JSON.stringify(rule.org),
          model: JSON.stringify(rule.model),
          value: JSON.stringify(rule),
          chain: JSON.stringify(rule.fallbackChain ?? [])
        }))
        return edit((revision) =>
          Effect.gen(function* () {
            const expected = options?.revision
            if (expected !== undefined && expected !== revision - 1) {
              return yield* new Policies.RevisionConflict({ expected, actual: revision - 1 })
            }
            yield* sql`DELETE FROM ${sql(rulesTable)}`
            if (rows.length > 0) yield* sql`INSERT INTO ${sql(rulesTable)} ${sql.insert(rows)}`
            return revision
          })
        )
      },
      client: (keyHash) => Effect.map(current, ({ clients }) => Option.fromNullable(clients.get(keyHash))),
      clients: Effect.map(load, ({ clients }) => [...clients.values()]),
      putClient: (client) =>
        edit<unknown, never>(
          () => sql`INSERT INTO ${sql(clientsTable)}
            ${sql.insert({ key: keyText(client.keyHash), value: JSON.stringify(client) })}
            ON CONFLICT (key) DO UPDATE SET value = excluded.value`
        ).pipe(Effect.asVoid),
      removeClient: (keyHash) =>
        edit<unknown, never>(() => sql`DELETE FROM ${sql(clientsTable)} WHERE key = ${keyText(keyHash)}`).pipe(
          Effect.asVoid
        )
    }
    return service
  })
