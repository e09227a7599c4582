/**
 * The breaker as a pure machine: state in, event in, state out. No clock, timer, random source, callback, exception or
 * mutation: times are whole ms from any fixed origin, and only their differences matter.
 *
 * A call takes three steps: `acquire` a permit, make the call, `report` its outcome for that permit.
 *
 * @since 0.1.0
 */
import * as closed from "./internal/closed.js"
import * as forced from "./internal/forced.js"
import * as halfOpen from "./internal/halfOpen.js"
import type {
  Admission,
  Command,
  Event,
  Failure,
  Ignored,
  Outcome,
  Permit,
  Released,
  Reported,
  State,
  Success,
  View
} from "./internal/model.js"
import { observe as view } from "./internal/observe.js"
import type { Policy } from "./internal/policyModel.js"
import { advance, origin, remaining } from "./internal/time.js"

export type {
  Admission,
  Admitted,
  Cause,
  Closed,
  Command,
  Degraded,
  Event,
  Failure,
  ForcedClosed,
  ForcedOpen,
  HalfOpen,
  Ignored,
  KindCount,
  Lease,
  ObservedState,
  Open,
  Outcome,
  Permit,
  Reason,
  Rejected,
  Released,
  Reported,
  State,
  Success,
  View
} from "./internal/model.js"

/**
 * A fresh Closed breaker.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Breaker from "@switchgear/core/Breaker"
 * import * as Policy from "@switchgear/core/Policy"
 *
 * const state = Breaker.initial(Policy.hosted, 0)
 * assert.strictEqual(Breaker.observe(Policy.hosted, state, 0).state, "Closed")
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const initial = (policy: Policy, now: number): State => closed.close(policy, 0, 0, false, origin(now))

/**
 * Asks for the right to make one call (SEMANTICS A1 to A5).
 *
 * Closed and Degraded admit every call. Open rejects until its deadline and tells how many ms are left. Past it, up to
 * `halfOpen.maxProbes` callers get a permit with a lease of `halfOpen.probeTimeout`. A rejection leaves the state as it
 * is, the same object.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Breaker from "@switchgear/core/Breaker"
 * import * as Policy from "@switchgear/core/Policy"
 *
 * const policy = Policy.consecutive({ failureThreshold: 1, cooldown: { base: "10 seconds" } })
 * const [admission, s1] = Breaker.acquire(policy, Breaker.initial(policy, 0), 0)
 * assert.strictEqual(admission._tag, "Admitted")
 * if (admission._tag === "Admitted") {
 *   const [, s2] = Breaker.report(policy, s1, admission.permit, Breaker.failure("timeout"), 100, 0)
 *   const [again] = Breaker.acquire(policy, s2, 4100)
 *   assert.deepStrictEqual(again, { _tag: "Rejected", retryAfter: 6000 })
 * }
 * ```
 *
 * @since 0.1.0
 * @category machine
 */
export const acquire = (
  policy: Policy,
  state: State,
  now: number
): readonly [Admission, State, ReadonlyArray<Event>] => {
  const t = advance(state.at, now)
  switch (state._tag) {
    case "Closed":
    case "Degraded":
      return [{ _tag: "Admitted", permit: { era: state.era, at: t } }, closed.admitted(state, t), closed.noEvents]
    case "Open":
      return t < state.until
        ? [{ _tag: "Rejected", retryAfter: remaining(state.until, t) }, state, closed.noEvents]
        : halfOpen.enter(policy, state, t)
    case "HalfOpen":
      return halfOpen.acquire(policy, state, t)
    case "ForcedOpen":
      if (forced.lapsed(state, t)) return halfOpen.enter(policy, state, t)
      return [
        state.until === null ? { _tag: "Rejected" } : { _tag: "Rejected", retryAfter: remaining(state.until, t) },
        state,
        closed.noEvents
      ]
    case "ForcedClosed":
      return [{ _tag: "Admitted", permit: { era: state.era, at: t } }, forced.admitted(state, t), closed.noEvents]
  }
}

/**
 * Reports the outcome of an admitted call (SEMANTICS R1 to R6).
 *
 * `Stale` when the permit's era is over, its lease has run out, or the breaker is forced: then nothing happened, and the
 * state is the same object. A probe's lease is used up by its report; reporting any other permit once is the caller's
 * duty. `rnd` in `[0, 1)` is what jitter is made of; 0 means none.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Breaker from "@switchgear/core/Breaker"
 * import * as Policy from "@switchgear/core/Policy"
 *
 * const policy = Policy.consecutive({ failureThreshold: 1, cooldown: { base: "10 seconds" } })
 * const [admission, s1] = Breaker.acquire(policy, Breaker.initial(policy, 0), 0)
 * if (admission._tag === "Admitted") {
 *   const [reported, s2, events] = Breaker.report(policy, s1, admission.permit, Breaker.failure("timeout"), 100, 0)
 *   assert.strictEqual(reported, "Applied")
 *   assert.deepStrictEqual([events[0]?.from, events[0]?.to, events[0]?.reason.rule], ["Closed", "Open", "P1"])
 *   const [again, s3] = Breaker.report(policy, s2, admission.permit, Breaker.success(), 200, 0)
 *   assert.deepStrictEqual([again, s3 === s2], ["Stale", true])
 * }
 * ```
 *
 * @since 0.1.0
 * @category machine
 */
export const report = (
  policy: Policy,
  state: State,
  permit: Permit,
  outcome: Outcome,
  now: number,
  rnd: number
): readonly [Reported, State, ReadonlyArray<Event>] => {
  const t = advance(state.at, now)
  if (permit.era === state.era) {
    if (state._tag === "Closed" || state._tag === "Degraded") {
      if (permit.probe === undefined) {
        return closed.report(policy, state, permit, outcome, t, rnd)
      }
    } else if (state._tag === "HalfOpen" && permit.probe !== undefined && halfOpen.holds(state, permit.probe, t)) {
      return halfOpen.report(policy, state, permit.probe, outcome, t, rnd)
    }
  }
  return ["Stale", state, closed.noEvents]
}

/**
 * Takes manual control, or gives it back (SEMANTICS M1). A `forceOpen` whose `for` is no positive whole number of ms does
 * nothing, and so does `auto` where nothing is forced.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Breaker from "@switchgear/core/Breaker"
 * import * as Policy from "@switchgear/core/Policy"
 *
 * const [state] = Breaker.command(Policy.hosted, Breaker.initial(Policy.hosted, 0), Breaker.forceOpen(60_000), 0)
 * const view = Breaker.observe(Policy.hosted, state, 1_000)
 * assert.deepStrictEqual([view.state, view.forced, view.retryAfter], ["Open", true, 59_000])
 * ```
 *
 * @since 0.1.0
 * @category machine
 */
export const command = (
  policy: Policy,
  state: State,
  given: Command,
  now: number
): readonly [State, ReadonlyArray<Event>] => forced.command(policy, state, given, advance(state.at, now))

/**
 * What a person or a router asks (SEMANTICS S4). A read: it changes nothing and takes no probe.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Breaker from "@switchgear/core/Breaker"
 * import * as Policy from "@switchgear/core/Policy"
 *
 * const view = Breaker.observe(Policy.hosted, Breaker.initial(Policy.hosted, 0), 0)
 * assert.deepStrictEqual([view.state, view.streak, view.missingSamples], ["Closed", 0, 10])
 * ```
 *
 * @since 0.1.0
 * @category machine
 */
export const observe = (policy: Policy, state: State, now: number): View => view(policy, state, advance(state.at, now))

/**
 * A permit for what follows a stream's first output (SEMANTICS R7): a plain one of the current era if the breaker is
 * Closed or Degraded, else none. Only a failure is reported on it.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Breaker from "@switchgear/core/Breaker"
 * import * as Policy from "@switchgear/core/Policy"
 *
 * const permit = Breaker.tailPermit(Breaker.initial(Policy.hosted, 0), 5)
 * assert.deepStrictEqual(permit, { era: 0, at: 5 })
 * ```
 *
 * @since 0.1.0
 * @category machine
 */
export const tailPermit = (state: State, now: number): Permit | undefined =>
  state._tag === "Closed" || state._tag === "Degraded" ? { era: state.era, at: advance(state.at, now) } : undefined

/**
 * The call succeeded. `latency` in ms (a stream's time to first output); without it, the time since admission.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Breaker from "@switchgear/core/Breaker"
 *
 * assert.deepStrictEqual(Breaker.success(350), { _tag: "Success", latency: 350 })
 * ```
 *
 * @since 0.1.0
 * @category outcomes
 */
export const success = (latency?: number): Success =>
  latency === undefined ? { _tag: "Success" } : { _tag: "Success", latency }

/**
 * The call failed. `retryAfter` and `latency` in ms. Whether it counts is the policy's `outcomes` (SEMANTICS P4).
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Breaker from "@switchgear/core/Breaker"
 *
 * const limited = Breaker.failure("rate_limit", { status: 429, retryAfter: 20_000 })
 * assert.deepStrictEqual([limited.kind, limited.status, limited.retryAfter], ["rate_limit", 429, 20_000])
 * ```
 *
 * @since 0.1.0
 * @category outcomes
 */
export const failure = (
  kind: string,
  options?: {
    readonly status?: number | undefined
    readonly retryAfter?: number | undefined
    readonly latency?: number | undefined
  }
): Failure => ({
  _tag: "Failure",
  kind,
  status: options?.status,
  retryAfter: options?.retryAfter,
  latency: options?.latency
})

/**
 * The call was answered, but the answer says nothing about health.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Breaker from "@switchgear/core/Breaker"
 *
 * assert.strictEqual(Breaker.ignored._tag, "Ignored")
 * ```
 *
 * @since 0.1.0
 * @category outcomes
 */
export const ignored: Ignored = { _tag: "Ignored" }

/**
 * The call was cancelled before an answer. It frees a probe's slot and counts nowhere.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Breaker from "@switchgear/core/Breaker"
 *
 * assert.strictEqual(Breaker.released._tag, "Released")
 * ```
 *
 * @since 0.1.0
 * @category outcomes
 */
export const released: Released = { _tag: "Released" }

/**
 * Rejects everything: for so many ms (a positive whole number), or until another command.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Breaker from "@switchgear/core/Breaker"
 *
 * assert.deepStrictEqual(Breaker.forceOpen(60_000), { _tag: "ForceOpen", for: 60_000 })
 * ```
 *
 * @since 0.1.0
 * @category commands
 */
export const forceOpen = (length?: number): Command =>
  length === undefined ? { _tag: "ForceOpen" } : { _tag: "ForceOpen", for: length }

/**
 * Admits everything and counts nothing.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Breaker from "@switchgear/core/Breaker"
 * import * as Policy from "@switchgear/core/Policy"
 *
 * const [state] = Breaker.command(Policy.hosted, Breaker.initial(Policy.hosted, 0), Breaker.forceClosed, 0)
 * assert.strictEqual(Breaker.observe(Policy.hosted, state, 0).forced, true)
 * ```
 *
 * @since 0.1.0
 * @category commands
 */
export const forceClosed: Command = { _tag: "ForceClosed" }

/**
 * Ends a forced state.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Breaker from "@switchgear/core/Breaker"
 * import * as Policy from "@switchgear/core/Policy"
 *
 * const [forced] = Breaker.command(Policy.hosted, Breaker.initial(Policy.hosted, 0), Breaker.forceOpen(), 0)
 * const [state] = Breaker.command(Policy.hosted, forced, Breaker.auto, 10)
 * assert.strictEqual(Breaker.observe(Policy.hosted, state, 10).state, "HalfOpen")
 * ```
 *
 * @since 0.1.0
 * @category commands
 */
export const auto: Command = { _tag: "Auto" }

/**
 * Starts anew: a fresh Closed with no openings.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Breaker from "@switchgear/core/Breaker"
 * import * as Policy from "@switchgear/core/Policy"
 *
 * const [forced] = Breaker.command(Policy.hosted, Breaker.initial(Policy.hosted, 0), Breaker.forceOpen(), 0)
 * const [state] = Breaker.command(Policy.hosted, forced, Breaker.reset, 10)
 * assert.strictEqual(Breaker.observe(Policy.hosted, state, 10).state, "Closed")
 * ```
 *
 * @since 0.1.0
 * @category commands
 */
export const reset: Command = { _tag: "Reset" }
