import type { Status, Transition } from "@switchgear/breaker/Transition"
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
const breaker = ({ counters, enforced, name, transitions, view }: Status) => {
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
