import * as Breaker from "@switchgear/core/Breaker"
import type { Policy } from "@switchgear/core/Policy"
import { Agenda } from "./agenda.js"
import type { Recorded } from "./record.js"

/** How what is not known is taken. */
export type Guess = "best" | "worst"

export interface Change {
  /** In the log's own time. */
  readonly at: number
  readonly from: Breaker.State["_tag"]
  readonly to: Breaker.State["_tag"]
  readonly reason: Breaker.Reason
}

/** What a policy would have done to the calls of one target. */
export interface Replayed {
  readonly admitted: number
  readonly refused: number
  /** Refused, and in life they succeeded. */
  readonly refusedGood: number
  /** Refused, and in life they failed. */
  readonly refusedBad: number
  /** Admitted, and in life they failed. */
  readonly admittedBad: number
  /** Admitted, and in life they were refused: what would have come of them is a guess. */
  readonly guessed: number
  readonly probes: number
  readonly openings: number
  /** ms in which it was Open or HalfOpen. */
  readonly openFor: number
  readonly changes: ReadonlyArray<Change>
}

/** A random number for the jitter: none, or almost all of it. */
const luck: Readonly<Record<Guess, number>> = { best: 0, worst: 1 - 2 ** -53 }

const median = (values: ReadonlyArray<number>): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[sorted.length >> 1] ?? 0
}

const latenciesOf = (calls: ReadonlyArray<Recorded>, wanted: Recorded["outcome"]): ReadonlyArray<number> =>
  calls.flatMap(({ latency, outcome }) => (outcome === wanted && latency !== null ? [latency] : []))

const outcomeOf = (call: Recorded): Breaker.Outcome => {
  const latency = call.latency ?? 0
  switch (call.outcome) {
    case "success":
      return Breaker.success(latency)
    case "failure": {
      const { kind = "unknown", retryAfter, status } = call
      return Breaker.failure(kind, { latency, retryAfter, status })
    }
    case "cancelled":
    case "refused":
      return Breaker.released
  }
}

/** Puts the recorded calls of one target, in order, through the machine. */
export const replay = (policy: Policy, calls: ReadonlyArray<Recorded>, guess: Guess): Replayed => {
  const origin = Math.floor(calls[0]?.at ?? 0)
  const usual = { success: median(latenciesOf(calls, "success")), failure: median(latenciesOf(calls, "failure")) }
  const agenda = new Agenda()
  const changes: Array<Change> = []
  const count = {
    admitted: 0,
    refused: 0,
    refusedGood: 0,
    refusedBad: 0,
    admittedBad: 0,
    guessed: 0,
    probes: 0,
    openings: 0
  }
  let state = Breaker.initial(policy, 0)
  let lastKind = "server_error"
  let end = 0
  const took = (next: Breaker.State, events: ReadonlyArray<Breaker.Event>): void => {
    state = next
    for (const { at, from, reason, to } of events) {
      if (to === "Open") count.openings++
      changes.push({ at: at + origin, from, to, reason })
    }
  }
  const reportUntil = (time: number): void => {
    while (agenda.next <= time) agenda.take()?.()
  }
  /** What a call that life refused would have come to. */
  const guessed = (call: Recorded): Recorded =>
    guess === "best"
      ? { ...call, outcome: "success", latency: usual.success }
      : { ...call, outcome: "failure", kind: lastKind, latency: usual.failure }

  for (const call of calls) {
    const begun = Math.floor(call.at - origin)
    reportUntil(begun)
    // life made this call: a cooldown that ends within what is not known of its time did not stop it
    const { retryAfter = Number.POSITIVE_INFINITY } = Breaker.observe(policy, state, begun)
    const late = call.outcome !== "refused" && retryAfter <= Math.ceil(call.slack ?? 0) ? retryAfter : 0
    const now = begun + late
    if (late > 0) reportUntil(now)
    end = Math.max(end, now)
    const [admission, next, events] = Breaker.acquire(policy, state, now)
    took(next, events)
    if (call.outcome === "failure") lastKind = call.kind ?? lastKind
    if (admission._tag === "Rejected") {
      count.refused++
      if (call.outcome === "success") count.refusedGood++
      if (call.outcome === "failure") count.refusedBad++
      continue
    }
    const { permit } = admission
    count.admitted++
    if (permit.probe !== undefined) count.probes++
    if (call.outcome === "failure") count.admittedBad++
    if (call.outcome === "refused") count.guessed++
    const met = call.outcome === "refused" ? guessed(call) : call
    const over = Math.floor(call.at - origin + late + (met.latency ?? 0))
    agenda.add(over, () => {
      end = Math.max(end, over)
      const [, after, happened] = Breaker.report(policy, state, permit, outcomeOf(met), over, luck[guess])
      took(after, happened)
    })
  }
  while (agenda.next < Number.POSITIVE_INFINITY) agenda.take()?.()
  return { ...count, openFor: openFor(changes, end + origin), changes }
}

const openFor = (changes: ReadonlyArray<Change>, end: number): number => {
  let total = 0
  let since: number | undefined
  for (const { at, to } of changes) {
    const open = to === "Open" || to === "HalfOpen"
    if (open) since ??= at
    else if (since !== undefined) {
      total += at - since
      since = undefined
    }
  }
  return since === undefined ? total : total + Math.max(0, end - since)
}
