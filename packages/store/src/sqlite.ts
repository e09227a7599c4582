/**
 * All stores in one SQLite file: the embedded default, with nothing to start. Needs `@effect/sql` and
 * `@effect/sql-libsql`.
 *
 * The file is kept in WAL mode; its tables are made and brought up to date when it is opened. A file that is damaged is
 * moved aside (`.corrupt-1`), with a warning that says where, and a fresh one is begun: nothing is overwritten. A database
 * of another application is left as it is and refused. When the disk is full a write fails with a typed error, and works
 * again on the same connection once there is room.
 *
 * *Gotchas.* The store's time is this machine's. `changes` tells of what is written through this layer, not of what
 * another process writes into the file: for breakers that are shared by processes use `redis` or `postgres`.
 *
 * @since 0.1.0
 */

import { SqlClient } from "@effect/sql/SqlClient"
import * as LibsqlClient from "@effect/sql-libsql/LibsqlClient"
import { type Change, CircuitBreakerStore } from "@switchgear/breaker/CircuitBreakerStore"
import { Budgets } from "@switchgear/routing/Budget"
import { IdempotencyStore } from "@switchgear/routing/IdempotencyStore"
import { ModelPolicies } from "@switchgear/routing/ModelPolicies"
import { TelemetryStore } from "@switchgear/routing/TelemetryStore"
import * as Clock from "effect/Clock"
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as PubSub from "effect/PubSub"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { open, type Problem, Unusable } from "./internal/libsql.js"
import * as breakers from "./internal/sql/breakers.js"
import * as budgets from "./internal/sql/budgets.js"
import { type Db, reasonOf } from "./internal/sql/db.js"
import * as idempotency from "./internal/sql/idempotency.js"
import { migrate } from "./internal/sql/migrations.js"
import * as policies from "./internal/sql/policies.js"
import * as telemetry from "./internal/sql/telemetry.js"

/**
 * Where the file is, and how safely it is written.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** The file; its folder is made if there is none. `:memory:`: none, and gone with the layer. */
  readonly path: string
  /**
   * `NORMAL` (default): what was written outlives the process, however it ends. `FULL`: and a loss of power, for three
   * times the cost of a write.
   */
  readonly synchronous?: "NORMAL" | "FULL" | undefined
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

const fixes: Readonly<Record<Problem, string>> = {
  Folder: "its folder is not there and cannot be made: make it, or name a file where this process may write",
  ReadOnly: "it cannot be written: let this process write it and its folder, or name another file",
  Foreign: "it is another application's database, and was left as it is: name another file",
  Full: "there is no room left on its disk: make some, or name a file on another",
  Busy: "another process is writing it: stop that one, or name another file",
  Unreadable: "it cannot be opened: name a file, and let this process read and write it"
}

/**
 * A file that cannot be used, and what to do. `Folder`: its folder cannot be made; `ReadOnly`: it cannot be written;
 * `Foreign`: it is another application's; `Full`: the disk is; `Busy`: another process does not let go of it;
 * `Unreadable`: anything else.
 *
 * @since 0.1.0
 * @category errors
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import { FileUnusable } from "@switchgear/store/sqlite"
 *
 * const error = new FileUnusable({ path: "/data/breakers.db", problem: "Full" })
 * assert.match(error.message, /^\/data\/breakers.db: there is no room left on its disk/)
 * ```
 */
export class FileUnusable extends Data.TaggedError("FileUnusable")<{
  readonly path: string
  readonly problem: Problem
}> {
  override get message(): string {
    return `${this.path}: ${fixes[this.problem]}`
  }
}

const unusable =
  (path: string) =>
  (cause: unknown): FileUnusable =>
    new FileUnusable({ path, problem: cause instanceof Unusable ? cause.problem : "Unreadable" })

const liveClient = ({ path, synchronous = "NORMAL" }: Options) =>
  Effect.acquireRelease(
    Effect.tryPromise({ try: () => open(path, synchronous), catch: unusable(path) }),
    // What is in the write-ahead log goes into the file: then the file alone can be copied.
    ({ client }) =>
      Effect.zipRight(
        Effect.ignore(Effect.tryPromise(() => client.execute("PRAGMA wal_checkpoint(TRUNCATE)"))),
        Effect.sync(() => client.close())
      )
  ).pipe(
    Effect.tap(({ aside }) =>
      aside === undefined
        ? Effect.void
        : Effect.logWarning(`${path} is damaged: moved to ${aside}, a fresh one is begun`)
    ),
    Effect.map(({ client }) => client)
  )

const make = (options: Options) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient
    yield* migrate.pipe(
      // Two that begin the same file get into each other's way once.
      Effect.retry(Schedule.intersect(Schedule.recurs(5), Schedule.spaced("100 millis"))),
      Effect.mapError((error) => {
        const isFull = error._tag === "SqlError" && reasonOf(error) === "Full"
        return new FileUnusable({ path: options.path, problem: isFull ? "Full" : "Unreadable" })
      })
    )
    const changes = yield* PubSub.sliding<Change>(4_096)
    const db: Db = {
      sql,
      now: Effect.map(Clock.currentTimeMillis, (now) => sql`${now}`),
      clock: Clock.currentTimeMillis,
      announcing: (statement) => statement
    }
    // An expired claim is nothing to those who ask; this is about the room it takes.
    yield* Effect.forkScoped(
      Effect.forever(Effect.zipRight(Effect.sleep("1 minute"), Effect.ignore(idempotency.purge(db))))
    )
    const rules = yield* policies.make(db, options)
    return Context.empty().pipe(
      Context.add(
        CircuitBreakerStore,
        breakers.make(db, Stream.fromPubSub(changes), (change) => changes.unsafeOffer(change))
      ),
      Context.add(IdempotencyStore, idempotency.make(db)),
      Context.add(TelemetryStore, telemetry.make(db)),
      Context.add(ModelPolicies, rules),
      Context.add(Budgets, budgets.make(db))
    )
  })

/**
 * Opens all stores in one file; closed with the layer.
 *
 * @since 0.1.0
 * @category layers
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import { CircuitBreakerStore } from "@switchgear/breaker/CircuitBreakerStore"
 * import * as Sqlite from "@switchgear/store/sqlite"
 * import * as Effect from "effect/Effect"
 *
 * const entries = Effect.flatMap(CircuitBreakerStore, (store) => store.entries)
 * const Stores = Sqlite.layer({ path: ":memory:" }) // Layer<Stores, FileUnusable>
 * assert.deepStrictEqual(await Effect.runPromise(Effect.provide(entries, Stores)), [])
 * ```
 */
export const layer = (options: Options): Layer.Layer<Stores, FileUnusable> =>
  Layer.unwrapScoped(
    Effect.map(liveClient(options), (client) =>
      Layer.scopedContext(make(options)).pipe(Layer.provide(LibsqlClient.layer({ liveClient: client })))
    )
  )

/**
 * {@link layer}, from configuration.
 *
 * @since 0.1.0
 * @category layers
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import { Budgets } from "@switchgear/routing/Budget"
 * import * as Sqlite from "@switchgear/store/sqlite"
 * import * as Config from "effect/Config"
 * import * as ConfigProvider from "effect/ConfigProvider"
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 *
 * const Stores = Sqlite.layerConfig({ path: Config.string("STORE_PATH") }).pipe(
 *   Layer.provide(Layer.setConfigProvider(ConfigProvider.fromMap(new Map([["STORE_PATH", ":memory:"]]))))
 * )
 * const spent = Effect.flatMap(Budgets, (budgets) => budgets.spent("acme", 60_000))
 * assert.strictEqual((await Effect.runPromise(Effect.provide(spent, Stores))).usd, 0)
 * ```
 */
export const layerConfig = (options: Config.Config.Wrap<Options>): Layer.Layer<Stores, FileUnusable | ConfigError> =>
  Layer.unwrapEffect(Effect.map(Config.unwrap(options), layer))
