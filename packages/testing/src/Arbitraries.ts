/**
 * Arbitraries for fast-check: policies, policies with faults, and sequences of calls, reports, clock steps, commands and
 * restarts. Everything they make is plain data in the form a person would write, and shrinks to it.
 *
 * @since 0.1.0
 */
import type * as Trace from "@switchgear/core/Trace"
import type * as Walk from "@switchgear/core/Walk"
import * as fc from "fast-check"
import { spoil } from "./internal/arbitrary/invalid.js"
import { type PolicyInput, policyOf } from "./internal/arbitrary/policy.js"
import { moves, toSteps } from "./internal/arbitrary/steps.js"
import type { PlanInput } from "./internal/arbitrary/walk.js"
import * as walks from "./internal/arbitrary/walk.js"

export type {
  /**
   * A fallback plan as a person writes it, its settings still to be decoded.
   *
   * @since 0.1.0
   * @category models
   */
  PlanInput,
  /**
   * A policy as a person writes it, durations in ms.
   *
   * @since 0.1.0
   * @category models
   */
  PolicyInput
}

/**
 * A policy with what happened under it: a trace without expectations.
 *
 * @since 0.1.0
 * @category models
 */
export interface Scenario {
  readonly policy: PolicyInput
  readonly steps: ReadonlyArray<Trace.Step>
}

/**
 * A policy with faults, and the paths that its refusal must name (SEMANTICS V).
 *
 * @since 0.1.0
 * @category models
 */
export interface Spoilt {
  readonly input: unknown
  readonly paths: ReadonlyArray<string>
}

const small = [10, 1, 15, 30, 100]

const huge = [2_147_483_653, 31_536_000_000_000, Number.MAX_SAFE_INTEGER]

/**
 * Valid policies: all trip modes and options, numbers so small that boundaries are hit, and now and then durations over
 * 32 bits (SEMANTICS T4).
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Arbitraries from "@switchgear/testing/Arbitraries"
 * import * as fc from "fast-check"
 *
 * fc.assert(fc.property(Arbitraries.policy, (input) => assert.strictEqual(Policy.decode(input)._tag, "Success")))
 * ```
 *
 * @since 0.1.0
 * @category arbitraries
 */
export const policy: fc.Arbitrary<PolicyInput> = fc.oneof(
  { weight: 12, arbitrary: policyOf(small) },
  { weight: 1, arbitrary: policyOf([...small, ...huge]) }
)

/**
 * Policies with one to three faults in different places, each of which must be named (SEMANTICS V).
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Arbitraries from "@switchgear/testing/Arbitraries"
 * import * as fc from "fast-check"
 *
 * fc.assert(
 *   fc.property(Arbitraries.invalidPolicy, ({ input, paths }) => {
 *     const decoded = Policy.decode(input)
 *     const named = decoded._tag === "Failure" ? decoded.faults.map((fault) => fault.path) : []
 *     assert.ok(paths.every((path) => named.includes(path)))
 *   })
 * )
 * ```
 *
 * @since 0.1.0
 * @category arbitraries
 */
export const invalidPolicy: fc.Arbitrary<Spoilt> = spoil(policyOf(small)).filter(({ paths }) => paths.length > 0)

/**
 * A policy and up to `maxLength` moves under it, each of one or two steps: calls that answer at once, late, twice, never
 * or out of order; tails of streams; clocks that step before, at and after each boundary, and back; commands; restarts
 * with wall time passing either way. Every call has its own name, so that a counterexample is a trace as it stands.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Arbitraries from "@switchgear/testing/Arbitraries"
 * import * as Trace from "@switchgear/core/Trace"
 * import * as fc from "fast-check"
 *
 * fc.assert(
 *   fc.property(Arbitraries.scenario({ maxLength: 10 }), (scenario) => {
 *     assert.strictEqual(Trace.decode({ id: "random", ...scenario })._tag, "Success")
 *   })
 * )
 * ```
 *
 * @since 0.1.0
 * @category arbitraries
 */
export const scenario = (options?: {
  /** 30 unless given. */
  readonly maxLength?: number
  /** All policies unless given. */
  readonly policy?: fc.Arbitrary<PolicyInput>
}): fc.Arbitrary<Scenario> =>
  fc
    .tuple(options?.policy ?? policy, moves(options?.maxLength ?? 30))
    .map(([input, given]) => ({ policy: input, steps: toSteps(input, given) }))

/**
 * Fallback plans: chains of up to 8 entries with blanks, repeats and the primary itself among them, windows, scores and
 * states, every setting; now and then a caller's own key (ROUTING F1 to F10).
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Fallback from "@switchgear/core/Fallback"
 * import * as Arbitraries from "@switchgear/testing/Arbitraries"
 * import * as fc from "fast-check"
 *
 * fc.assert(
 *   fc.property(Arbitraries.plan, ({ settings }) => assert.strictEqual(Fallback.decode(settings)._tag, "Success"))
 * )
 * ```
 *
 * @since 0.1.0
 * @category arbitraries
 */
export const plan: fc.Arbitrary<PlanInput> = walks.plan

/**
 * A fallback plan and what happens to the targets it offers, one event for each; what comes after the end of a walk must
 * leave it as it is.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Fallback from "@switchgear/core/Fallback"
 * import * as Walk from "@switchgear/core/Walk"
 * import * as Arbitraries from "@switchgear/testing/Arbitraries"
 * import * as fc from "fast-check"
 *
 * fc.assert(
 *   fc.property(Arbitraries.walk, ({ events, plan }) => {
 *     const start: Walk.Step = Walk.start({ ...plan, settings: Fallback.make(plan.settings) })
 *     const end = events.reduce(Walk.step, start)
 *     const reached = end.attempts.filter(({ event }) => event._tag !== "Ineligible")
 *     assert.ok(reached.length <= events.length)
 *   })
 * )
 * ```
 *
 * @since 0.1.0
 * @category arbitraries
 */
export const walk: fc.Arbitrary<{ readonly plan: PlanInput; readonly events: ReadonlyArray<Walk.Event> }> = fc.record({
  plan,
  events: fc.array(walks.event, { maxLength: 12 })
})
