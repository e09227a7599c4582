import { rollingRule } from "../naive/count.js"
import type { NaiveState, PlainPolicy } from "../naive/state.js"
import { leasesOut } from "../naive/view.js"

/** Times after `now` at which something changes by time alone, nearest first: deadlines, leases, buckets, windows. */
export const boundaries = (policy: PlainPolicy, state: NaiveState, now: number): ReadonlyArray<number> => {
  const times: Array<number> = []
  if (state.until !== null) times.push(state.until)
  times.push(...leasesOut(state, now).map((lease) => lease.until))
  if (state.recoveredAt !== null) times.push(state.recoveredAt + policy.cooldown.resetAfter)
  if (state.held === "Closed" || state.held === "Degraded") {
    const rolling = rollingRule(policy)
    if (rolling !== null) times.push((Math.floor(now / rolling.bucketPeriod) + 1) * rolling.bucketPeriod)
    for (const { at, bucket, kind } of state.outcomes) {
      if (rolling !== null && bucket !== null) times.push(bucket * rolling.bucketPeriod + rolling.window)
      const window =
        kind !== null && Object.hasOwn(policy.kindThresholds, kind) ? policy.kindThresholds[kind]?.window : 0
      if (window !== undefined && window > 0) times.push(at + window)
    }
  }
  return [...new Set(times)].filter((at) => at > now).sort((one, other) => one - other)
}
