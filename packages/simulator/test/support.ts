import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { RunReport } from "../src/RunReport.js"
import * as Scenario from "../src/Scenario.js"
import * as Simulator from "../src/Simulator.js"

/** A primary with a backup, five calls a second for five minutes; the primary is down in the second of them. */
export const base = {
  name: "base",
  description: "The primary is down for a minute.",
  duration: "5 minutes",
  arrivals: { kind: "poisson", rate: 5 },
  providers: [
    {
      name: "openai",
      limits: { total: "10 seconds" },
      phases: [{ kind: "outage", from: "1 minute", to: "2 minutes" }]
    },
    { name: "anthropic" }
  ],
  models: [
    { name: "gpt-4o", provider: "openai", fallbackChain: ["claude-sonnet-4-5"] },
    { name: "claude-sonnet-4-5", provider: "anthropic" }
  ],
  fallback: { budget: 1 }
}

export const scenario = (over: Readonly<Record<string, unknown>> = {}): Scenario.Scenario =>
  Either.getOrThrowWith(Scenario.decode({ ...base, ...over }), (error) => error)

export const simulate = (of: Scenario.Scenario, options?: Simulator.Options): Promise<RunReport> =>
  Effect.runPromise(Simulator.run(of, options))

export const sum = (values: ReadonlyArray<number>): number => values.reduce((total, value) => total + value, 0)
