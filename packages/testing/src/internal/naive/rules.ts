import type * as Breaker from "@switchgear/core/Breaker"
import { consecutiveRule, failureRate, inWindow, isSlow, kindCount, rollingRule, slowRate, streak } from "./count.js"
import { type Counted, type PlainPolicy, plus } from "./state.js"

const own = <A>(record: Readonly<Record<string, A>>, key: string): A | undefined =>
  Object.hasOwn(record, key) ? record[key] : undefined

const ignoredByDefault = ["auth", "model_unavailable", "context_length", "content_filter", "client_fault"]

/** SEMANTICS P4: status, then class, then kind, then the kind's default. */
const failureTaken = (policy: PlainPolicy, failure: Breaker.Failure): "failure" | "ignored" | "success" => {
  if (failure.status !== undefined) {
    const byStatus = own(policy.outcomes, `${failure.status}`)
    if (byStatus !== undefined) return byStatus
    const byClass = own(policy.outcomes, `${Math.floor(failure.status / 100)}xx`)
    if (byClass !== undefined) return byClass
  }
  return own(policy.outcomes, failure.kind) ?? (ignoredByDefault.includes(failure.kind) ? "ignored" : "failure")
}

/** SEMANTICS R5 and P4: what an outcome amounts to. */
export const taken = (policy: PlainPolicy, outcome: Breaker.Outcome): "failure" | "success" | "nothing" => {
  if (outcome._tag === "Released") return "nothing"
  if (outcome._tag === "Success") return "success"
  const as = outcome._tag === "Ignored" ? "ignored" : failureTaken(policy, outcome)
  if (as === "ignored") return policy.ignoredAs === "success" ? "success" : "nothing"
  return as
}

const usable = (ms: number | undefined): ms is number => ms !== undefined && Number.isFinite(ms) && ms >= 0

/** The report as it is kept. SEMANTICS R1: without a usable latency, the time since admission. */
export const counted = (
  policy: PlainPolicy,
  as: "failure" | "success",
  outcome: Breaker.Outcome,
  permit: Breaker.Permit,
  now: number
): Counted => {
  const rule = rollingRule(policy)
  const given = outcome._tag === "Success" || outcome._tag === "Failure" ? outcome.latency : undefined
  const failure = as === "failure" && outcome._tag === "Failure" ? outcome : null
  return {
    at: now,
    bucket: rule === null ? null : Math.floor(now / rule.bucketPeriod),
    taken: as,
    kind: failure === null ? null : failure.kind,
    latency: usable(given) ? given : now - permit.at,
    retryAfter: failure !== null && usable(failure.retryAfter) ? failure.retryAfter : null
  }
}

/** SEMANTICS P1, P2, P3: the rule that trips with the last report of the era, if one does. */
export const tripRule = (policy: PlainPolicy, outcomes: ReadonlyArray<Counted>, now: number): "P1" | "P3" | null => {
  const last = outcomes.at(-1)
  if (last === undefined) return null
  const rolling = rollingRule(policy)
  const rateReached = (): boolean => {
    const rate = rolling === null ? null : failureRate(rolling, outcomes, now)
    return rolling !== null && rate !== null && rate >= rolling.failureRateThreshold
  }
  const slowReached = (): boolean => {
    const rate = rolling === null ? null : slowRate(rolling, outcomes, now)
    const threshold = rolling?.slowCallRateThreshold
    return threshold !== undefined && rate !== null && rate >= threshold
  }
  if (last.taken === "failure") {
    // P3: a kind's own rule comes first
    const kind = last.kind ?? ""
    const rule = own(policy.kindThresholds, kind)
    if (rule !== undefined && kindCount(policy, outcomes, kind, rule.window, now) >= rule.threshold) return "P3"
    const consecutive = consecutiveRule(policy)
    if (consecutive !== null && streak(consecutive, outcomes, () => true) >= consecutive.failureThreshold) return "P1"
    return rateReached() || slowReached() ? "P1" : null
  }
  // P2: a success trips only by completing the minimum, or by being slow
  if (rolling === null) return null
  const completes = inWindow(rolling, outcomes.slice(0, -1), now).length < rolling.minSamples
  if (completes) return rateReached() || slowReached() ? "P1" : null
  return isSlow(rolling, last) && slowReached() ? "P1" : null
}

/** SEMANTICS D1: the level in the trip rule's own unit; `null` while a rate lacks its minimum. */
export const level = (policy: PlainPolicy, outcomes: ReadonlyArray<Counted>, now: number): number | null =>
  policy.trip._tag === "Consecutive"
    ? streak(policy.trip, outcomes, () => true)
    : failureRate(policy.trip._tag === "AnyOf" ? policy.trip.rolling : policy.trip, outcomes, now)

/** SEMANTICS C1 to C4: how long the opening number `openings` lasts, chosen at `now`. */
export const cooldown = (
  policy: PlainPolicy,
  outcomes: ReadonlyArray<Counted>,
  openings: number,
  now: number,
  rnd: number
): number => {
  const { base, graceOpenings, honorRetryAfter, jitter, maxMultiplier, maxRetryAfter, multiplier } = policy.cooldown
  // C1
  const factor = Math.min(multiplier ** Math.max(0, openings - 1 - graceOpenings), maxMultiplier)
  // C2: the kind of the latest failure counted in the era
  const kind = outcomes.filter((outcome) => outcome.taken === "failure").at(-1)?.kind ?? null
  const baseOfKind = kind === null ? base : (own(policy.cooldownByKind, kind) ?? base)
  // C3: the furthest hint of the era
  let asked = 0
  for (const { at, retryAfter } of outcomes) {
    if (!honorRetryAfter || retryAfter === null) continue
    const hint = plus(at, Math.min(Math.ceil(retryAfter), maxRetryAfter))
    asked = Math.max(asked, hint - now)
  }
  // C4
  return Math.min(Number.MAX_SAFE_INTEGER, Math.round(Math.max(baseOfKind * factor, asked) * (1 + jitter * rnd)))
}
