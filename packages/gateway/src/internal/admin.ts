import type { Status, Transition } from "@switchgear/breaker/Transition"
import type { ProviderHealth } from "@switchgear/routing/Health"
import type { Row } from "@switchgear/routing/TelemetryStore"
import { type Exchange, header } from "./exchange.js"
import { reason } from "./words.js"

/** A proxy on this machine speaks for callers who are not. */
export const isLoopback = (exchange: Exchange): boolean => {
  const address = exchange.request.socket.remoteAddress ?? ""
  const local = address === "::1" || /^(?:::ffff:)?127\./.test(address)
  return local && header(exchange, "x-forwarded-for") === undefined && header(exchange, "forwarded") === undefined
}

const iso = (at: number): string => new Date(at).toISOString()

const transition = ({ at, era, from, reason: why, to }: Transition) => ({
  at: iso(at),
  from,
  to,
  era,
  why: reason(why),
  reason: why
})

/** One breaker as `GET /admin/breakers` shows it. Times are ISO, durations ms. */
export const breaker = ({ counters, enforced, name, transitions, view }: Status) => {
  const { cause, since, until, ...rest } = view
  return {
    name,
    enforced,
    ...rest,
    since: iso(since),
    ...(until === undefined ? {} : { until: iso(until) }),
    ...(cause === undefined ? {} : { why: reason(cause), cause }),
    counters,
    transitions: transitions.map(transition)
  }
}

export const breakers = (statuses: ReadonlyArray<Status>, now: number) => ({
  now: iso(now),
  breakers: statuses.map(breaker)
})

/** Scores over the window (ROUTING H1), as `GET /admin/health` shows them. Durations are ms. */
export const health = (
  window: number,
  providers: ReadonlyArray<string>,
  known: ReadonlyMap<string, ProviderHealth>
) => ({
  window,
  providers: [...new Set([...providers, ...known.keys()])].map((name) => {
    const one = known.get(name)
    // Neutral, never sunk; said in words, because a score of 0.5 is also one that was earned.
    if (one === undefined || one.calls === 0) return { name, samples: 0, score: 0.5, note: "no data" }
    const { calls, latency, score, successes, timed } = one
    return {
      name,
      samples: calls,
      successes,
      successRate: successes / calls,
      ...(timed === 0 ? {} : { meanLatency: latency / timed }),
      score
    }
  })
})

/** The latest calls, newest first, as `GET /admin/telemetry` shows them. */
export const telemetry = (rows: ReadonlyArray<Row>) => ({ rows: rows.map((row) => ({ ...row, at: iso(row.at) })) })
