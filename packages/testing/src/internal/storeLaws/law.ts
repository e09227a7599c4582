import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Random from "effect/Random"

/**
 * A store does not do what it has to.
 *
 * @since 0.1.0
 * @category errors
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import { LawBroken } from "@switchgear/testing/StoreLaws"
 *
 * const error = new LawBroken({ what: "read your write", expected: 1, actual: 2 })
 * assert.strictEqual(error.message, "read your write: expected 1, got 2")
 * ```
 */
export class LawBroken extends Data.TaggedError("LawBroken")<{
  readonly what: string
  readonly expected: unknown
  readonly actual: unknown
}> {
  override get message(): string {
    return `${this.what}: expected ${shown(this.expected)}, got ${shown(this.actual)}`
  }
}

/**
 * One law: its name for a test, and what fails if it does not hold.
 *
 * @since 0.1.0
 * @category models
 */
export interface Law<R> {
  readonly name: string
  readonly check: Effect.Effect<void, LawBroken | Error, R>
}

const plain = (value: unknown): string =>
  JSON.stringify(value, (_, each: unknown) => (each instanceof Uint8Array ? [...each] : each)) ?? "undefined"

const shown = (value: unknown): string => plain(value).slice(0, 400)

/** Compares plain data, whatever the order of keys. */
const sorted = (value: unknown): unknown => {
  if (value instanceof Uint8Array) return [...value]
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, each]) => each !== undefined)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => [key, sorted(each)])
  )
}

export const same = (what: string, actual: unknown, expected: unknown): Effect.Effect<void, LawBroken> =>
  Equal.equals(actual, expected) || plain(sorted(actual)) === plain(sorted(expected))
    ? Effect.void
    : Effect.fail(new LawBroken({ what, expected, actual }))

export const holds = (what: string, condition: boolean, actual?: unknown): Effect.Effect<void, LawBroken> =>
  condition ? Effect.void : Effect.fail(new LawBroken({ what, expected: true, actual: actual ?? condition }))

/** A name that no other run uses. */
export const fresh: Effect.Effect<string> = Effect.map(
  Random.nextIntBetween(0, Number.MAX_SAFE_INTEGER),
  (n) => `law-${n.toString(36)}`
)

/** Keys that stores have stumbled over. */
export const oddKeys: ReadonlyArray<string> = [
  "",
  " ",
  "a\u0000b",
  "é\u{1f600}漢",
  "%_*?[]\\",
  "'\"`;--",
  "{a}:b",
  "line\nfeed\ttab",
  "constructor",
  "__proto__",
  "\ud800",
  "k".repeat(2_000)
]
