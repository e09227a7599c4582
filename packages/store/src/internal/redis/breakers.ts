import * as Store from "@switchgear/breaker/CircuitBreakerStore"
import * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { Redis } from "ioredis"
import { attempt, compareAndSet, type RedisError, type Write } from "./compareAndSet.js"

const failing = <A>(self: Effect.Effect<A, RedisError>): Effect.Effect<A, Store.StoreError> =>
  Effect.mapError(self, ({ full }) => new Store.StoreError({ reason: full ? "Full" : "Unavailable" }))

export const message = (key: string, writer: string): string => JSON.stringify([key, writer])

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** What `message` told. */
export const changeOf = (text: string): Store.Change | undefined => {
  const value = parse(text)
  if (!Array.isArray(value)) return undefined
  const [key, writer]: ReadonlyArray<unknown> = value
  return typeof key === "string" && typeof writer === "string" ? { key, writer } : undefined
}

const glob = (text: string): string => text.replace(/[\\*?[\]]/g, "\\$&")

export const make = (
  client: Redis,
  prefix: string,
  channel: string,
  changes: Stream.Stream<Store.Change>
): Store.Service => {
  // As JSON: a lone surrogate has no form of its own in UTF-8.
  const keyOf = (key: string): string => `${prefix}${JSON.stringify(key)}`
  const nameOf = (key: string): string | undefined => {
    const name = parse(key.slice(prefix.length))
    return typeof name === "string" ? name : undefined
  }
  const page = (cursor: string, seen: Map<string, Store.Stored>): Effect.Effect<string, RedisError> =>
    Effect.flatMap(
      attempt(() => client.scan(cursor, "MATCH", `${glob(prefix)}*`, "COUNT", 500)),
      ([next, keys]) =>
        keys.length === 0
          ? Effect.succeed(next)
          : Effect.map(
              attempt(() => client.mget(keys)),
              (values) => {
                for (const [index, key] of keys.entries()) {
                  const name = nameOf(key)
                  const text = values[index]
                  const stored = typeof text === "string" ? Store.decode(text) : undefined
                  if (name !== undefined && stored !== undefined) seen.set(name, stored)
                }
                return next
              }
            )
    )
  return {
    modify: (key, f) =>
      failing(
        compareAndSet(client, keyOf(key), channel, (text, now) => {
          const before = text === undefined ? undefined : Store.decode(text)
          const [result, after] = f(before, now)
          if (after === before) return [result, undefined]
          const write: Write = {
            value: after === undefined ? undefined : Store.encode(after),
            life: after === undefined ? 0 : (Store.life(after) ?? 0),
            message: message(key, after?.writer ?? "")
          }
          return [result, write]
        })
      ),
    entries: Effect.suspend(() => {
      const seen = new Map<string, Store.Stored>()
      const from = (cursor: string): Effect.Effect<ReadonlyArray<readonly [string, Store.Stored]>, RedisError> =>
        Effect.flatMap(page(cursor, seen), (next) => (next === "0" ? Effect.succeed([...seen]) : from(next)))
      return failing(from("0"))
    }),
    remove: (key) =>
      failing(
        compareAndSet(client, keyOf(key), channel, () => [
          undefined,
          { value: undefined, life: 0, message: message(key, "") }
        ])
      ),
    changes
  }
}
