/**
 * A store that could not do what it was asked.
 *
 * @since 0.1.0
 */
import * as Data from "effect/Data"

/**
 * `Unavailable`: it cannot be reached, or did not answer in time; trying again may help. `Corrupt`: it holds what cannot
 * be read. Neither tells an address or a key.
 *
 * @since 0.1.0
 * @category errors
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import { StoreError } from "@switchgear/routing/StoreError"
 *
 * assert.strictEqual(new StoreError({ store: "policies", reason: "Unavailable" }).message, "policies: Unavailable")
 * ```
 */
export class StoreError extends Data.TaggedError("StoreError")<{
  /** The port it stands behind: `idempotency`, `telemetry`, `policies`, `budgets`, `cache`. */
  readonly store: string
  readonly reason: "Unavailable" | "Corrupt"
}> {
  override get message(): string {
    return `${this.store}: ${this.reason}`
  }
}
