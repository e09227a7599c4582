import type * as Policy from "@switchgear/core/Policy"
import type { CallFailed, Loss } from "../conformance/peer.js"

/** SEMANTICS P4, as the user of a library with an error filter would write it. */
const ignoredByDefault = ["auth", "model_unavailable", "context_length", "content_filter", "client_fault"]

/** How the policy takes a failure (SEMANTICS P4). */
export const takenAs = (policy: Policy.Policy, { kind, status }: CallFailed): "failure" | "ignored" | "success" => {
  const byStatus = status === undefined ? undefined : policy.outcomes[String(status)]
  const byClass = status === undefined ? undefined : policy.outcomes[`${Math.floor(status / 100)}xx`]
  return byStatus ?? byClass ?? policy.outcomes[kind] ?? (ignoredByDefault.includes(kind) ? "ignored" : "failure")
}

/** SEMANTICS C1. */
export const factorOf = ({ cooldown }: Policy.Policy, openings: number): number =>
  Math.min(cooldown.multiplier ** Math.max(0, openings - 1 - cooldown.graceOpenings), cooldown.maxMultiplier)

const never = Number.MAX_SAFE_INTEGER

/** What the policy asks that hardly any library has. */
export const lossOf = {
  degradation: {
    what: "a Degraded state",
    without: ({ degradation: _, ...policy }: Policy.Policy): unknown => policy
  },
  leases: {
    what: "a probe that never answers gives its slot back",
    without: (policy: Policy.Policy): unknown => ({
      ...policy,
      halfOpen: { ...policy.halfOpen, probeTimeout: never }
    })
  },
  oneProbe: {
    what: "more than one probe at a time",
    without: (policy: Policy.Policy): unknown => ({ ...policy, halfOpen: { ...policy.halfOpen, maxProbes: 1 } })
  },
  oneSuccess: {
    what: "more than one success to close",
    without: (policy: Policy.Policy): unknown => ({ ...policy, halfOpen: { ...policy.halfOpen, successThreshold: 1 } })
  },
  kinds: {
    what: "thresholds by kind of failure",
    without: (policy: Policy.Policy): unknown => ({ ...policy, kindThresholds: {} })
  },
  kindCooldowns: {
    what: "cooldowns by kind of failure",
    without: (policy: Policy.Policy): unknown => ({ ...policy, cooldownByKind: {} })
  },
  jitter: {
    what: "jitter that only lengthens",
    without: (policy: Policy.Policy): unknown => ({ ...policy, cooldown: { ...policy.cooldown, jitter: 0 } })
  },
  resetAfter: {
    what: "openings that go on counting for a set time after a recovery",
    without: (policy: Policy.Policy): unknown => ({ ...policy, cooldown: { ...policy.cooldown, resetAfter: 0 } })
  },
  hints: {
    what: "a cooldown as long as the answer's Retry-After",
    without: (policy: Policy.Policy): unknown => ({
      ...policy,
      cooldown: { ...policy.cooldown, honorRetryAfter: false }
    })
  },
  escalation: {
    what: "cooldowns that grow with each opening",
    without: (policy: Policy.Policy): unknown => ({ ...policy, cooldown: { ...policy.cooldown, multiplier: 1 } })
  },
  ignoredIsNeutral: {
    what: "an outcome that is neither success nor failure",
    without: (policy: Policy.Policy): unknown => ({ ...policy, ignoredAs: "success" })
  },
  ignoredIsSuccess: {
    what: "a filtered error that counts as a success",
    without: (policy: Policy.Policy): unknown => ({ ...policy, ignoredAs: "none" })
  },
  decay: {
    what: "a streak that a success shortens",
    without: (policy: Policy.Policy): unknown =>
      policy.trip._tag === "Consecutive" ? { ...policy, trip: { ...policy.trip, onSuccess: "reset" } } : policy
  },
  slow: {
    what: "slow calls",
    without: (policy: Policy.Policy): unknown => {
      if (policy.trip._tag !== "Rolling") return policy
      const { slowCallDuration: _, slowCallRateThreshold: __, ...trip } = policy.trip
      return { ...policy, trip }
    }
  }
} satisfies Record<string, Loss>

/** The same rolling rule over another window. */
export const windowed = (what: string, window: number, bucketPeriod: number): Loss => ({
  what,
  without: (policy) =>
    policy.trip._tag === "Rolling" ? { ...policy, trip: { ...policy.trip, window, bucketPeriod } } : policy
})

/** A number just below, for a library that asks for `>` where SEMANTICS asks for `>=`. */
export const justBelow = (rate: number): number => rate - 1e-9

/** The `trip` of a policy that may be wrong. */
export const tripOf = (policy: unknown): Readonly<Record<string, unknown>> | undefined => {
  if (typeof policy !== "object" || policy === null || !("trip" in policy)) return undefined
  const { trip } = policy
  return typeof trip === "object" && trip !== null ? (trip as Readonly<Record<string, unknown>>) : undefined
}

/** Whether a constructor refuses what it is given. */
export const throws = (make: () => unknown): boolean => {
  try {
    make()
    return false
  } catch {
    return true
  }
}
