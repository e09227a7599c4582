import * as Health from "@switchgear/core/Health"
import { type Row, sampleOf } from "@switchgear/routing/TelemetryStore"

export const table = "llm_traces"

/**
 * What 18.16 knows and later versions too. A row that was sent twice, as its first answer was lost, has one key: FINAL
 * and the merges leave one of it. `row` is all of it as JSON, exact where the server reads numbers less so; `sample_*`
 * is what it says of the provider that was asked first (ROUTING H1).
 */
export const create = `CREATE TABLE IF NOT EXISTS ${table} (
  id String, at Int64, time DateTime MATERIALIZED toDateTime(intDiv(at, 1000)),
  org String, requested_model String, served_model Nullable(String), served_provider Nullable(String),
  outcome String, status Int32, attempts UInt16, latency Float64, time_to_first_output Nullable(Float64),
  tokens_in Nullable(Float64), tokens_out Nullable(Float64), cost Nullable(Float64),
  original_model Nullable(String), fallback_model Nullable(String), fallback_reason String,
  replayed UInt8, cached UInt8, byo UInt8, notes Array(String),
  sample_provider String, sampled UInt8, sample_success UInt8, sample_timed UInt8, sample_latency Float64,
  row String
) ENGINE = ReplacingMergeTree() PARTITION BY toYYYYMM(toDateTime(intDiv(at, 1000))) ORDER BY (at, id)`

/** A surrogate that stands alone has no form in UTF-8; the server refuses the whole batch for it. */
const text = (value: string): string => value.replace(/\p{Surrogate}/gu, "\ufffd")

const textOrNull = (value: string | null): string | null => (value === null ? null : text(value))

const bit = (value: boolean): number => (value ? 1 : 0)

export const columnsOf = (row: Row) => {
  const sample = sampleOf(row)
  const { latency, successes, timed } = sample === undefined ? Health.empty : Health.record(Health.empty, sample.call)
  return {
    id: text(row.id),
    at: Math.trunc(row.at),
    org: text(row.org),
    requested_model: text(row.requestedModel),
    served_model: textOrNull(row.servedModel),
    served_provider: textOrNull(row.servedProvider),
    outcome: text(row.outcome),
    status: row.status,
    attempts: row.attempts.length,
    latency: row.latency,
    time_to_first_output: row.timeToFirstOutput,
    tokens_in: row.tokensIn,
    tokens_out: row.tokensOut,
    cost: row.cost,
    original_model: textOrNull(row.originalModel),
    fallback_model: textOrNull(row.fallbackModel),
    fallback_reason: text(row.fallbackReason),
    replayed: bit(row.replayed),
    cached: bit(row.cached),
    byo: bit(row.byo),
    notes: row.notes.map(text),
    sample_provider: text(sample?.provider ?? ""),
    sampled: bit(sample !== undefined),
    sample_success: successes,
    sample_timed: timed,
    sample_latency: latency,
    row: JSON.stringify(row)
  }
}
