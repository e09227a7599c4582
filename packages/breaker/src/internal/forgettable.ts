import * as Breaker from "@switchgear/core/Breaker"
import type { Policy } from "@switchgear/core/Policy"

type Counting = Extract<Breaker.State, { readonly counters: unknown }>

/** Failures that a kind's own rule still counts. */
const kindsCount = (policy: Policy, { counters }: Counting, now: number): boolean =>
  counters.failed.kindStreaks.some(({ count }) => count > 0) ||
  counters.failed.kindTimes.some(({ kind, times }) => {
    const rule = Object.hasOwn(policy.kindThresholds, kind) ? policy.kindThresholds[kind] : undefined
    const window = rule?.window
    return window !== undefined && times.some(({ at }) => at > now - window)
  })

/**
 * Whether a breaker may be made anew without a difference to any call: it reads Closed, counts no failure and no
 * opening (STORES, Registry).
 */
export const forgettable = (policy: Policy, state: Breaker.State, now: number): boolean => {
  if (state._tag !== "Closed" && state._tag !== "Degraded") return false
  if (state.counters.streak > 0 || kindsCount(policy, state, now)) return false
  const view = Breaker.observe(policy, state, now)
  return view.state === "Closed" && view.openings === 0 && (view.failures ?? 0) === 0
}
