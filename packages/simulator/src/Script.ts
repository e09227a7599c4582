/**
 * What a scenario does to each call, for those who play it on another stage: over sockets, or in a test of their own.
 *
 * @since 0.1.0
 */
import { type Arrival, arrivals } from "./internal/arrivals.js"
import { Script as Behaviours } from "./internal/behaviour.js"
import { drawOf } from "./internal/provider.js"
import { chance } from "./internal/random.js"
import type { Scenario } from "./Scenario.js"

export type {
  /**
   * A call that begins; `at` in ms since the run began.
   *
   * @since 0.1.0
   * @category models
   */
  Arrival
} from "./internal/arrivals.js"

/**
 * What a provider does with a call. `latency` is in ms until its answer is complete.
 *
 * @since 0.1.0
 * @category models
 */
export type Answer =
  | { readonly _tag: "Ok"; readonly latency: number }
  | {
      readonly _tag: "Error"
      readonly latency: number
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly body: string
    }
  | { readonly _tag: "Reset"; readonly latency: number }
  | { readonly _tag: "Hang" }

/**
 * A scenario's calls and what becomes of them, as in a run of that seed without retries of clients.
 *
 * @since 0.1.0
 * @category models
 */
export interface Script {
  /** In order. */
  readonly arrivals: Iterable<Arrival>
  /**
   * What a provider does with a call, the `call`-th of the arrivals, that reaches it `now` ms after the run began. `model`
   * is the name that the provider knows. `undefined`: the scenario has no such provider.
   */
  readonly answer: (provider: string, call: number, model: string, now: number) => Answer | undefined
}

/**
 * The script of a scenario under a seed.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Scenarios from "@switchgear/simulator/Scenarios"
 * import * as Script from "@switchgear/simulator/Script"
 * import * as Effect from "effect/Effect"
 *
 * const script = Script.make(await Effect.runPromise(Scenarios.get("hang")), 1)
 * assert.strictEqual(script.answer("openai", 0, "gpt-4o", 0)?._tag, "Ok")
 * assert.strictEqual(script.answer("openai", 0, "gpt-4o", 400_000)?._tag, "Hang")
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (scenario: Scenario, seed: number): Script => {
  const fate = chance(seed)
  const scripts = new Map(scenario.providers.map((one, index) => [one.name, new Behaviours(one, index, fate)]))
  return {
    arrivals: {
      [Symbol.iterator]: () => arrivals(scenario.arrivals, scenario.duration, fate)
    },
    answer: (provider, call, model, now) => {
      const found = scripts.get(provider)?.at(drawOf(call), model, now)
      if (found === undefined) return undefined
      const { fault, latency } = found
      if (latency === Number.POSITIVE_INFINITY) return { _tag: "Hang" }
      if (fault === undefined) return { _tag: "Ok", latency }
      return fault._tag === "Reset" ? { _tag: "Reset", latency } : { _tag: "Error", latency, ...fault.answer }
    }
  }
}
