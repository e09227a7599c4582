import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { Redis } from "ioredis"

export interface Settings {
  readonly url: string
  /** ms */
  readonly connectTimeout: number
  /** ms */
  readonly commandTimeout: number
}

/**
 * ioredis waits for ever on a server that hangs and for seconds on one that is gone, unless it is told not to: nothing
 * is queued, nothing is sent twice, each command has a limit, and connecting goes on in the background.
 */
const connect = ({ commandTimeout, connectTimeout, url }: Settings): Redis => {
  const client = new Redis(url, {
    connectTimeout,
    commandTimeout,
    maxRetriesPerRequest: 0,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    // Its own subscription after a loss is a promise that nobody holds: lost again, it ends the process.
    autoResubscribe: false,
    retryStrategy: (times) => Math.min(times * 50, 500)
  })
  // What fails is told by the command that fails; without a listener ioredis prints it, address included.
  client.on("error", () => {})
  return client
}

/** Waits for the connection, for so long as it may take; a server that is away is no reason not to start. */
const ready = (client: Redis, limit: number): Effect.Effect<void> =>
  Effect.async<void>((resume) => {
    if (client.status === "ready") return resume(Effect.void)
    const done = (): void => resume(Effect.void)
    client.once("ready", done)
    return Effect.sync(() => void client.off("ready", done))
  }).pipe(Effect.timeoutTo({ duration: limit, onSuccess: () => undefined, onTimeout: () => undefined }))

/** `disconnect`, not `quit`: that one waits for an answer. */
const connection = (make: () => Redis, limit: number): Effect.Effect<Redis, never, Scope.Scope> =>
  Effect.tap(
    Effect.acquireRelease(Effect.sync(make), (client) => Effect.sync(() => client.disconnect())),
    (client) => ready(client, limit)
  )

export const client = (settings: Settings): Effect.Effect<Redis, never, Scope.Scope> =>
  connection(() => connect(settings), settings.connectTimeout)

/** A connection of its own that listens; after a loss it listens again by itself. */
export const subscriber = (
  settings: Settings,
  channel: string,
  heard: (message: string) => void
): Effect.Effect<unknown, never, Scope.Scope> =>
  connection(() => {
    const listening = connect(settings)
    listening.on("ready", () => void listening.subscribe(channel).catch(() => {}))
    listening.on("message", (from: string, message: string) => {
      if (from === channel) heard(message)
    })
    return listening
  }, settings.connectTimeout)
