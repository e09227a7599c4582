import * as Scenario from "@switchgear/simulator/Scenario"
import type * as Effect from "effect/Effect"

/** Incidents in a minute. Cooldowns have no jitter, because life and simulation do not draw the same numbers. */

const policy = {
  trip: { _tag: "Consecutive", failureThreshold: 5, onSuccess: "reset" },
  cooldown: { base: 4_000, multiplier: 2, maxMultiplier: 2 },
  halfOpen: { maxProbes: 1, successThreshold: 2, probeTimeout: 10_000 }
}

const common = {
  duration: 60_000,
  arrivals: { kind: "poisson", rate: 10 },
  models: [
    { name: "gpt-4o", provider: "openai", fallbackChain: ["claude-sonnet-4-5"] },
    { name: "claude-sonnet-4-5", provider: "anthropic" }
  ],
  breakers: { policy },
  fallback: { budget: 1 },
  clients: { timeout: 10_000 }
}

const latency = { p50: 120, p95: 300 }

const provider = (phases: ReadonlyArray<unknown>) => [
  { name: "openai", latency, limits: { total: 2_000 }, phases },
  { name: "anthropic", latency: { p50: 150, p95: 350 }, limits: { total: 2_000 } }
]

const errorLatency = { p50: 40, p95: 90 }

export const all: ReadonlyArray<Effect.Effect<Scenario.Scenario, Scenario.ScenarioError>> = [
  Scenario.decode({
    ...common,
    name: "outage",
    description: "Every call fails for half a minute.",
    providers: provider([{ kind: "outage", from: 10_000, to: 38_000, errors: { server_error: 1 }, errorLatency }])
  }),
  Scenario.decode({
    ...common,
    name: "hang",
    description: "No call is answered for half a minute; the limit makes timeouts of them.",
    providers: provider([{ kind: "hang", from: 10_000, to: 42_000 }])
  }),
  Scenario.decode({
    ...common,
    name: "resets and a quota",
    description: "Connections are reset, then the quota is spent.",
    providers: provider([
      { kind: "outage", from: 8_000, to: 20_000, errors: { network_error: 1 }, errorLatency },
      { kind: "quota", from: 32_000, to: 44_000, errorLatency }
    ])
  })
]
