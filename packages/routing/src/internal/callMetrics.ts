import * as Metric from "effect/Metric"
import * as MetricBoundaries from "effect/MetricBoundaries"
import type { Row } from "../TelemetryStore.js"

export const calls = Metric.counter("switchgear_calls", { description: "Calls by outcome", incremental: true })
export const fallbacks = Metric.counter("switchgear_fallbacks", {
  description: "Calls served by another model than the one asked for, by the reason",
  incremental: true
})
export const tokens = Metric.counter("switchgear_tokens", {
  description: "Tokens by direction: in or out",
  incremental: true
})
export const cost = Metric.counter("switchgear_cost_usd", { description: "Cost of calls in USD", incremental: true })
export const notes = Metric.counter("switchgear_notes", {
  description: "Calls with something out of order, by what it was",
  incremental: true
})
export const dropped = Metric.counter("switchgear_telemetry_dropped", {
  description: "Rows that were dropped because the buffer was full",
  incremental: true
})
export const duration = Metric.histogram(
  "switchgear_call_duration_ms",
  MetricBoundaries.exponential({ start: 10, factor: 2, count: 15 }),
  "Latency of calls in ms, of a stream until its last byte"
)

const count = (map: Map<string, number>, key: string, by = 1): void => {
  map.set(key, (map.get(key) ?? 0) + by)
}

const add = (metric: Metric.Metric.Counter<number>, label: string, counts: ReadonlyMap<string, number>): void => {
  for (const [value, by] of counts) Metric.tagged(metric, label, value).unsafeUpdate(by, [])
}

/** Adds a batch up and then writes, off the hot path (ROUTING T2). Outcomes are kinds and codes: a bounded set. */
export const record = (rows: ReadonlyArray<Row>): void => {
  const outcomes = new Map<string, number>()
  const reasons = new Map<string, number>()
  const noted = new Map<string, number>()
  const counted = new Map<string, number>()
  let spent = 0
  for (const row of rows) {
    count(outcomes, row.outcome)
    if (row.fallbackModel !== null) count(reasons, row.fallbackReason)
    for (const note of row.notes) count(noted, note)
    if (row.tokensIn !== null) count(counted, "in", row.tokensIn)
    if (row.tokensOut !== null) count(counted, "out", row.tokensOut)
    spent += row.cost ?? 0
    duration.unsafeUpdate(row.latency, [])
  }
  add(calls, "outcome", outcomes)
  add(fallbacks, "reason", reasons)
  add(notes, "note", noted)
  add(tokens, "direction", counted)
  if (spent > 0) cost.unsafeUpdate(spent, [])
}
