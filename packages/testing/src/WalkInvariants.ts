/**
 * What must hold at every step of every fallback walk, each claim by the rules of ROUTING it comes from.
 *
 * @since 0.1.0
 */
import * as Walk from "@switchgear/core/Walk"
import type { World } from "./Exhaustive.js"
import { type WalkCase, walkCases } from "./internal/exhaustive/walks.js"
import type { WalkInvariant, WalkMoment } from "./internal/invariants/walk.js"
import * as claims from "./internal/invariants/walk.js"

export type {
  /**
   * A plan and all that can happen to its targets.
   *
   * @since 0.1.0
   * @category models
   */
  WalkCase,
  /**
   * A claim about every step of every walk.
   *
   * @since 0.1.0
   * @category models
   */
  WalkInvariant,
  /**
   * One step of a walk.
   *
   * @since 0.1.0
   * @category models
   */
  WalkMoment
}

/**
 * Every invariant of a walk, by name.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as WalkInvariants from "@switchgear/testing/WalkInvariants"
 *
 * assert.strictEqual(WalkInvariants.invariants.failsClosed?.rule, "F5")
 * ```
 *
 * @since 0.1.0
 * @category invariants
 */
export const invariants: Readonly<Record<string, WalkInvariant>> = claims

const every: ReadonlyArray<WalkInvariant> = Object.values(invariants)

/**
 * The first invariant that a step breaks, in words, or `null`.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Fallback from "@switchgear/core/Fallback"
 * import * as Walk from "@switchgear/core/Walk"
 * import * as WalkInvariants from "@switchgear/testing/WalkInvariants"
 *
 * const plan = { primary: { name: "a" }, chain: [{ name: "b" }], settings: Fallback.recommended }
 * const [moment] = WalkInvariants.record(plan, [Walk.served])
 * assert.strictEqual(moment === undefined ? "none" : WalkInvariants.firstViolation(moment), null)
 * ```
 *
 * @since 0.1.0
 * @category checking
 */
export const firstViolation = (moment: WalkMoment): string | null => {
  for (const { check, name, rule } of every) {
    const message = check(moment)
    if (message !== null) return `${rule}, ${name}: ${message}`
  }
  return null
}

/**
 * Walks a plan through events, a moment for each.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Fallback from "@switchgear/core/Fallback"
 * import * as Walk from "@switchgear/core/Walk"
 * import * as WalkInvariants from "@switchgear/testing/WalkInvariants"
 *
 * const plan = { primary: { name: "a" }, chain: [{ name: "b" }], settings: Fallback.recommended }
 * const moments = WalkInvariants.record(plan, [Walk.failed({ kind: "timeout" }), Walk.served])
 * assert.deepStrictEqual(moments.map((moment) => moment.after._tag), ["Next", "Done"])
 * ```
 *
 * @since 0.1.0
 * @category running
 */
export const record = (plan: Walk.Plan, events: ReadonlyArray<Walk.Event>): ReadonlyArray<WalkMoment> => {
  let walk: Walk.Step = Walk.start(plan)
  return events.map((event) => {
    const before = walk
    walk = Walk.step(before, event)
    return { plan, before, event, after: walk }
  })
}

/**
 * A walk in the middle, and the step that led there.
 *
 * @since 0.1.0
 * @category models
 */
export interface WalkWorld {
  readonly walk: Walk.Step
  readonly last: WalkMoment | null
}

/**
 * A plan as a world for `Exhaustive.explore`: at each target that is due everything of `events` happens once; a walk
 * that is over is told one of the first two events more, and then left.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Fallback from "@switchgear/core/Fallback"
 * import * as Walk from "@switchgear/core/Walk"
 * import * as Exhaustive from "@switchgear/testing/Exhaustive"
 * import * as WalkInvariants from "@switchgear/testing/WalkInvariants"
 *
 * const plan = { primary: { name: "a" }, chain: [{ name: "b" }], settings: Fallback.recommended }
 * const world = WalkInvariants.world(plan, [Walk.served, Walk.failed({ kind: "timeout" }), Walk.denied])
 * assert.strictEqual(Exhaustive.explore(world, 4).violation, null)
 * ```
 *
 * @since 0.1.0
 * @category exploring
 */
export const world = (plan: Walk.Plan, events: ReadonlyArray<Walk.Event>): World<WalkWorld, Walk.Event> => ({
  start: { walk: Walk.start(plan), last: null },
  actions: ({ last, walk }) => (walk._tag === "Next" ? events : last?.before._tag === "Next" ? events.slice(0, 2) : []),
  step: ({ walk: before }, event) => {
    const after = Walk.step(before, event)
    return { walk: after, last: { plan, before, event, after } }
  },
  check: ({ last }) => (last === null ? null : firstViolation(last))
})

/**
 * The plans of the exhaustive check, and everything that can happen to their targets.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as WalkInvariants from "@switchgear/testing/WalkInvariants"
 *
 * assert.ok(WalkInvariants.exhaustiveCases().every(({ events }) => events.length > 0))
 * ```
 *
 * @since 0.1.0
 * @category exploring
 */
export const exhaustiveCases: () => ReadonlyArray<WalkCase> = walkCases
