/**
 * Every sequence over a small alphabet. A *history* is one sequence of actions from a given start, of any length up to
 * the depth, the empty one included; it is counted once, and its last step is checked once (its earlier steps are
 * histories of their own). Sequences are never merged, not even where they lead to equal states.
 *
 * @since 0.1.0
 */
import type * as Policy from "@switchgear/core/Policy"
import { type BreakerWorld, breakerWorld } from "./internal/exhaustive/breaker.js"
import { type Alphabet, cases, type ExhaustiveCase } from "./internal/exhaustive/policies.js"
import type * as Trace from "./Trace.js"

export type {
  /**
   * What happens besides acquiring, time and restarts.
   *
   * @since 0.1.0
   * @category models
   */
  Alphabet,
  /**
   * A policy and what is played under it.
   *
   * @since 0.1.0
   * @category models
   */
  ExhaustiveCase
}

/**
 * Something that can be explored: what can be done in a state, what comes of it, and what is wrong with it.
 *
 * @since 0.1.0
 * @category models
 */
export interface World<S, A> {
  readonly start: S
  readonly actions: (state: S) => ReadonlyArray<A>
  readonly step: (state: S, action: A) => S
  /** What is wrong with the step that led here, or `null`. Called once for each history. */
  readonly check: (state: S) => string | null
}

/**
 * How many histories were visited, how many of each length, and the first that broke something.
 *
 * @since 0.1.0
 * @category models
 */
export interface Explored<A> {
  readonly histories: number
  /** By length, from 0. */
  readonly byLength: ReadonlyArray<number>
  readonly violation: { readonly history: ReadonlyArray<A>; readonly message: string } | null
}

/**
 * Visits every history of up to `depth` actions, shorter ones first along each branch, and stops at the first that
 * breaks something. What is thrown counts as broken.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Exhaustive from "@switchgear/testing/Exhaustive"
 *
 * const counter: Exhaustive.World<number, 1 | 2> = {
 *   start: 0,
 *   actions: () => [1, 2],
 *   step: (sum, action) => sum + action,
 *   check: (sum) => (sum > 6 ? "too much" : null)
 * }
 * assert.deepStrictEqual(Exhaustive.explore(counter, 3), { histories: 15, byLength: [1, 2, 4, 8], violation: null })
 * ```
 *
 * @since 0.1.0
 * @category exploring
 */
export const explore = <S, A>(world: World<S, A>, depth: number): Explored<A> => {
  const byLength: Array<number> = Array.from({ length: depth + 1 }, () => 0)
  const history: Array<A> = []
  const broken = (state: S): string | null => {
    byLength[history.length] = (byLength[history.length] ?? 0) + 1
    return world.check(state)
  }
  const visit = (state: S): string | null => {
    if (history.length === depth) return null
    for (const action of world.actions(state)) {
      history.push(action)
      let message: string | null
      try {
        const next = world.step(state, action)
        message = broken(next) ?? visit(next)
      } catch (thrown) {
        message = `thrown: ${thrown}`
      }
      if (message !== null) return message
      history.pop()
    }
    return null
  }
  const message = broken(world.start) ?? visit(world.start)
  return {
    histories: byLength.reduce((sum, count) => sum + count, 0),
    byLength,
    violation: message === null ? null : { history, message }
  }
}

/**
 * The breaker as a world: two calls that acquire and report every outcome of the alphabet (late, twice or never), time
 * that goes to just before, to and just after the next boundary, the commands, and a restart during which wall time runs
 * to that boundary. Each step is checked against every invariant and against the naive machine.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Exhaustive from "@switchgear/testing/Exhaustive"
 *
 * const policy = Policy.consecutive({ failureThreshold: 1, cooldown: { base: 10 } })
 * const alphabet = { reports: [{ do: "success" }, { do: "failure" }], commands: false } as const
 * assert.strictEqual(Exhaustive.explore(Exhaustive.breaker(policy, alphabet), 3).violation, null)
 * ```
 *
 * @since 0.1.0
 * @category exploring
 */
export const breaker: (
  policy: Policy.Policy,
  alphabet: Alphabet,
  prefix?: ReadonlyArray<Trace.Step>
) => World<BreakerWorld, Trace.Step> = breakerWorld

/**
 * The policies of the exhaustive check: all trip modes, each with numbers so small that everything is within reach.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Exhaustive from "@switchgear/testing/Exhaustive"
 *
 * for (const { alphabet, policy, starts } of Exhaustive.breakerCases()) {
 *   for (const { prefix } of starts) {
 *     assert.strictEqual(Exhaustive.explore(Exhaustive.breaker(policy, alphabet, prefix), 2).violation, null)
 *   }
 * }
 * ```
 *
 * @since 0.1.0
 * @category exploring
 */
export const breakerCases: () => ReadonlyArray<ExhaustiveCase> = cases
