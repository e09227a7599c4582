import { fresh, rollingRule } from "./counters.js"
import { lookup } from "./kinds.js"
import type { Bucket, Cause, Closed, Counters, Degraded, HalfOpen, KindTimes, State, Window } from "./model.js"
import type { Policy, RollingRule } from "./policyModel.js"
import type { CountersSnapshot, ProbesSnapshot, Snapshot } from "./snapshotModel.js"
import { advance, origin, plus } from "./time.js"
import { bucketIndex, emptyWindow, fromBuckets } from "./window.js"

const window = (rule: RollingRule, from: CountersSnapshot, now: number, elapsed: number): Window => {
  if (from.window === null || from.window.bucketPeriod !== rule.bucketPeriod) return emptyWindow(rule, now)
  const index = bucketIndex(rule.bucketPeriod, now) - Math.floor(elapsed / rule.bucketPeriod)
  const buckets = from.window.buckets.map(
    ({ age, failures, kinds, samples, slow }): Bucket => ({ index: index - age, samples, failures, slow, kinds })
  )
  return fromBuckets(rule, buckets, now)
}

/** The counts of kinds that the policy still counts in this way. */
const kindTimes = (policy: Policy, from: CountersSnapshot, now: number, elapsed: number): ReadonlyArray<KindTimes> => {
  const kept: Array<KindTimes> = []
  for (const { kind, times } of from.kindTimes) {
    if (lookup(policy.kindThresholds, kind)?.window === undefined) continue
    kept.push({ kind, times: times.map(({ age, count }) => ({ at: plus(plus(now, -age), -elapsed), count })) })
  }
  return kept
}

const unlimited = (policy: Policy, kind: string): boolean => {
  const rule = lookup(policy.kindThresholds, kind)
  return rule !== undefined && rule.window === undefined
}

const counters = (policy: Policy, from: CountersSnapshot, now: number, elapsed: number): Counters => {
  const rolling = rollingRule(policy)
  const started = fresh(policy, now)
  const fits = from.mode === policy.trip._tag
  return {
    mode: started.mode,
    streak: fits ? from.streak : 0,
    window: fits && rolling !== undefined ? window(rolling, from, now, elapsed) : started.window,
    failed: {
      kinds: from.kinds,
      otherKinds: from.otherKinds,
      kindStreaks: fits ? from.kindStreaks.filter((entry) => unlimited(policy, entry.kind)) : [],
      kindTimes: kindTimes(policy, from, now, elapsed),
      latestKind: from.latestKind,
      hint: from.hint === null || !policy.cooldown.honorRetryAfter ? null : plus(plus(now, from.hint), -elapsed)
    }
  }
}

const halfOpen = (
  base: Pick<HalfOpen, "at" | "era" | "since" | "openings">,
  cause: Cause,
  { leases, next, successes }: ProbesSnapshot,
  left: (remaining: number) => number
): HalfOpen => ({
  _tag: "HalfOpen",
  ...base,
  cause,
  successes,
  leases: leases
    .map(({ id, remaining }) => ({ id, until: left(remaining) }))
    .sort((a, b) => a.until - b.until || a.id - b.id),
  nextLease: next
})

/** SEMANTICS S9. `shared`: a store holds it for several processes, so that its era and its leases are still those. */
export const restored = (
  policy: Policy,
  from: Snapshot,
  at: number,
  wall: number,
  replaced: State | undefined,
  shared: boolean
): State => {
  const now = replaced === undefined ? origin(at) : advance(replaced.at, at)
  const passed = plus(wall, -from.wall)
  const elapsed = passed > 0 ? Math.floor(passed) : 0
  const era = shared ? from.era : Math.max(from.era, replaced === undefined ? 0 : replaced.era) + 1
  const since = plus(plus(now, -from.age), -elapsed)
  const base = { at: now, era, since, openings: from.openings }
  const left = (remaining: number): number => plus(now, plus(remaining, -elapsed))
  const { state } = from
  switch (state._tag) {
    case "Closed":
    case "Degraded": {
      const kept = counters(policy, state.counters, now, elapsed)
      const degraded =
        state._tag === "Degraded" && policy.degradation !== undefined && state.counters.mode === policy.trip._tag
      const counting: Closed | Degraded = {
        _tag: degraded ? "Degraded" : "Closed",
        ...base,
        recoveredAt: state.recovered === null ? null : plus(plus(now, -state.recovered), -elapsed),
        counters: kept
      }
      return counting
    }
    case "Open":
      return {
        _tag: "Open",
        ...base,
        until: left(Math.min(state.remaining, state.cooldown)),
        cooldown: state.cooldown,
        cause: state.cause
      }
    case "HalfOpen":
      if (shared && state.probes !== undefined) return halfOpen(base, state.cause, state.probes, left)
      return { _tag: "Open", ...base, until: now, cooldown: 0, cause: state.cause }
    case "ForcedOpen":
      return {
        _tag: "ForcedOpen",
        ...base,
        until: state.remaining === null ? null : left(state.remaining),
        kept: state.kept === null ? null : left(state.kept),
        cause: { rule: "M1", by: "command", command: "ForceOpen" }
      }
    case "ForcedClosed":
      return { _tag: "ForcedClosed", ...base }
  }
}
