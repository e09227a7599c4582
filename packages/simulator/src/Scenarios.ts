/**
 * The named scenarios that come with the package, each taken from a kind of incident that has happened.
 *
 * @since 0.1.0
 */
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import type * as Effect from "effect/Effect"
import { load, type Scenario, type ScenarioError } from "./Scenario.js"

/**
 * The name of a scenario that comes with the package.
 *
 * @since 0.1.0
 * @category models
 */
export type Name = (typeof names)[number]

/**
 * Their names.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Scenarios from "@switchgear/simulator/Scenarios"
 *
 * assert.ok(Scenarios.names.includes("total-outage"))
 * ```
 *
 * @since 0.1.0
 * @category values
 */
export const names = [
  "total-outage",
  "brown-out",
  "slow-answers",
  "rate-limit-storm",
  "quota-at-noon",
  "flapping",
  "hang",
  "hang-beyond-patience",
  "thundering-herd",
  "bad-key",
  "region-loss"
] as const

/**
 * Whether there is a scenario of this name.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Scenarios from "@switchgear/simulator/Scenarios"
 *
 * assert.ok(!Scenarios.isName("sunshine"))
 * ```
 *
 * @since 0.1.0
 * @category predicates
 */
export const isName = (name: string): name is Name => names.some((known) => known === name)

/**
 * The file of a scenario, to be read, copied and changed.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Scenarios from "@switchgear/simulator/Scenarios"
 *
 * assert.ok(Scenarios.path("flapping").endsWith("flapping.yaml"))
 * ```
 *
 * @since 0.1.0
 * @category accessors
 */
// By the package's name, because a bundle lies elsewhere.
export const path = (name: Name): string =>
  join(
    dirname(createRequire(import.meta.url).resolve("@switchgear/simulator/package.json")),
    "scenarios",
    `${name}.yaml`
  )

/**
 * A scenario by its name.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Scenarios from "@switchgear/simulator/Scenarios"
 * import * as Effect from "effect/Effect"
 *
 * const scenario = await Effect.runPromise(Scenarios.get("total-outage"))
 * assert.strictEqual(scenario.duration, 1_500_000)
 * ```
 *
 * @since 0.1.0
 * @category accessors
 */
export const get = (name: Name): Effect.Effect<Scenario, ScenarioError> => load(path(name))
