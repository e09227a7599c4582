import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { Redis } from "ioredis"

export class RedisError extends Data.TaggedError("RedisError")<{ readonly full: boolean }> {}

const isFull = (error: unknown): boolean => error instanceof Error && error.message.startsWith("OOM")

export const attempt = <A>(run: () => Promise<A>): Effect.Effect<A, RedisError> =>
  Effect.tryPromise({ try: run, catch: (error) => new RedisError({ full: isFull(error) }) })

/** The value and the server's time. */
const read = "local t = redis.call('TIME') return { redis.call('GET', KEYS[1]), t[1], t[2] }"

/**
 * Over what was read, by its very text. ARGV: whether there was a value, that value, whether there is to be one, that
 * one, its life in ms (0: for ever), channel, message.
 */
const write = `
local held = redis.call('GET', KEYS[1])
if ARGV[1] == '0' then
  if held then return 0 end
elseif held ~= ARGV[2] then
  return 0
end
if ARGV[3] == '0' then
  redis.call('DEL', KEYS[1])
elseif ARGV[5] == '0' then
  redis.call('SET', KEYS[1], ARGV[4])
else
  redis.call('SET', KEYS[1], ARGV[4], 'PX', ARGV[5])
end
if ARGV[6] ~= '' then redis.call('PUBLISH', ARGV[6], ARGV[7]) end
return 1`

/** What a key is to hold; `life`: ms, 0 for ever. `message`: told to those who listen. */
export interface Write {
  readonly value: string | undefined
  readonly life: number
  readonly message: string
}

/** Each conflict means that somebody else got on, so that this many in a row do not happen by chance. */
const attempts = 400

const held = (answer: unknown): { readonly value: string | undefined; readonly now: number } => {
  if (!Array.isArray(answer)) return { value: undefined, now: 0 }
  const [value, seconds, micros]: ReadonlyArray<unknown> = answer
  return {
    value: typeof value === "string" ? value : undefined,
    now: Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000)
  }
}

/** The step may run again, also after a command that timed out and was done nevertheless. `undefined`: no write. */
export const compareAndSet = <A>(
  client: Redis,
  key: string,
  channel: string,
  step: (value: string | undefined, now: number) => readonly [A, Write | undefined]
): Effect.Effect<A, RedisError> => {
  const once = (count: number): Effect.Effect<A, RedisError> =>
    Effect.flatMap(
      attempt(() => client.eval(read, 1, key)),
      (answer) => {
        const { now, value } = held(answer)
        const [result, next] = step(value, now)
        if (next === undefined || (next.value === undefined && value === undefined)) return Effect.succeed(result)
        const args = [
          value === undefined ? "0" : "1",
          value ?? "",
          next.value === undefined ? "0" : "1",
          next.value ?? "",
          String(Math.ceil(next.life)),
          channel,
          next.message
        ]
        return Effect.flatMap(
          attempt(() => client.eval(write, 1, key, ...args)),
          (written) => {
            if (written === 1) return Effect.succeed(result)
            return count < attempts
              ? Effect.zipRight(Effect.yieldNow(), once(count + 1))
              : Effect.fail(new RedisError({ full: false }))
          }
        )
      }
    )
  return once(0)
}
