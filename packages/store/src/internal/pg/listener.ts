import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import pg, { type Config as PgConfig } from "pg"

/**
 * A connection of its own that listens, and connects again when it is lost: the one of `sql.listen` stays silent for
 * ever after. `channel`: letters, digits and underscores.
 */
export const listen = (
  config: PgConfig,
  channel: string,
  heard: (payload: string) => void
): Effect.Effect<unknown, never, Scope.Scope> => {
  const once = Effect.acquireUseRelease(
    Effect.sync(() => new pg.Client(config)),
    (client) =>
      Effect.async<void>((resume) => {
        const lost = (): void => resume(Effect.void)
        client.on("error", lost).on("end", lost)
        client.on("notification", ({ payload }) => {
          if (payload !== undefined) heard(payload)
        })
        client
          .connect()
          .then(() => client.query(`LISTEN "${channel}"`))
          .catch(lost)
      }),
    // Nobody waits for its goodbye: a server that hangs has none.
    (client) => Effect.sync(() => void client.end().catch(() => {}))
  )
  return Effect.forkScoped(Effect.forever(Effect.zipRight(once, Effect.sleep("500 millis"))))
}
