/**
 * A call that a stage refused by itself: no target is to blame, and no breaker hears of it.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"

/**
 * What to answer. Codes of this package: `idempotency_in_progress` (409), `idempotency_key_reused` (409),
 * `idempotency_key_too_long` (400), `budget_exceeded` (402), `budget_unavailable` (503), `invalid_client_key` (401),
 * `policy_unavailable` (503). A stage of your own has its own.
 *
 * @since 0.1.0
 * @category errors
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import { Rejected } from "@switchgear/routing/Rejected"
 *
 * const rejected = new Rejected({ stage: "office-hours", status: 403, code: "closed", message: "come back at nine" })
 * assert.strictEqual(rejected.message, "come back at nine")
 * ```
 */
export class Rejected extends Data.TaggedError("Rejected")<{
  /** The stage that refused. */
  readonly stage: string
  /** The HTTP status of the answer. */
  readonly status: number
  readonly code: string
  /** Fit to be shown to the client. */
  readonly message: string
  /** ms until a try makes sense. */
  readonly retryAfter?: number | undefined
}> {}
