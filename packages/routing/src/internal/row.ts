import type { Attempt } from "../Attempt.js"
import type { Call, Served } from "../Call.js"
import type { AttemptRow, Row } from "../TelemetryStore.js"

const attemptRow = (attempt: Attempt): AttemptRow => {
  const { model } = attempt
  switch (attempt._tag) {
    case "Served":
      return { model, provider: attempt.provider, kind: "served", latency: attempt.latency, state: attempt.state }
    case "Failed": {
      const { error, latency, provider, state } = attempt
      return { model, provider, kind: error.failure.kind, latency, state }
    }
    case "Refused":
      return { model, provider: attempt.provider, kind: attempt.kind, latency: null, state: null }
    case "Skipped":
      return { model, provider: "", kind: attempt.reason, latency: null, state: null }
  }
}

/** What a call came to, when it is over. */
export interface Over {
  readonly served: Served | undefined
  readonly outcome: string
  readonly status: number
  /** ms, monotonic */
  readonly endedAt: number
  /** ms, monotonic: when the answer was accepted */
  readonly acceptedAt: number | undefined
}

/** ROUTING T1. A record that was played again has not been made again: no attempts, no tokens. */
export const rowOf = (id: string, at: number, call: Call, over: Over): Row => {
  const { byo, journal, org, request, startedAt } = call
  const { acceptedAt, endedAt, outcome, served, status } = over
  const substituted = served?.substituted === true
  const again = served !== undefined && (served.replayed || served.cached)
  const tokens = again ? undefined : journal.tokens
  const attempts = again ? [] : journal.attempts.map(attemptRow)
  return {
    id,
    at,
    org,
    requestedModel: request.model,
    servedModel: served?.model ?? null,
    servedProvider: served?.provider ?? null,
    outcome,
    status,
    attempts,
    latency: Math.max(0, endedAt - startedAt),
    timeToFirstOutput: acceptedAt === undefined ? null : Math.max(0, acceptedAt - startedAt),
    tokensIn: tokens?.input ?? null,
    tokensOut: tokens?.output ?? null,
    cost: tokens?.cost ?? null,
    originalModel: substituted ? request.model : null,
    fallbackModel: substituted ? (served?.model ?? null) : null,
    fallbackReason: substituted ? (attempts[0]?.kind ?? "") : "",
    replayed: served?.replayed ?? false,
    cached: served?.cached ?? false,
    byo,
    notes: journal.notes
  }
}
