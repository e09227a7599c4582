/**
 * Runs a scenario under a policy: the product's own router and breakers, on a virtual clock, over scripted providers.
 *
 * @since 0.1.0
 */
import type { Policy } from "@switchgear/core/Policy"
import type { PipelineConfigError } from "@switchgear/routing/Pipeline"
import * as Effect from "effect/Effect"
import * as Figure from "./Figure.js"
import { estimate } from "./internal/estimate.js"
import { policyOf } from "./internal/fields.js"
import * as Run from "./internal/run.js"
import type { RunReport, Timeline, Transition } from "./RunReport.js"
import type { Scenario } from "./Scenario.js"

/**
 * A policy and what it is called in reports. Without a policy there are no breakers at all.
 *
 * @since 0.1.0
 * @category models
 */
export interface NamedPolicy {
  readonly name: string
  readonly policy: Policy | undefined
}

/**
 * No breakers at all, to compare with.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Simulator from "@switchgear/simulator/Simulator"
 *
 * assert.strictEqual(Simulator.none.policy, undefined)
 * ```
 *
 * @since 0.1.0
 * @category values
 */
export const none: NamedPolicy = { name: "none", policy: undefined }

/**
 * The scenario's own policy, by its preset's name if it has one.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Scenario from "@switchgear/simulator/Scenario"
 * import * as Simulator from "@switchgear/simulator/Simulator"
 * import * as Either from "effect/Either"
 *
 * const scenario = Either.getOrThrow(Scenario.decode({
 *   name: "calm",
 *   description: "Nothing happens.",
 *   duration: "1 minute",
 *   arrivals: { kind: "constant", rate: 1 },
 *   providers: [{ name: "openai" }],
 *   models: [{ name: "gpt-4o", provider: "openai" }]
 * }))
 * assert.strictEqual(Simulator.ownPolicy(scenario).name, "hosted")
 * ```
 *
 * @since 0.1.0
 * @category accessors
 */
export const ownPolicy = ({ breakers: { policy } }: Scenario): NamedPolicy => ({
  name: typeof policy === "string" ? policy : "scenario",
  policy: policyOf(policy)
})

/**
 * How a scenario is run.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** Default: the scenario's own. */
  readonly policy?: NamedPolicy | undefined
  /** Default 1. */
  readonly seed?: number | undefined
  /** Run `i` has the seed `seed + i`. Default 1. */
  readonly runs?: number | undefined
  /** Told how far all runs have come, from 0 to 1. */
  readonly onProgress?: ((progress: number) => void) | undefined
}

/** Lets the host have its turn. */
const breathe = Effect.async<void>((resume) => {
  setImmediate(() => resume(Effect.void))
})

interface Outcome {
  readonly calls: number
  readonly figures: Readonly<Record<Figure.FigureName, number | undefined>>
  readonly timeline: Timeline
  readonly transitions: ReadonlyArray<Transition>
}

const once = (
  scenario: Scenario,
  policy: Policy | undefined,
  seed: number,
  onProgress: (progress: number) => void
): Effect.Effect<Outcome, PipelineConfigError> =>
  Effect.gen(function* () {
    const run = yield* Run.make(scenario, policy, seed)
    while (run.step()) {
      onProgress(run.progress)
      yield* breathe
    }
    const breakers = new Set<string>()
    for (const registry of run.fleet.registries) {
      for (const { name } of yield* registry.statuses) breakers.add(name)
    }
    return {
      calls: run.calls,
      figures: run.tally.figures(policy !== undefined),
      timeline: run.tally.timeline(run.fleet.registries.length, [...breakers]),
      transitions: run.tally.transitions
    }
  }).pipe(Effect.scoped)

/**
 * Runs a scenario. The report is a function of scenario, policy, seed and number of runs: the same in every process, to
 * the byte.
 *
 * Two policies under the same seed meet the same calls, and each call the same fate with each provider, so that what
 * differs between their reports is theirs.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Scenario from "@switchgear/simulator/Scenario"
 * import * as Simulator from "@switchgear/simulator/Simulator"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function*() {
 *   const scenario = yield* Scenario.decode({
 *     name: "dead primary",
 *     description: "The first provider fails for two minutes.",
 *     duration: "5 minutes",
 *     arrivals: { kind: "constant", rate: 5 },
 *     providers: [{ name: "openai", phases: [{ kind: "outage", from: "1 minute", to: "3 minutes" }] }, { name: "anthropic" }],
 *     models: [
 *       { name: "gpt-4o", provider: "openai", fallbackChain: ["claude"] },
 *       { name: "claude", provider: "anthropic" }
 *     ]
 *   })
 *   return yield* Simulator.run(scenario)
 * })
 * const report = await Effect.runPromise(program)
 * assert.strictEqual(report.transitions[0]?.to, "Open")
 * ```
 *
 * @since 0.1.0
 * @category running
 */
export const run = (scenario: Scenario, options: Options = {}): Effect.Effect<RunReport, PipelineConfigError> =>
  Effect.gen(function* () {
    const { onProgress = () => {}, policy = ownPolicy(scenario), seed = 1 } = options
    const runs = Math.max(1, options.runs ?? 1)
    const part = (index: number) =>
      once(scenario, policy.policy, seed + index, (progress) => onProgress((index + progress) / runs))
    const first = yield* part(0)
    const outcomes: Array<Pick<Outcome, "calls" | "figures">> = [first]
    for (let index = 1; index < runs; index++) {
      const { calls, figures } = yield* part(index)
      outcomes.push({ calls, figures })
    }
    onProgress(1)
    return {
      scenario: scenario.name,
      description: scenario.description,
      policy: policy.name,
      seed,
      runs,
      durationMs: scenario.duration,
      calls: outcomes.reduce((sum, { calls }) => sum + calls, 0),
      figures: Figure.record((name) => estimate(outcomes.map(({ figures }) => figures[name]))),
      timeline: first.timeline,
      transitions: first.transitions
    }
  })
