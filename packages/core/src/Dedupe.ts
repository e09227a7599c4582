/**
 * Counting once what happened once: a partition fails many calls of a connection at one moment, and that is one piece of
 * news (STORES, "Recording an outcome"). Off unless asked for; what is dropped is reported to the breaker as ignored.
 *
 * @since 0.1.0
 */
import type { Fault } from "./internal/decode.js"

/**
 * How long one piece of news lasts.
 *
 * @since 0.1.0
 * @category models
 */
export interface Settings {
  /** ms from the first counted failure of a (provider, connection) in which the others count nothing. */
  readonly window: number
  /** ms, the same for network errors, over all connections of a provider. */
  readonly networkWindow: number
  /** Successes count once as well. */
  readonly successes: boolean
  /** Entries that a table remembers. */
  readonly maxEntries: number
}

/**
 * 5 s, 10 s, failures only, 10 000 entries.
 *
 * @example
 * ```ts
 * import * as Dedupe from "@switchgear/core/Dedupe"
 * import assert from "node:assert"
 *
 * const table = new Dedupe.Table({ ...Dedupe.defaults, successes: true })
 * const success = { provider: "openai", connection: "key-1", kind: null, probe: false }
 * assert.deepStrictEqual([0, 1].map((now) => table.report(success, now)), ["Counted", "Dropped"])
 * ```
 *
 * @since 0.1.0
 * @category models
 */
export const defaults: Settings = { window: 5_000, networkWindow: 10_000, successes: false, maxEntries: 10_000 }

/**
 * What happened to a call. A connection is a provider's account or key.
 *
 * @since 0.1.0
 * @category models
 */
export interface Outcome {
  readonly provider: string
  readonly connection: string
  /** A failure's kind; `null` is a success. */
  readonly kind: string | null
  readonly probe: boolean
}

/**
 * What is remembered of one key: when its window began, in ms, and what was counted then.
 *
 * @since 0.1.0
 * @category models
 */
export interface Entry {
  readonly counted: "failure" | "success"
  readonly since: number
}

/**
 * Whether an outcome counts, over what is remembered of its key. The window begins with the first that counts and does
 * not slide; news of the other sort ends it. A probe's outcome always counts, and leaves windows as an ordinary one would.
 *
 * @example
 * ```ts
 * import * as Dedupe from "@switchgear/core/Dedupe"
 * import assert from "node:assert"
 *
 * const timeout = { kind: "timeout", probe: false }
 * const [, entry] = Dedupe.step(Dedupe.defaults, undefined, timeout, 0)
 * assert.deepStrictEqual(Dedupe.step(Dedupe.defaults, entry, timeout, 4_999), ["Dropped", entry])
 * ```
 *
 * @since 0.1.0
 * @category steps
 */
export const step = (
  settings: Settings,
  entry: Entry | undefined,
  outcome: Pick<Outcome, "kind" | "probe">,
  now: number
): readonly ["Counted" | "Dropped", Entry | undefined] => {
  const sort = outcome.kind === null ? "success" : "failure"
  if (sort === "success" && !settings.successes) return ["Counted", undefined]
  const window = outcome.kind === "network_error" ? settings.networkWindow : settings.window
  if (entry === undefined || entry.counted !== sort || !(now - entry.since < window)) {
    return ["Counted", { counted: sort, since: now }]
  }
  return [outcome.probe ? "Counted" : "Dropped", entry]
}

const connectionKey = ({ connection, provider }: Outcome): string => JSON.stringify([provider, connection])
const networkKey = ({ provider }: Outcome): string => JSON.stringify([provider])

/**
 * What is remembered of all keys, oldest window first, and never more of them than `maxEntries`: one that is forgotten
 * counts once more than it should, which does no harm.
 *
 * @example
 * ```ts
 * import * as Dedupe from "@switchgear/core/Dedupe"
 * import assert from "node:assert"
 *
 * const table = new Dedupe.Table()
 * const timeout = { provider: "openai", connection: "key-1", kind: "timeout", probe: false }
 * assert.deepStrictEqual(
 *   [0, 4_999, 5_000].map((now) => table.report(timeout, now)),
 *   ["Counted", "Dropped", "Counted"]
 * )
 * ```
 *
 * @since 0.1.0
 * @category tables
 */
export class Table {
  private readonly entries = new Map<string, Entry>()

  constructor(readonly settings: Settings = defaults) {}

  get size(): number {
    return this.entries.size
  }

  /** Whether the outcome counts; `now` in ms from any fixed origin. */
  report(outcome: Outcome, now: number): "Counted" | "Dropped" {
    if (outcome.kind === "network_error") return this.apply(networkKey(outcome), outcome, now)
    // what was reached is no longer cut off
    if (outcome.kind === null) this.entries.delete(networkKey(outcome))
    return this.apply(connectionKey(outcome), outcome, now)
  }

  private apply(key: string, outcome: Outcome, now: number): "Counted" | "Dropped" {
    const before = this.entries.get(key)
    const [verdict, entry] = step(this.settings, before, outcome, now)
    if (entry === before) return verdict
    this.entries.delete(key)
    if (entry !== undefined) this.entries.set(key, entry)
    if (this.entries.size > this.settings.maxEntries) {
      for (const oldest of this.entries.keys()) {
        this.entries.delete(oldest)
        break
      }
    }
    return verdict
  }
}

/**
 * Why deduplication does not go with a trip rule; `undefined` if it does. A rule on a rate would no longer see the rate.
 *
 * @example
 * ```ts
 * import * as Dedupe from "@switchgear/core/Dedupe"
 * import * as Policy from "@switchgear/core/Policy"
 * import assert from "node:assert"
 *
 * assert.strictEqual(Dedupe.check(Policy.consecutive({ failureThreshold: 5 }).trip), undefined)
 * assert.strictEqual(Dedupe.check(Policy.hosted.trip)?.path, "dedupe")
 * ```
 *
 * @since 0.1.0
 * @category checks
 */
export const check = (trip: { readonly _tag: "Consecutive" | "Rolling" | "AnyOf" }): Fault | undefined =>
  trip._tag === "Consecutive"
    ? undefined
    : {
        path: "dedupe",
        message: `hides the failure rate from a ${trip._tag} rule: use a Consecutive rule, or leave dedupe out`
      }
