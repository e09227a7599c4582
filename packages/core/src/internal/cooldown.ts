import { lookup } from "./kinds.js"
import type { Cause, Open } from "./model.js"
import type { Policy } from "./policyModel.js"
import { plus } from "./time.js"

/** SEMANTICS C1. */
export const factor = (policy: Policy, openings: number): number => {
  const { graceOpenings, maxMultiplier, multiplier } = policy.cooldown
  return Math.min(multiplier ** Math.max(0, openings - 1 - graceOpenings), maxMultiplier)
}

/** SEMANTICS C4. A `rnd` outside `[0, 1)` is taken as its nearest bound, none as 0. */
const cooldown = (
  policy: Policy,
  openings: number,
  kind: string | null,
  hint: number | null,
  now: number,
  rnd: number
): number => {
  const base = (kind === null ? undefined : lookup(policy.cooldownByKind, kind)) ?? policy.cooldown.base
  const chosen = Math.max(base * factor(policy, openings), hint === null ? 0 : plus(hint, -now))
  const random = rnd > 0 ? Math.min(rnd, 1) : 0
  return Math.min(Math.round(chosen * (1 + policy.cooldown.jitter * random)), Number.MAX_SAFE_INTEGER)
}

/** Opens: a new era, whose deadline never moves. */
export const open = (
  policy: Policy,
  before: { readonly era: number; readonly openings: number },
  cause: Cause,
  latestKind: string | null,
  hint: number | null,
  now: number,
  rnd: number
): Open => {
  const openings = before.openings + 1
  const length = cooldown(policy, openings, latestKind, hint, now, rnd)
  return {
    _tag: "Open",
    at: now,
    era: before.era + 1,
    since: now,
    openings,
    until: plus(now, length),
    cooldown: length,
    cause
  }
}
