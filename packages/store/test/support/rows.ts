import type { Row } from "@switchgear/routing/TelemetryStore"

/** A call that its first target served. */
export const rowOf = (id: string, at = 1_700_000_000_000): Row => ({
  id,
  at,
  org: "acme",
  requestedModel: "gpt-4o",
  servedModel: "gpt-4o",
  servedProvider: "openai",
  outcome: "success",
  status: 200,
  attempts: [{ model: "gpt-4o", provider: "openai", kind: "served", latency: 812, state: "Closed" }],
  latency: 812,
  timeToFirstOutput: 310,
  tokensIn: 12,
  tokensOut: 40,
  cost: 0.00123,
  originalModel: null,
  fallbackModel: null,
  fallbackReason: "",
  replayed: false,
  cached: false,
  byo: false,
  notes: []
})
