/**
 * The fallback walk as a pure machine: given a plan and what happened so far, which target is next, or what to answer
 * (ROUTING F1). It calls nothing and waits for nothing, so the same walk runs in a router, in a simulator and under
 * properties. A walk is plain JSON-able data, and every function here is total.
 *
 * @since 0.1.0
 */
import { movesOn } from "./Fallback.js"
import { allRefused, errored, failedAnswer, primaryAnswer, soonest } from "./internal/walkAnswer.js"
import type {
  Answer,
  Attempt,
  Done,
  Event,
  Failure,
  Next,
  Plan,
  Refused,
  Settings,
  Step,
  Target
} from "./internal/walkModel.js"
import { byHealth, byState, chainOf } from "./internal/walkOrder.js"

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
 * @since 0.1.0
 * @category events
 */
export const served: Event = { _tag: "Served" }

/**
 * The target was called and failed. `outputSent`: the client had been sent output of it (ROUTING F7).
 *
 * @since 0.1.0
 * @category events
 */
export const failed = (failure: Failure, outputSent = false): Event => ({ _tag: "Failed", failure, outputSent })

/**
 * The target was not called: its circuit is open, or it has no room (ROUTING F10, F14). `retryAfter` in ms.
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
 * @since 0.1.0
 * @category events
 */
export const denied: Event = { _tag: "Denied" }

/**
 * There is no such target (ROUTING F5).
 *
 * @since 0.1.0
 * @category events
 */
export const unknown: Event = { _tag: "Unknown" }

/**
 * Whether the policy allows the target cannot be said (ROUTING F5).
 *
 * @since 0.1.0
 * @category events
 */
export const policyError: Event = { _tag: "PolicyError" }

/**
 * The target cannot carry this request (ROUTING W6).
 *
 * @since 0.1.0
 * @category events
 */
export const ineligible = (reason: string): Event => ({ _tag: "Ineligible", reason })

/**
 * The hop would exceed the fallback budget (ROUTING F13).
 *
 * @since 0.1.0
 * @category events
 */
export const overBudget: Event = { _tag: "OverBudget" }

/**
 * The caller went away (ROUTING F9).
 *
 * @since 0.1.0
 * @category events
 */
export const cancelled: Event = { _tag: "Cancelled" }

/**
 * A chain by its breakers' states, Closed before Degraded before HalfOpen before Open; stable, nothing dropped
 * (ROUTING H4).
 *
 * @since 0.1.0
 * @category sorting
 */
export const sortByState: (chain: ReadonlyArray<Target>) => ReadonlyArray<Target> = byState

/**
 * A chain by health score, best first; stable, nothing dropped; a target without a score has 0.5 (ROUTING H2).
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
 * @since 0.1.0
 * @category walking
 */
export const step = (walk: Step, event: Event): Step => {
  if (walk._tag === "Done" || (event._tag === "OverBudget" && !walk.hop)) return walk
  const { hop, lastResort, rest, settings, target } = walk
  const attempts = [...walk.attempts, { target, hop, lastResort, event }]
  const first = attempts.length === 1
  switch (event._tag) {
    case "Served":
      return done({ _tag: "Served", target, substituted: hop }, attempts)
    case "Cancelled":
      return done({ _tag: "Cancelled" }, attempts)
    case "Failed":
      if (event.outputSent) {
        return done({ _tag: "Broken", index: attempts.length - 1, failure: event.failure }, attempts)
      }
      return goesOn(settings, target, event.failure) ? advance(settings, rest, attempts) : fail(settings, attempts)
    case "Refused":
      return movesOn(settings, event) ? advance(settings, rest, attempts) : fail(settings, attempts)
    case "Denied":
      return first ? done({ _tag: "NotAllowed" }, attempts) : advance(settings, rest, attempts)
    case "Unknown":
      return first ? done({ _tag: "UnknownModel" }, attempts) : advance(settings, rest, attempts)
    case "Ineligible":
      return first ? done({ _tag: "Ineligible", reason: event.reason }, attempts) : advance(settings, rest, attempts)
    case "PolicyError":
      // fail closed: neither another target nor a last resort
      return done(first ? { _tag: "PolicyUnavailable" } : primaryAnswer(errored(attempts)), attempts)
    case "OverBudget":
      return fail(settings, attempts)
  }
}

const done = (answer: Answer, attempts: ReadonlyArray<Attempt>): Done => ({ _tag: "Done", answer, attempts })

const goesOn = (settings: Settings, target: Target, failure: Failure): boolean =>
  movesOn(settings, failure) && (failure.kind !== "context_length" || target.contextWindow !== undefined)

/** The window a next target must exceed: the largest that was too small so far (ROUTING F4). */
const floorOf = (attempts: ReadonlyArray<Attempt>): number => {
  let floor = Number.NEGATIVE_INFINITY
  for (const { event, target } of attempts) {
    if (event._tag === "Failed" && event.failure.kind === "context_length" && target.contextWindow !== undefined) {
      floor = Math.max(floor, target.contextWindow)
    }
  }
  return floor
}

/** ROUTING F3 and F12: hops really called, so far. */
const called = (attempts: ReadonlyArray<Attempt>): number => {
  let count = 0
  for (const { event, hop } of attempts) if (hop && event._tag === "Failed") count++
  return count
}

const tooSmall: Event = { _tag: "Ineligible", reason: "context_window" }

const advance = (settings: Settings, rest: ReadonlyArray<Target>, attempts: ReadonlyArray<Attempt>): Step => {
  if (called(attempts) >= settings.maxDepth) return fail(settings, attempts)
  const floor = floorOf(attempts)
  const passed = [...attempts]
  for (const [index, target] of rest.entries()) {
    if (floor === Number.NEGATIVE_INFINITY || (target.contextWindow !== undefined && target.contextWindow > floor)) {
      return {
        _tag: "Next",
        target,
        hop: true,
        lastResort: false,
        rest: rest.slice(index + 1),
        settings,
        attempts: passed
      }
    }
    passed.push({ target, hop: true, lastResort: false, event: tooSmall })
  }
  return fail(settings, passed)
}

/** No target is left: the last resort, if all refused and it was not tried (ROUTING F10), else what to answer (F6). */
const fail = (settings: Settings, attempts: ReadonlyArray<Attempt>): Step => {
  const errors = errored(attempts)
  if (
    settings.lastResort === "soonest" &&
    allRefused(errors) !== undefined &&
    !attempts.some((one) => one.lastResort)
  ) {
    const found = soonest(errors)
    if (found !== undefined) {
      return { _tag: "Next", target: found.target, hop: found.hop, lastResort: true, rest: [], settings, attempts }
    }
  }
  return done(failedAnswer(errors, settings.surface), attempts)
}
