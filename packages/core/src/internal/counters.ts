import { addKind, countOf, lookup, namedKinds, noKinds } from "./kinds.js"
import type { Cause, Counters, Failed, Failure, KindCount, KindTimes } from "./model.js"
import type { ConsecutiveRule, KindThreshold, OnSuccess, Policy, RollingRule } from "./policyModel.js"
import { plus } from "./time.js"
import { addSample, emptyWindow, failuresOf, roll, samplesOf, slowOf } from "./window.js"

export const consecutiveRule = (policy: Policy): ConsecutiveRule | undefined =>
  policy.trip._tag === "Consecutive" ? policy.trip : policy.trip._tag === "AnyOf" ? policy.trip.consecutive : undefined

export const rollingRule = (policy: Policy): RollingRule | undefined =>
  policy.trip._tag === "Rolling" ? policy.trip : policy.trip._tag === "AnyOf" ? policy.trip.rolling : undefined

const noFailures: Failed = {
  kinds: noKinds,
  otherKinds: 0,
  kindStreaks: noKinds,
  kindTimes: [],
  latestKind: null,
  hint: null
}

/** A fresh era (SEMANTICS R3). */
export const fresh = (policy: Policy, now: number): Counters => {
  const rolling = rollingRule(policy)
  return {
    mode: policy.trip._tag,
    streak: 0,
    window: rolling === undefined ? null : emptyWindow(rolling, now),
    failed: noFailures
  }
}

const afterSuccess = (count: number, onSuccess: OnSuccess): number =>
  onSuccess === "reset" ? 0 : Math.max(0, count - onSuccess.decayBy)

const kindStreaksAfterSuccess = (counts: ReadonlyArray<KindCount>, onSuccess: OnSuccess): ReadonlyArray<KindCount> => {
  if (onSuccess === "reset" || counts.length === 0) return noKinds
  const next: Array<KindCount> = []
  for (const entry of counts) {
    const count = afterSuccess(entry.count, onSuccess)
    if (count > 0) next.push({ kind: entry.kind, count })
  }
  return next
}

/** SEMANTICS P1 and P3 on a success. The same object where it changes nothing. */
export const countSuccess = (policy: Policy, counters: Counters, slow: boolean, now: number): Counters => {
  const rule = consecutiveRule(policy)
  const rolling = rollingRule(policy)
  const failed = counters.failed
  if (counters.streak === 0 && failed.kindStreaks.length === 0 && rolling === undefined) return counters
  return {
    mode: counters.mode,
    streak: rule === undefined ? 0 : afterSuccess(counters.streak, rule.onSuccess),
    window:
      rolling === undefined || counters.window === null
        ? null
        : addSample(roll(rolling, counters.window, now), false, slow, null),
    failed:
      rule === undefined || failed.kindStreaks.length === 0
        ? failed
        : {
            kinds: failed.kinds,
            otherKinds: failed.otherKinds,
            kindStreaks: kindStreaksAfterSuccess(failed.kindStreaks, rule.onSuccess),
            kindTimes: failed.kindTimes,
            latestKind: failed.latestKind,
            hint: failed.hint
          }
  }
}

const timesOf = (all: ReadonlyArray<KindTimes>, kind: string): KindTimes["times"] => {
  for (const entry of all) {
    if (entry.kind === kind) return entry.times
  }
  return []
}

/** The failures of a kind that can still decide: within the window, and no more than the threshold needs. */
const addTime = (
  all: ReadonlyArray<KindTimes>,
  kind: string,
  threshold: number,
  window: number,
  now: number
): ReadonlyArray<KindTimes> => {
  const before = timesOf(all, kind)
  const last = before[before.length - 1]
  const merged =
    last !== undefined && last.at === now
      ? [...before.slice(0, -1), { at: now, count: Math.min(last.count + 1, threshold) }]
      : [...before, { at: now, count: 1 }]
  let first = merged.length
  for (let needed = threshold; first > 0 && needed > 0; first--) {
    const entry = merged[first - 1]
    if (entry === undefined || entry.at <= now - window) break
    needed -= entry.count
  }
  const times = { kind, times: first === 0 ? merged : merged.slice(first) }
  return all.some((entry) => entry.kind === kind)
    ? all.map((entry) => (entry.kind === kind ? times : entry))
    : [...all, times]
}

/** SEMANTICS C3. */
export const hintAfter = (
  policy: Policy,
  hint: number | null,
  retryAfter: number | undefined,
  now: number
): number | null => {
  if (!policy.cooldown.honorRetryAfter || retryAfter === undefined) return hint
  if (!(retryAfter >= 0 && retryAfter < Number.POSITIVE_INFINITY)) return hint
  const next = plus(now, Math.min(Math.ceil(retryAfter), policy.cooldown.maxRetryAfter))
  return hint === null || next > hint ? next : hint
}

/** SEMANTICS P1, P3, C2 and C3 on a failure that counts. */
export const countFailure = (
  policy: Policy,
  counters: Counters,
  failure: Failure,
  slow: boolean,
  now: number
): Counters => {
  const kind = failure.kind
  const rule = consecutiveRule(policy)
  const rolling = rollingRule(policy)
  const own = lookup(policy.kindThresholds, kind)
  const unlimited = own !== undefined && own.window === undefined
  const inBuckets = unlimited && counters.mode === "Rolling"
  const failed = counters.failed
  const named = failed.kinds.length < namedKinds || countOf(failed.kinds, kind) > 0
  return {
    mode: counters.mode,
    streak: rule === undefined ? 0 : counters.streak + 1,
    window:
      rolling === undefined || counters.window === null
        ? null
        : addSample(roll(rolling, counters.window, now), true, slow, inBuckets ? kind : null),
    failed: {
      kinds: named ? addKind(failed.kinds, kind, 1) : failed.kinds,
      otherKinds: named ? failed.otherKinds : failed.otherKinds + 1,
      kindStreaks: unlimited && !inBuckets ? addKind(failed.kindStreaks, kind, 1) : failed.kindStreaks,
      kindTimes:
        own?.window === undefined ? failed.kindTimes : addTime(failed.kindTimes, kind, own.threshold, own.window, now),
      latestKind: kind,
      hint: hintAfter(policy, failed.hint, failure.retryAfter, now)
    }
  }
}

const kindFailures = (counters: Counters, kind: string, rule: KindThreshold): number => {
  if (rule.window !== undefined) {
    // What is kept was pruned to the window by the failure that is being judged.
    let count = 0
    for (const entry of timesOf(counters.failed.kindTimes, kind)) count += entry.count
    return count
  }
  return counters.window !== null && counters.mode === "Rolling"
    ? countOf(counters.window.sealed.kinds, kind) + countOf(counters.window.current.kinds, kind)
    : countOf(counters.failed.kindStreaks, kind)
}

const rollingTrip = (rule: RollingRule, counters: Counters, slowAlone: boolean): Cause | undefined => {
  if (counters.window === null) return undefined
  const samples = samplesOf(counters.window)
  if (samples < rule.minSamples) return undefined
  const failures = failuresOf(counters.window)
  const kind = counters.failed.latestKind
  if (!slowAlone && failures / samples >= rule.failureRateThreshold) {
    return { rule: "P1", by: "failureRate", kind, failures, samples, threshold: rule.failureRateThreshold }
  }
  const slow = slowOf(counters.window)
  if (rule.slowCallRateThreshold !== undefined && slow / samples >= rule.slowCallRateThreshold) {
    return { rule: "P1", by: "slowRate", kind, slow, samples, threshold: rule.slowCallRateThreshold }
  }
  return undefined
}

/** SEMANTICS P2 and P3: whether the failure just counted opens the breaker, and why. */
export const tripAfterFailure = (policy: Policy, counters: Counters, kind: string): Cause | undefined => {
  const own = lookup(policy.kindThresholds, kind)
  if (own !== undefined) {
    const failures = kindFailures(counters, kind, own)
    if (failures >= own.threshold) {
      return { rule: "P3", by: "kind", kind, failures, threshold: own.threshold, window: own.window ?? null }
    }
  }
  const rule = consecutiveRule(policy)
  if (rule !== undefined && counters.streak >= rule.failureThreshold) {
    return { rule: "P1", by: "streak", kind, failures: counters.streak, threshold: rule.failureThreshold }
  }
  const rolling = rollingRule(policy)
  return rolling === undefined ? undefined : rollingTrip(rolling, counters, false)
}

/** SEMANTICS P2: whether the success just counted opens the breaker, and why. */
export const tripAfterSuccess = (policy: Policy, counters: Counters, slow: boolean): Cause | undefined => {
  const rolling = rollingRule(policy)
  if (rolling === undefined || counters.window === null) return undefined
  // A success is one sample: it completes the minimum when it brings the samples to it exactly.
  const completes = samplesOf(counters.window) === rolling.minSamples
  return completes || slow ? rollingTrip(rolling, counters, !completes) : undefined
}

/** SEMANTICS D1: how far gone it is, in the trip rule's own unit; `undefined` while a rate has too few samples. */
export const level = (policy: Policy, counters: Counters): number | undefined => {
  const rolling = rollingRule(policy)
  if (rolling === undefined || counters.window === null) return counters.streak
  const samples = samplesOf(counters.window)
  return samples < rolling.minSamples ? undefined : failuresOf(counters.window) / samples
}
