/**
 * Recorded outcomes put through another policy: what it would have refused, and when it would have opened.
 *
 * A replay knows what came of the calls that were made. It does not know what would have come of a call that life
 * refused, so those are told twice: as if they had all succeeded (`best`), and as if each had failed as the latest
 * failure before it (`worst`).
 *
 * @since 0.1.0
 */
import type { Policy } from "@switchgear/core/Policy"
import * as Data from "effect/Data"
import * as Either from "effect/Either"
import { attemptsOf, type Recorded } from "./internal/record.js"
import { type Replayed, replay } from "./internal/replay.js"
import type { Fault } from "./Scenario.js"

export type {
  /**
   * What became of one attempt in life.
   *
   * @since 0.1.0
   * @category models
   */
  Recorded
} from "./internal/record.js"
export type {
  /**
   * A change of state that the policy would have made, in the log's time.
   *
   * @since 0.1.0
   * @category models
   */
  Change,
  /**
   * What a policy would have done to the calls of one target.
   *
   * @since 0.1.0
   * @category models
   */
  Replayed
} from "./internal/replay.js"

/**
 * A text is no log. It names the lines and what they lack.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import { LogError } from "@switchgear/simulator/Backtest"
 *
 * const error = new LogError({ source: "calls.jsonl", faults: [{ path: "line 3", message: "is not JSON" }] })
 * assert.match(error.message, /line 3: is not JSON/)
 * ```
 *
 * @since 0.1.0
 * @category errors
 */
export class LogError extends Data.TaggedError("LogError")<{
  readonly source: string
  readonly faults: ReadonlyArray<Fault>
}> {
  override get message(): string {
    const lines = this.faults.map(({ message, path }) => `  ${path}: ${message}`)
    return [`${this.source} cannot be replayed:`, ...lines].join("\n")
  }
}

/**
 * The attempts of a log, in order: the answer of `GET /admin/telemetry`, a list of its rows, its rows as JSON lines, or
 * any JSON lines with `at` (ms or an ISO date), `target`, `outcome` (`success` or a failure's kind) and, if known,
 * `latency`, `retryAfter` (both ms) and `status`.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Backtest from "@switchgear/simulator/Backtest"
 * import * as Either from "effect/Either"
 *
 * const log = `{"at":0,"target":"openai","outcome":"timeout","latency":30000}`
 * assert.strictEqual(Either.getOrThrow(Backtest.decode(log))[0]?.kind, "timeout")
 * ```
 *
 * @since 0.1.0
 * @category decoding
 */
export const decode = (
  text: string,
  options: { readonly source?: string } = {}
): Either.Either<ReadonlyArray<Recorded>, LogError> =>
  Either.mapLeft(
    attemptsOf(text),
    (faults) =>
      new LogError({
        source: options.source ?? "the log",
        faults: faults.map(({ line, message }) => ({ path: `line ${line}`, message }))
      })
  )

/**
 * One target under a policy, between the best and the worst that is possible.
 *
 * @since 0.1.0
 * @category models
 */
export interface TargetReport {
  readonly target: string
  /** Attempts in the log, those that life refused included. */
  readonly calls: number
  readonly failed: number
  /** Refused in life: their outcomes are not known. */
  readonly refusedInLife: number
  readonly best: Replayed
  readonly worst: Replayed
}

/**
 * A log under a policy.
 *
 * @since 0.1.0
 * @category models
 */
export interface BacktestReport {
  readonly policy: string
  /** The first and the last attempt, in the log's time. */
  readonly from: number
  readonly to: number
  readonly targets: ReadonlyArray<TargetReport>
  /** What this replay cannot know, in sentences. */
  readonly unknown: ReadonlyArray<string>
}

const unknownOf = (policy: Policy, log: ReadonlyArray<Recorded>): ReadonlyArray<string> => {
  const refused = log.filter(({ outcome }) => outcome === "refused").length
  const { cooldown, trip } = policy
  return [
    ...(refused === 0
      ? []
      : [
          `${refused} of ${log.length} calls were refused in life and have no outcome; where this policy admits one, best ` +
            "takes it as a success and worst as the failure before it."
        ]),
    ...(cooldown.honorRetryAfter && !log.some(({ retryAfter }) => retryAfter !== undefined)
      ? ["The policy honours Retry-After and the log holds none: cooldowns may have been longer."]
      : []),
    ...(cooldown.jitter > 0 ? ["Cooldowns have jitter: best is without any, worst with all of it."] : []),
    ...(trip._tag === "Consecutive"
      ? []
      : ["Where the buckets of the window began in life is not known: an opening by rate may be a bucket off."]),
    "Calls that are refused or admitted otherwise than in life would have gone to other targets, whose load is not replayed.",
    "Each breaker begins Closed."
  ]
}

/**
 * Puts a log through a policy, each target by itself.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Backtest from "@switchgear/simulator/Backtest"
 * import * as Either from "effect/Either"
 *
 * const lines = [0, 100, 200, 300].map((at) => JSON.stringify({ at, target: "openai", outcome: "server_error", latency: 50 }))
 * const log = Either.getOrThrow(Backtest.decode(lines.join("\n")))
 * const report = Backtest.run(log, { name: "three", policy: Policy.consecutive({ failureThreshold: 3 }) })
 * assert.strictEqual(report.targets[0]?.best.refusedBad, 1)
 * assert.strictEqual(report.targets[0].best.changes[0]?.at, 250)
 * ```
 *
 * @since 0.1.0
 * @category running
 */
export const run = (
  log: ReadonlyArray<Recorded>,
  { name, policy }: { readonly name: string; readonly policy: Policy }
): BacktestReport => {
  const byTarget = new Map<string, Array<Recorded>>()
  for (const call of log) {
    const calls = byTarget.get(call.target)
    if (calls === undefined) byTarget.set(call.target, [call])
    else calls.push(call)
  }
  const ends = log.map(({ at }) => at)
  return {
    policy: name,
    from: ends[0] ?? 0,
    to: ends.at(-1) ?? 0,
    targets: Array.from(byTarget, ([target, calls]) => ({
      target,
      calls: calls.length,
      failed: calls.filter(({ outcome }) => outcome === "failure").length,
      refusedInLife: calls.filter(({ outcome }) => outcome === "refused").length,
      best: replay(policy, calls, "best"),
      worst: replay(policy, calls, "worst")
    })),
    unknown: unknownOf(policy, log)
  }
}
