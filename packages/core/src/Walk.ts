/**
 * The fallback walk as a pure machine: given a plan and what happened so far, which target is next, or what to answer
 * (ROUTING F1). It calls nothing and waits for nothing, so the same walk runs in a router, in a simulator and under
 * properties. A walk is plain JSON-able data, and every function here is total.
 *
 * @since 0.1.0
 */
import type { Event, Failure, Next, Plan, Refused, Step, Target } from "./internal/walkModel.js"
import { byHealth, byState, chainOf } from "./internal/walkOrder.js"
import { takeStep } from "./internal/walkStep.js"

export type {
  /**
   * What a walk ends with.
   *
   * @since 0.1.0
   * @category models
   */
  Answer,
  /**
   * What happened to one target of a walk, for telemetry.
   *
   * @since 0.1.0
   * @category models
   */
  Attempt,
  /**
   * The walk is over.
   *
   * @since 0.1.0
   * @category models
   */
  Done,
  /**
   * What happened to the target that was due.
   *
   * @since 0.1.0
   * @category models
   */
  Event,
  /**
   * What a call that was really made failed with.
   *
   * @since 0.1.0
   * @category models
   */
  Failure,
  /**
   * A target is due.
   *
   * @since 0.1.0
   * @category models
   */
  Next,
  /**
   * Where one call may go, in the order of preference.
   *
   * @since 0.1.0
   * @category models
   */
  Plan,
  /**
   * A state of the walk: the next target, or done with what to answer.
   *
   * @since 0.1.0
   * @category models
   */
  Step,
  /**
   * One place a call may go.
   *
   * @since 0.1.0
   * @category models
   */
  Target
} from "./internal/walkModel.js"

/**
 * The target was called and its answer accepted; of a stream, its first output.
 *
 * @example
 * ```ts
 * import * as Fallback from "@switchgear/core/Fallback"
 * import * as Walk from "@switchgear/core/Walk"
 * import assert from "node:assert"
 *
 * const plan = { primary: { name: "gpt-4o" }, chain: [{ name: "llama" }], settings: Fallback.recommended }
 * const end = Walk.step(Walk.start(plan), Walk.served)
 * assert(end._tag === "Done" && end.answer._tag === "Served")
 * ```
 *
 * @since 0.1.0
 * @category events
 */
export const served: Event = { _tag: "Served" }

/**
 * The target was called and failed. `outputSent`: the client had been sent output of it (ROUTING F7).
 *
 * @example
 * ```ts
 * import * as Fallback from "@switchgear/core/Fallback"
 * import * as Walk from "@switchgear/core/Walk"
 * import assert from "node:assert"
 *
 * const plan = { primary: { name: "gpt-4o" }, chain: [{ name: "llama" }], settings: Fallback.recommended }
 * const broken = Walk.step(Walk.start(plan), Walk.failed({ kind: "network_error" }, true))
 * assert(broken._tag === "Done" && broken.answer._tag === "Broken")
 * ```
 *
 * @since 0.1.0
 * @category events
 */
export const failed = (failure: Failure, outputSent = false): Event => ({ _tag: "Failed", failure, outputSent })

/**
 * The target was not called: its circuit is open, or it has no room (ROUTING F10, F14). `retryAfter` in ms.
 *
 * @example
 * ```ts
 * import * as Fallback from "@switchgear/core/Fallback"
 * import * as Walk from "@switchgear/core/Walk"
 * import assert from "node:assert"
 *
 * const plan = { primary: { name: "gpt-4o" }, chain: [{ name: "llama" }], settings: Fallback.recommended }
 * const open = Walk.refused("circuit_open", { retryAfter: 5_000, openedBy: "timeout" })
 * const hop = Walk.step(Walk.start(plan), open)
 * assert(hop._tag === "Next" && hop.target.name === "llama")
 * ```
 *
 * @since 0.1.0
 * @category events
 */
export const refused = (
  kind: Refused["kind"],
  options?: { readonly retryAfter?: number | undefined; readonly openedBy?: string | undefined }
): Event => ({
  _tag: "Refused",
  kind,
  ...(options?.retryAfter === undefined ? undefined : { retryAfter: options.retryAfter }),
  ...(options?.openedBy === undefined ? undefined : { openedBy: options.openedBy })
})

/**
 * The policy does not allow the target (ROUTING F5).
 *
 * @example
 * ```ts
 * import * as Fallback from "@switchgear/core/Fallback"
 * import * as Walk from "@switchgear/core/Walk"
 * import assert from "node:assert"
 *
 * const plan = { primary: { name: "gpt-4o" }, chain: [{ name: "llama" }], settings: Fallback.recommended }
 * const end = Walk.step(Walk.start(plan), Walk.denied)
 * assert(end._tag === "Done" && end.answer._tag === "NotAllowed")
 * ```
 *
 * @since 0.1.0
 * @category events
 */
export const denied: Event = { _tag: "Denied" }

/**
 * There is no such target (ROUTING F5).
 *
 * @example
 * ```ts
 * import * as Fallback from "@switchgear/core/Fallback"
 * import * as Walk from "@switchgear/core/Walk"
 * import assert from "node:assert"
 *
 * const plan = { primary: { name: "gpt-4o" }, chain: [{ name: "llama" }], settings: Fallback.recommended }
 * const hop = Walk.step(Walk.start(plan), Walk.failed({ kind: "timeout" }))
 * const end = Walk.step(hop, Walk.unknown)
 * assert(end._tag === "Done" && end.answer._tag === "Failed" && end.answer.index === 0)
 * ```
 *
 * @since 0.1.0
 * @category events
 */
export const unknown: Event = { _tag: "Unknown" }

/**
 * Whether the policy allows the target cannot be said (ROUTING F5).
 *
 * @example
 * ```ts
 * import * as Fallback from "@switchgear/core/Fallback"
 * import * as Walk from "@switchgear/core/Walk"
 * import assert from "node:assert"
 *
 * const plan = { primary: { name: "gpt-4o" }, chain: [{ name: "llama" }], settings: Fallback.recommended }
 * const end = Walk.step(Walk.start(plan), Walk.policyError)
 * assert(end._tag === "Done" && end.answer._tag === "PolicyUnavailable")
 * ```
 *
 * @since 0.1.0
 * @category events
 */
export const policyError: Event = { _tag: "PolicyError" }

/**
 * The target cannot carry this request (ROUTING W6).
 *
 * @example
 * ```ts
 * import * as Fallback from "@switchgear/core/Fallback"
 * import * as Walk from "@switchgear/core/Walk"
 * import assert from "node:assert"
 *
 * const plan = { primary: { name: "gpt-4o" }, chain: [{ name: "llama" }], settings: Fallback.recommended }
 * const hop = Walk.step(Walk.start(plan), Walk.failed({ kind: "timeout" }))
 * const end = Walk.step(hop, Walk.ineligible("audio"))
 * assert(end._tag === "Done")
 * assert.deepStrictEqual(end.attempts[1]?.event, { _tag: "Ineligible", reason: "audio" })
 * ```
 *
 * @since 0.1.0
 * @category events
 */
export const ineligible = (reason: string): Event => ({ _tag: "Ineligible", reason })

/**
 * The hop would exceed the fallback budget (ROUTING F13).
 *
 * @example
 * ```ts
 * import * as Fallback from "@switchgear/core/Fallback"
 * import * as Walk from "@switchgear/core/Walk"
 * import assert from "node:assert"
 *
 * const plan = { primary: { name: "gpt-4o" }, chain: [{ name: "llama" }], settings: Fallback.recommended }
 * const hop = Walk.step(Walk.start(plan), Walk.failed({ kind: "timeout" }))
 * const end = Walk.step(hop, Walk.overBudget)
 * assert(end._tag === "Done" && end.answer._tag === "Failed")
 * ```
 *
 * @since 0.1.0
 * @category events
 */
export const overBudget: Event = { _tag: "OverBudget" }

/**
 * The caller went away (ROUTING F9).
 *
 * @example
 * ```ts
 * import * as Fallback from "@switchgear/core/Fallback"
 * import * as Walk from "@switchgear/core/Walk"
 * import assert from "node:assert"
 *
 * const plan = { primary: { name: "gpt-4o" }, chain: [{ name: "llama" }], settings: Fallback.recommended }
 * const end = Walk.step(Walk.start(plan), Walk.cancelled)
 * assert(end._tag === "Done" && end.answer._tag === "Cancelled")
 * ```
 *
 * @since 0.1.0
 * @category events
 */
export const cancelled: Event = { _tag: "Cancelled" }

/**
 * A chain by its breakers' states, Closed before Degraded before HalfOpen before Open; stable, nothing dropped
 * (ROUTING H4).
 *
 * @example
 * ```ts
 * import * as Walk from "@switchgear/core/Walk"
 * import assert from "node:assert"
 *
 * const chain = [{ name: "a", state: "Open" }, { name: "b" }] as const
 * assert.deepStrictEqual(Walk.sortByState(chain).map((target) => target.name), ["b", "a"])
 * ```
 *
 * @since 0.1.0
 * @category sorting
 */
export const sortByState: (chain: ReadonlyArray<Target>) => ReadonlyArray<Target> = byState

/**
 * A chain by health score, best first; stable, nothing dropped; a target without a score has 0.5 (ROUTING H2).
 *
 * @example
 * ```ts
 * import * as Walk from "@switchgear/core/Walk"
 * import assert from "node:assert"
 *
 * const chain = [{ name: "a", score: 0.2 }, { name: "b" }, { name: "c", score: 0.9 }]
 * assert.deepStrictEqual(Walk.sortByHealth(chain).map((target) => target.name), ["c", "b", "a"])
 * ```
 *
 * @since 0.1.0
 * @category sorting
 */
export const sortByHealth: (chain: ReadonlyArray<Target>) => ReadonlyArray<Target> = byHealth

/**
 * Begins a walk. The primary is always due first; the chain is cleaned (ROUTING F2), sorted (H4, then H2) and, where
 * `depthCounts` is `"listed"`, cut (F3). With a caller's own key there is no chain (F8).
 *
 * @example
 * ```ts
 * import * as Fallback from "@switchgear/core/Fallback"
 * import * as Walk from "@switchgear/core/Walk"
 * import assert from "node:assert"
 *
 * const plan = { primary: { name: "gpt-4o" }, chain: [{ name: "llama" }], settings: Fallback.recommended }
 * const first = Walk.start(plan)
 * assert(first.target.name === "gpt-4o")
 * const second = Walk.step(first, Walk.failed({ kind: "server_error", status: 502 }))
 * assert(second._tag === "Next" && second.target.name === "llama")
 * const end = Walk.step(second, Walk.served)
 * assert(end._tag === "Done" && end.answer._tag === "Served" && end.answer.substituted)
 * ```
 *
 * @since 0.1.0
 * @category walking
 */
export const start = (plan: Plan): Next => {
  const name = plan.primary.name.trim()
  return {
    _tag: "Next",
    target: name === plan.primary.name ? plan.primary : { ...plan.primary, name },
    hop: false,
    lastResort: false,
    rest: chainOf(plan, name),
    settings: plan.settings,
    attempts: []
  }
}

/**
 * Tells the walk what happened to the target that was due.
 *
 * Total: a walk that is over stays as it is whatever arrives, and so does one told `OverBudget` of its primary, which
 * is no hop.
 *
 * @example
 * ```ts
 * import * as Fallback from "@switchgear/core/Fallback"
 * import * as Walk from "@switchgear/core/Walk"
 * import assert from "node:assert"
 *
 * const plan = { primary: { name: "gpt-4o" }, chain: [{ name: "llama" }], settings: Fallback.recommended }
 * let walk: Walk.Step = Walk.start(plan)
 * for (const kind of ["timeout", "overloaded"]) walk = Walk.step(walk, Walk.failed({ kind }))
 * assert(walk._tag === "Done" && walk.answer._tag === "Failed")
 * assert.strictEqual(walk.answer.index, 0) // surface: "primary"
 * ```
 *
 * @since 0.1.0
 * @category walking
 */
export const step: (walk: Step, event: Event) => Step = takeStep
