import * as Fallback from "@switchgear/core/Fallback"
import * as Walk from "@switchgear/core/Walk"

/** A plan and all that can happen to its targets. */
export interface WalkCase {
  readonly name: string
  readonly plan: Walk.Plan
  readonly events: ReadonlyArray<Walk.Event>
}

/** Everything that can happen to a target: one event of each sort that the rules tell apart. */
const events: () => ReadonlyArray<Walk.Event> = () => [
  Walk.served,
  Walk.failed({ kind: "server_error", status: 503 }),
  Walk.failed({ kind: "context_length", status: 400 }),
  Walk.failed({ kind: "client_fault", status: 422 }),
  Walk.failed({ kind: "timeout" }, true),
  Walk.refused("circuit_open", { retryAfter: 500, openedBy: "rate_limit" }),
  Walk.refused("circuit_open", { openedBy: "timeout" }),
  Walk.refused("saturated"),
  Walk.denied,
  Walk.unknown,
  Walk.policyError,
  Walk.ineligible("tools"),
  Walk.overBudget,
  Walk.cancelled
]

const chain: ReadonlyArray<Walk.Target> = [
  { name: "b", contextWindow: 8000, score: 0.2, state: "Open" },
  { name: " a ", contextWindow: 128_000, score: 0.9, state: "HalfOpen" },
  { name: "" },
  { name: "b" },
  { name: "primary" },
  { name: "c", contextWindow: 1000, state: "Degraded" },
  { name: "d", contextWindow: 256_000, score: 0.2 }
]

const on = ["server_error", "circuit_open", "saturated", "context_length"]

/** Each setting in both of its senses, and chains longer than any walk may go. */
export const walkCases = (): ReadonlyArray<WalkCase> => {
  const primary: Walk.Target = { name: "primary", contextWindow: 4000 }
  const one = (name: string, settings: Fallback.SettingsInput, byo = false): WalkCase => ({
    name,
    plan: { primary, chain, settings: Fallback.make(settings), ...(byo ? { byo } : {}) },
    events: events()
  })
  return [
    one("attempts, the primary's error", { on, maxDepth: 2 }),
    one("attempts, the last error, by state", { on, maxDepth: 4, surface: "last", preferHealthyState: true }),
    one("listed, all errors, by health", {
      on,
      maxDepth: 4,
      depthCounts: "listed",
      surface: "exhausted",
      reorderByHealth: true
    }),
    one("a last resort", { on, maxDepth: 1, lastResort: "soonest" }),
    one("never", { on, never: ["503"], maxDepth: 3 }),
    one("preset ibex", { preset: "ibex" }),
    one("preset nrLlm", { preset: "nrLlm" }),
    one("a caller's own key", { on, maxDepth: 3 }, true)
  ]
}
