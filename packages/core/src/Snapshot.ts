/**
 * A breaker's state as versioned JSON, for a restart or another process (SEMANTICS S9). It holds the wall time at which it
 * was taken, and ages and remainders instead of readings of a monotonic clock, which mean nothing elsewhere.
 *
 * @since 0.1.0
 */
import { type Fault, Reader } from "./internal/decode.js"
import type { State } from "./internal/model.js"
import type { Policy } from "./internal/policyModel.js"
import { restored } from "./internal/restore.js"
import { readSnapshot } from "./internal/snapshotDecode.js"
import type { Snapshot } from "./internal/snapshotModel.js"
import { taken } from "./internal/snapshotTake.js"
import { advance } from "./internal/time.js"

export type { Snapshot } from "./internal/snapshotModel.js"

/**
 * What decoding gives: a snapshot, or everything that is wrong with the input.
 *
 * @since 0.1.0
 * @category models
 */
export type Decoded =
  | { readonly _tag: "Success"; readonly value: Snapshot }
  | { readonly _tag: "Failure"; readonly faults: ReadonlyArray<Fault> }

/**
 * Takes a snapshot. `now` is the machine's time, `wall` the time of day in ms since 1970.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Breaker from "@switchgear/core/Breaker"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Snapshot from "@switchgear/core/Snapshot"
 *
 * const policy = Policy.consecutive({ failureThreshold: 5 })
 * const [state] = Breaker.command(policy, Breaker.initial(policy, 0), Breaker.forceOpen(60_000), 0)
 * const stored = JSON.stringify(Snapshot.snapshot(state, 10_000, 1_700_000_000_000))
 *
 * // Twenty seconds later, in another process, whose clock starts elsewhere:
 * const decoded = Snapshot.decode(JSON.parse(stored))
 * if (decoded._tag === "Success") {
 *   const again = Snapshot.restore(policy, decoded.value, 5, 1_700_000_020_000)
 *   assert.strictEqual(Breaker.observe(policy, again, 5).retryAfter, 30_000)
 * }
 * ```
 *
 * @since 0.1.0
 * @category snapshots
 */
export const snapshot = (state: State, now: number, wall: number): Snapshot =>
  taken(state, advance(state.at, now), wall)

/**
 * Brings a snapshot back, aged by the wall time that has passed since (none if the wall clock went back).
 *
 * An Open keeps what is left of its cooldown; one that ran out means "probe at once". A HalfOpen comes back as an Open at
 * its deadline, because its leases died with the process. Under another policy what fits is kept, the rest starts fresh,
 * and nothing trips by restoring. The era goes on from the larger of the snapshot's and that of the state it replaces, so
 * that permits of before are stale.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Breaker from "@switchgear/core/Breaker"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Snapshot from "@switchgear/core/Snapshot"
 *
 * const policy = Policy.consecutive({ failureThreshold: 5 })
 * const [open] = Breaker.command(policy, Breaker.initial(policy, 0), Breaker.forceOpen(60_000), 0)
 * const state = Snapshot.restore(policy, Snapshot.snapshot(open, 0, 1_000), 0, 31_000)
 * assert.strictEqual(Breaker.observe(policy, state, 0).retryAfter, 30_000)
 * ```
 *
 * @since 0.1.0
 * @category snapshots
 */
export const restore = (policy: Policy, from: Snapshot, now: number, wall: number, replaced?: State): State =>
  restored(policy, from, now, wall, replaced, false)

/**
 * Reads on in a state that several processes share through a store: as `restore`, but the era is the same and the leases
 * of a HalfOpen are still out, so that the permits of every process stay what they were. On the store's own time, `now`
 * and `wall` the same reading of its clock, nothing is lost by it; with `now` of another clock it is a copy on that one.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Breaker from "@switchgear/core/Breaker"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Snapshot from "@switchgear/core/Snapshot"
 *
 * const policy = Policy.consecutive({ failureThreshold: 5 })
 * const [open] = Breaker.command(policy, Breaker.initial(policy, 0), Breaker.forceOpen(60_000), 0)
 * const [probe, halfOpen] = Breaker.acquire(policy, open, 60_000)
 * assert.strictEqual(probe._tag, "Admitted")
 *
 * // Another process, which reads the same record a second later and whose own clock starts at 0:
 * const mirror = Snapshot.resume(policy, Snapshot.snapshot(halfOpen, 60_000, 60_000), 0, 61_000)
 * assert.deepStrictEqual([mirror.era, Breaker.observe(policy, mirror, 0).leases], [halfOpen.era, 1])
 * ```
 *
 * @since 0.1.0
 * @category snapshots
 */
export const resume = (policy: Policy, from: Snapshot, now: number, wall: number, replaced?: State): State =>
  restored(policy, from, now, wall, replaced, true)

/**
 * Reads a stored snapshot, or names every fault at once. Total.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Snapshot from "@switchgear/core/Snapshot"
 *
 * const decoded = Snapshot.decode({ version: 1, wall: 0, era: -1, age: 0, openings: 0, state: { _tag: "ForcedClosed" } })
 * assert.deepStrictEqual(decoded._tag === "Failure" ? decoded.faults.map((fault) => fault.path) : [], ["era"])
 * ```
 *
 * @since 0.1.0
 * @category decoding
 */
export const decode = (input: unknown): Decoded => {
  const faults: Array<Fault> = []
  const value = readSnapshot(Reader.of(input, "", faults))
  return value === undefined || faults.length > 0 ? { _tag: "Failure", faults } : { _tag: "Success", value }
}
