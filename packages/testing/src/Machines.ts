/**
 * The two breakers as machines that traces, properties and the exhaustive check can step.
 *
 * @since 0.1.0
 */
import * as Breaker from "@switchgear/core/Breaker"
import * as Policy from "@switchgear/core/Policy"
import * as Snapshot from "@switchgear/core/Snapshot"
import * as Trace from "@switchgear/core/Trace"
import * as NaiveBreaker from "./NaiveBreaker.js"

/**
 * The machine of `core`, the one under test.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Trace from "@switchgear/core/Trace"
 * import * as Machines from "@switchgear/testing/Machines"
 *
 * const policy = { trip: { _tag: "Consecutive", failureThreshold: 1 } }
 * const steps = [{ at: 0, do: "forceOpen", expect: { state: "Open" } }] as const
 * assert.deepStrictEqual(Trace.run(Machines.real, { id: "forced", policy, steps }).mismatches, [])
 * ```
 *
 * @since 0.1.0
 * @category machines
 */
export const real: Trace.Machine<Policy.Policy, Breaker.State, Breaker.View> = Trace.machine({
  breaker: Breaker,
  policy: Policy,
  snapshot: Snapshot
})

/**
 * The naive machine, which counts everything again at each question. It takes a decoded policy.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Trace from "@switchgear/core/Trace"
 * import * as Machines from "@switchgear/testing/Machines"
 *
 * const policy = { trip: { _tag: "Consecutive", failureThreshold: 1 } }
 * const steps = [{ at: 0, do: "forceOpen", expect: { state: "Open" } }] as const
 * assert.deepStrictEqual(Trace.run(Machines.naive, { id: "forced", policy, steps }).mismatches, [])
 * ```
 *
 * @since 0.1.0
 * @category machines
 */
export const naive: Trace.Machine<Policy.Policy, NaiveBreaker.NaiveState, NaiveBreaker.NaiveView> = {
  decode: Policy.decode,
  initial: NaiveBreaker.initial,
  acquire: NaiveBreaker.acquire,
  report: NaiveBreaker.report,
  command: NaiveBreaker.command,
  observe: NaiveBreaker.observe,
  tailPermit: NaiveBreaker.tailPermit,
  restart: NaiveBreaker.restart,
  at: (state) => state.at
}
