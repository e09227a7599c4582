/**
 * All stores in PostgreSQL 15 or later, for processes that share them. Needs `@effect/sql`, `@effect/sql-pg` and `pg`.
 *
 * The store's time is the server's. Tables are made and brought up to date when the layer is built; that needs the
 * server. Afterwards one that hangs or is gone costs a statement no more than `queryTimeout`. Changes of breakers are told
 * by NOTIFY in the statement that writes them, to a connection of its own that comes back when it is lost.
 *
 * *Gotchas.* NOTIFY carries less than 8 000 bytes: a breaker with a longer name is written and not told of.
 *
 * @since 0.1.0
 */

import { SqlClient } from "@effect/sql/SqlClient"
import { SqlError } from "@effect/sql/SqlError"
import * as PgClient from "@effect/sql-pg/PgClient"
import { type Change, CircuitBreakerStore, StoreError } from "@switchgear/breaker/CircuitBreakerStore"
import { Budgets } from "@switchgear/routing/Budget"
import { IdempotencyStore } from "@switchgear/routing/IdempotencyStore"
import { ModelPolicies } from "@switchgear/routing/ModelPolicies"
import { TelemetryStore } from "@switchgear/routing/TelemetryStore"
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as PubSub from "effect/PubSub"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import pg, { type Config as PgConfig } from "pg"
import { listen } from "./internal/pg/listener.js"
import * as breakers from "./internal/sql/breakers.js"
import * as budgets from "./internal/sql/budgets.js"
import { type Db, reasonOf } from "./internal/sql/db.js"
import * as idempotency from "./internal/sql/idempotency.js"
import { migrate } from "./internal/sql/migrations.js"
import * as policies from "./internal/sql/policies.js"
import * as telemetry from "./internal/sql/telemetry.js"

/**
 * Where it is, and how long to wait for it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** `postgres://`, with user and password where needed. */
  readonly url: Redacted.Redacted
  /** The schema of the tables, made if there is none: letters, digits and underscores. Default `switchgear`. */
  readonly schema?: string | undefined
  /** ms to wait for a connection. Default 250. */
  readonly connectTimeout?: number | undefined
  /** ms to wait for an answer. Default 250. */
  readonly queryTimeout?: number | undefined
  /** Connections at most, the listening one apart. Default 10. */
  readonly maxConnections?: number | undefined
  /** ms until an edit of rules or clients elsewhere is in force here. Default 1 000. */
  readonly pollInterval?: number | undefined
  /** ms for which rules and clients stay in force while they cannot be read; then calls are refused. Default 300 000. */
  readonly staleAfter?: number | undefined
}

/**
 * What the layer gives.
 *
 * @since 0.1.0
 * @category models
 */
export type Stores = CircuitBreakerStore | IdempotencyStore | TelemetryStore | ModelPolicies | Budgets

const changeOf = (payload: string): Change | undefined => {
  try {
    const value: unknown = JSON.parse(payload)
    if (!Array.isArray(value)) return undefined
    const [key, writer]: ReadonlyArray<unknown> = value
    return typeof key === "string" && typeof writer === "string" ? { key, writer } : undefined
  } catch {
    return undefined
  }
}

const storeError = (error: { readonly _tag: string }): StoreError =>
  new StoreError({ reason: error instanceof SqlError ? reasonOf(error) : "Corrupt" })

const make = (options: Options, schema: string, config: PgConfig) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient
    yield* sql`CREATE SCHEMA IF NOT EXISTS ${sql(schema)}`.pipe(
      Effect.zipRight(migrate),
      // Two that start at the same time get into each other's way once.
      Effect.retry(Schedule.intersect(Schedule.recurs(3), Schedule.spaced("100 millis"))),
      Effect.mapError(storeError)
    )
    const channel = `switchgear_${schema}`
    const changes = yield* PubSub.sliding<Change>(4_096)
    yield* listen(config, channel, (payload) => {
      const change = changeOf(payload)
      if (change !== undefined) changes.unsafeOffer(change)
    })
    const silent: Db = {
      sql,
      now: Effect.succeed(sql.literal("(extract(epoch from clock_timestamp()) * 1000)::float8")),
      announcing: (statement) => statement
    }
    const telling: Db = {
      ...silent,
      announcing: (statement, key, writer) => {
        const name: unknown = JSON.parse(key)
        const payload = JSON.stringify([name, writer])
        return Buffer.byteLength(payload) < 7_900
          ? sql`WITH written AS (${statement}) SELECT key, pg_notify(${channel}, ${payload}) FROM written`
          : statement
      }
    }
    yield* Effect.forkScoped(
      Effect.forever(Effect.zipRight(Effect.sleep("1 minute"), Effect.ignore(idempotency.purge(silent))))
    )
    const rules = yield* policies.make(silent, options)
    return Context.empty().pipe(
      Context.add(
        CircuitBreakerStore,
        breakers.make(telling, Stream.fromPubSub(changes), () => {})
      ),
      Context.add(IdempotencyStore, idempotency.make(silent)),
      Context.add(TelemetryStore, telemetry.make(silent)),
      Context.add(ModelPolicies, rules),
      Context.add(Budgets, budgets.make(silent))
    )
  })

/**
 * Opens all stores in one schema; closed with the layer.
 *
 * @since 0.1.0
 * @category layers
 * @example
 * ```ts
 * import * as CircuitBreakerRegistry from "@switchgear/breaker/CircuitBreakerRegistry"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as PostgresStore from "@switchgear/store/postgres"
 * import * as Layer from "effect/Layer"
 * import * as Redacted from "effect/Redacted"
 *
 * const Stores = PostgresStore.layer({ url: Redacted.make("postgres://app@127.0.0.1/app") })
 * export const Registry = CircuitBreakerRegistry.layerStored({ policy: Policy.hosted }).pipe(
 *   Layer.provide(Stores)
 * ) // Layer<CircuitBreakerRegistry, StoreError>
 * ```
 */
export const layer = (options: Options): Layer.Layer<Stores, StoreError> =>
  Layer.suspend(() => {
    const { connectTimeout = 250, maxConnections = 10, queryTimeout = 250, schema = "switchgear" } = options
    if (!/^[a-z_][a-z0-9_]{0,40}$/i.test(schema)) return Layer.die(new Error(`${JSON.stringify(schema)} is no schema`))
    const config: PgConfig = {
      connectionString: Redacted.value(options.url),
      connectionTimeoutMillis: connectTimeout,
      keepAlive: true,
      options: `-c search_path=${schema}`
    }
    const acquire = Effect.acquireRelease(
      Effect.sync(() => {
        const pool = new pg.Pool({ ...config, query_timeout: queryTimeout, max: maxConnections })
        // A connection that is lost while nobody uses it is replaced by the pool.
        return pool.on("error", () => {})
      }),
      (pool) =>
        Effect.ignore(
          Effect.timeout(
            Effect.tryPromise(() => pool.end()),
            queryTimeout
          )
        )
    )
    return Layer.scopedContext(make(options, schema, config)).pipe(
      Layer.provide(Layer.mapError(PgClient.layerFromPool({ acquire }), storeError))
    )
  })

/**
 * {@link layer}, from configuration.
 *
 * @since 0.1.0
 * @category layers
 * @example
 * ```ts
 * import * as PostgresStore from "@switchgear/store/postgres"
 * import * as Config from "effect/Config"
 *
 * export const Stores = PostgresStore.layerConfig({ url: Config.redacted("DATABASE_URL") })
 * ```
 */
export const layerConfig = (options: Config.Config.Wrap<Options>): Layer.Layer<Stores, StoreError | ConfigError> =>
  Layer.unwrapEffect(Effect.map(Config.unwrap(options), layer))
