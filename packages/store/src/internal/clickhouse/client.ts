import { ClickHouseLogLevel, createClient } from "@clickhouse/client"
import { StoreError } from "@switchgear/routing/StoreError"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/** What is asked of a server. Each ends in bounded time. */
export interface Client {
  readonly insert: (table: string, values: ReadonlyArray<object>) => Effect.Effect<void, StoreError>
  readonly query: <A>(statement: string) => Effect.Effect<ReadonlyArray<A>, StoreError>
  readonly command: (statement: string) => Effect.Effect<void, StoreError>
}

const unavailable = (): StoreError => new StoreError({ store: "telemetry", reason: "Unavailable" })

export const make = (url: string, requestTimeout: number): Effect.Effect<Client, never, Scope.Scope> => {
  const acquire = Effect.acquireRelease(
    Effect.sync(() =>
      createClient({
        url,
        application: "switchgear",
        request_timeout: requestTimeout,
        // It writes addresses and statements to the console otherwise.
        log: { level: ClickHouseLogLevel.OFF },
        // Servers of before 2023 close an idle connection after 3 s: ours is gone before.
        keep_alive: { idle_socket_ttl: 2_000, eagerly_destroy_stale_sockets: true }
      })
    ),
    (client) => Effect.promise(() => client.close().catch(() => {}))
  )
  // The client's own limit starts anew with each byte.
  const bounded = <A>(run: (signal: AbortSignal) => Promise<A>): Effect.Effect<A, StoreError> =>
    Effect.tryPromise({ try: run, catch: unavailable }).pipe(
      Effect.timeoutFail({ duration: requestTimeout, onTimeout: unavailable })
    )
  return Effect.map(
    acquire,
    (client): Client => ({
      insert: (table, values) =>
        Effect.asVoid(
          bounded((signal) =>
            client.insert({ table, values: [...values], format: "JSONEachRow", abort_signal: signal })
          )
        ),
      query: <A>(query: string) =>
        bounded(async (signal) => {
          const answer = await client.query({ query, format: "JSONEachRow", abort_signal: signal })
          return answer.json<A>()
        }),
      command: (query) => Effect.asVoid(bounded((signal) => client.command({ query, abort_signal: signal })))
    })
  )
}
