/**
 * A second breaker, written from SEMANTICS alone and used only in tests. It keeps every report of the era and counts
 * them all again at each question, so that it can be checked against the rules by reading. It is slow on purpose.
 *
 * @since 0.1.0
 */
import type * as Breaker from "@switchgear/core/Breaker"
import { openingsInForce } from "./internal/naive/count.js"
import { type NaiveEvent, transition } from "./internal/naive/event.js"
import { isStale, reportCall, reportProbe } from "./internal/naive/report.js"
import { age } from "./internal/naive/restart.js"
import { freshEra, type NaiveState, type PlainPolicy, plus } from "./internal/naive/state.js"
import { isPastDeadline, leasesOut, type NaiveView, retryAfter, view } from "./internal/naive/view.js"

export type {
  /**
   * A transition and the number of its rule (SEMANTICS S3).
   *
   * @since 0.1.0
   * @category models
   */
  NaiveEvent,
  /**
   * Every report of the era, in the order of their coming. Times in ms.
   *
   * @since 0.1.0
   * @category models
   */
  NaiveState,
  /**
   * The view of SEMANTICS S4, but for `since` and `cause`.
   *
   * @since 0.1.0
   * @category models
   */
  NaiveView,
  /**
   * A decoded policy without its brand.
   *
   * @since 0.1.0
   * @category models
   */
  PlainPolicy
}

/**
 * A fresh Closed that has counted nothing (SEMANTICS S1). `now` in ms.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as NaiveBreaker from "@switchgear/testing/NaiveBreaker"
 *
 * const policy = Policy.consecutive({ failureThreshold: 1 })
 * assert.strictEqual(NaiveBreaker.initial(policy, 0).held, "Closed")
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const initial = (_policy: PlainPolicy, now: number): NaiveState => ({
  held: "Closed",
  at: now,
  era: 0,
  outcomes: [],
  leases: [],
  until: null,
  kept: null,
  openings: 0,
  recoveredAt: null
})

/**
 * Asks for the right to make one call (SEMANTICS A1 to A5). `now` in ms.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as NaiveBreaker from "@switchgear/testing/NaiveBreaker"
 *
 * const policy = Policy.consecutive({ failureThreshold: 1 })
 * const [admission] = NaiveBreaker.acquire(policy, NaiveBreaker.initial(policy, 0), 5)
 * assert.strictEqual(admission._tag === "Admitted" && admission.permit.at, 5)
 * ```
 *
 * @since 0.1.0
 * @category machine
 */
export const acquire = (
  policy: PlainPolicy,
  state: NaiveState,
  now: number
): readonly [Breaker.Admission, NaiveState, ReadonlyArray<NaiveEvent>] => {
  // T2
  const at = Math.max(now, state.at)
  // A1, M1
  if (state.held === "Closed" || state.held === "Degraded" || state.held === "ForcedClosed") {
    return [{ _tag: "Admitted", permit: { era: state.era, at } }, { ...state, at }, []]
  }
  // A3: the first caller past the deadline makes it HalfOpen and takes the first probe
  if (isPastDeadline(state, at)) {
    const lease = { id: 0, until: plus(at, policy.halfOpen.probeTimeout), used: false }
    const halfOpen = freshEra(state, "HalfOpen", at, { openings: state.openings, leases: [lease] })
    const permit = { era: halfOpen.era, at, probe: lease.id }
    return [{ _tag: "Admitted", permit }, halfOpen, [transition(state, halfOpen, at, "A3")]]
  }
  // A4, A5
  if (state.held === "HalfOpen" && leasesOut(state, at).length < policy.halfOpen.maxProbes) {
    const lease = { id: state.leases.length, until: plus(at, policy.halfOpen.probeTimeout), used: false }
    const permit = { era: state.era, at, probe: lease.id }
    return [{ _tag: "Admitted", permit }, { ...state, at, leases: [...state.leases, lease] }, []]
  }
  // A2, A4, M1; T2: the very same state
  const wait = retryAfter(policy, state, at)
  return [wait === null ? { _tag: "Rejected" } : { _tag: "Rejected", retryAfter: wait }, state, []]
}

/**
 * Reports what became of a call (SEMANTICS R1 to R7). `now` in ms; `rnd` in [0, 1) is the jitter's luck.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Breaker from "@switchgear/core/Breaker"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as NaiveBreaker from "@switchgear/testing/NaiveBreaker"
 *
 * const policy = Policy.consecutive({ failureThreshold: 1 })
 * const [admission, admitted] = NaiveBreaker.acquire(policy, NaiveBreaker.initial(policy, 0), 0)
 * assert.ok(admission._tag === "Admitted")
 * const [, opened] = NaiveBreaker.report(policy, admitted, admission.permit, Breaker.failure("timeout"), 10, 0)
 * assert.strictEqual(opened.held === "Open" && opened.until, 30_010)
 * ```
 *
 * @since 0.1.0
 * @category machine
 */
export const report = (
  policy: PlainPolicy,
  state: NaiveState,
  permit: Breaker.Permit,
  outcome: Breaker.Outcome,
  now: number,
  rnd: number
): readonly [Breaker.Reported, NaiveState, ReadonlyArray<NaiveEvent>] => {
  // T2
  const at = Math.max(now, state.at)
  // R2
  if (isStale(state, permit, at)) return ["Stale", state, []]
  const step = state.held === "HalfOpen" ? reportProbe : reportCall
  const [next, events] = step(policy, state, permit, outcome, at, rnd)
  return ["Applied", next, events]
}

/**
 * A person's word (SEMANTICS M1). `now` in ms.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Breaker from "@switchgear/core/Breaker"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as NaiveBreaker from "@switchgear/testing/NaiveBreaker"
 *
 * const policy = Policy.consecutive({ failureThreshold: 1 })
 * const [forced, events] = NaiveBreaker.command(policy, NaiveBreaker.initial(policy, 0), Breaker.forceOpen(100), 0)
 * assert.strictEqual(forced.until, 100)
 * assert.strictEqual(events[0]?.reason.rule, "M1")
 * ```
 *
 * @since 0.1.0
 * @category machine
 */
export const command = (
  policy: PlainPolicy,
  state: NaiveState,
  order: Breaker.Command,
  now: number
): readonly [NaiveState, ReadonlyArray<NaiveEvent>] => {
  // T2
  const at = Math.max(now, state.at)
  const openings = openingsInForce(policy, state, at)
  const enter = (next: NaiveState): readonly [NaiveState, ReadonlyArray<NaiveEvent>] => [
    next,
    [transition(state, next, at, "M1")]
  ]
  switch (order._tag) {
    case "ForceOpen": {
      // the deadline of the Open it replaced is kept while forced
      const kept = state.held === "Open" ? state.until : state.kept
      const until = order.for === undefined ? null : Math.max(plus(at, order.for), kept ?? at)
      return enter(freshEra(state, "ForcedOpen", at, { openings, until, kept }))
    }
    case "ForceClosed":
      return enter(freshEra(state, "ForcedClosed", at, { openings }))
    case "Reset":
      return enter(freshEra(state, "Closed", at, {}))
    case "Auto": {
      if (state.held === "ForcedClosed") return enter(freshEra(state, "Closed", at, {}))
      // past its `for` it is forced no longer and reads as an Open past its deadline: nothing to end
      if (state.held === "ForcedOpen" && !isPastDeadline(state, at)) {
        return enter(freshEra(state, "Open", at, { openings, until: Math.max(at, state.kept ?? at) }))
      }
      // T2
      return [state, []]
    }
  }
}

/**
 * What a person or a router asks (SEMANTICS S4); a read. `now` in ms.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as NaiveBreaker from "@switchgear/testing/NaiveBreaker"
 *
 * const policy = Policy.consecutive({ failureThreshold: 1 })
 * assert.strictEqual(NaiveBreaker.observe(policy, NaiveBreaker.initial(policy, 0), 0).retryAfter, 0)
 * ```
 *
 * @since 0.1.0
 * @category machine
 */
export const observe = (policy: PlainPolicy, state: NaiveState, now: number): NaiveView =>
  view(policy, state, Math.max(now, state.at))

/**
 * The permit under which the rest of a stream may still report a failure (SEMANTICS R7). `now` in ms.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as NaiveBreaker from "@switchgear/testing/NaiveBreaker"
 *
 * const policy = Policy.consecutive({ failureThreshold: 1 })
 * assert.strictEqual(NaiveBreaker.tailPermit(NaiveBreaker.initial(policy, 0), 3)?.at, 3)
 * ```
 *
 * @since 0.1.0
 * @category machine
 */
export const tailPermit = (state: NaiveState, now: number): Breaker.Permit | undefined =>
  state.held === "Closed" || state.held === "Degraded" ? { era: state.era, at: Math.max(now, state.at) } : undefined

/**
 * A snapshot at `now` and its restore under the same policy after `elapsed` ms of wall time, on a monotonic clock that
 * then reads `resumeAt` (SEMANTICS S9). A wall clock that went back counts as no time.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Breaker from "@switchgear/core/Breaker"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as NaiveBreaker from "@switchgear/testing/NaiveBreaker"
 *
 * const policy = Policy.consecutive({ failureThreshold: 1 })
 * const [forced] = NaiveBreaker.command(policy, NaiveBreaker.initial(policy, 0), Breaker.forceOpen(100), 0)
 * // 60 ms of wall time later, on a clock that starts again at 0
 * assert.strictEqual(NaiveBreaker.restart(policy, forced, 10, 60, 0).until, 30)
 * ```
 *
 * @since 0.1.0
 * @category machine
 */
export const restart = (
  policy: PlainPolicy,
  state: NaiveState,
  now: number,
  elapsed: number,
  resumeAt: number
): NaiveState => age(policy, state, Math.max(now, state.at), Math.max(0, elapsed), resumeAt)
