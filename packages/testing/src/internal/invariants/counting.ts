import { consecutiveRule, inWindow, isFailure, isSlow, kindsOfEra, rollingRule, streak } from "../naive/count.js"
import { cooldown, taken as takenAs, tripRule } from "../naive/rules.js"
import { inForce, recount } from "./recount.js"
import { type Invariant, isClosed, same, shown } from "./run.js"

/** SEMANTICS P1, R4, S4. */
export const totalsEqualARecount: Invariant = {
  name: "the totals equal a recount of every report of the era",
  rule: "P1 R3 R4 R5 S4",
  check: (run, { after, taken }) => {
    if (!isClosed(after)) return null
    const { left } = recount(run)
    const at = Math.max(taken.now, after.at)
    const consecutive = consecutiveRule(run.policy)
    const rolling = rollingRule(run.policy)
    const window = rolling === null ? [] : inWindow(rolling, left, at)
    const expected = {
      streak: consecutive === null ? undefined : streak(consecutive, left, () => true),
      samples: rolling === null ? undefined : window.length,
      failures: rolling === null ? undefined : window.filter(isFailure).length,
      slow: rolling === null ? undefined : window.filter((outcome) => isSlow(rolling, outcome)).length,
      missingSamples: rolling === null ? undefined : Math.max(0, rolling.minSamples - window.length),
      kinds: kindsOfEra(left)
    }
    const { failures, kinds, missingSamples, samples, slow, streak: count } = taken.view
    const told = { streak: count, samples, failures, slow, missingSamples, kinds }
    return same(told, expected) ? null : `the view tells ${shown(told)}, a recount ${shown(expected)}`
  }
}

/** SEMANTICS P1, P2, P3, D3. */
export const tripsExactlyWhenTheRuleSays: Invariant = {
  name: "it opens on a report exactly when the rule says so",
  rule: "P1 P2 P3 D3 R5",
  check: (run, { after, before, now, taken }) => {
    if (taken.reported !== "Applied" || !isClosed(before)) return null
    // an outcome without a health signal decides nothing
    const counts = taken.outcome !== undefined && takenAs(run.policy, taken.outcome) !== "nothing"
    const rule = counts ? tripRule(run.policy, recount(run).decided, now) : null
    if (after._tag !== "Open") return rule === null ? null : `${rule} says to open, and it did not`
    if (rule === null) return "it opened, and no rule says so"
    return after.cause.rule === rule ? null : `${rule} decided, not ${after.cause.rule}`
  }
}

/** SEMANTICS C1 to C5: openings are counted and the factor rises with them to its cap. */
export const theFactorRisesToItsCap: Invariant = {
  name: "each opening counts one more, and its cooldown is base times a factor that rises to its cap",
  rule: "C1 C2 C3 C4 C5",
  check: (run, { after, before, now, step, taken }) => {
    if (taken.reported !== "Applied" || after._tag !== "Open") return null
    const openings = inForce(run.policy, before, now) + 1
    if (after.openings !== openings) return `openings ${after.openings}, not ${openings}`
    const rnd = "rnd" in step ? (step.rnd ?? 0) : 0
    const { decided } = recount(run)
    const probe = taken.outcome?._tag === "Failure" ? taken.outcome : null
    const last = { at: now, bucket: null, taken: "failure" as const, latency: 0 }
    const { retryAfter } = probe ?? {}
    const usable = retryAfter !== undefined && Number.isFinite(retryAfter) && retryAfter >= 0 ? retryAfter : null
    const outcomes = isClosed(before) ? decided : [{ ...last, kind: probe?.kind ?? null, retryAfter: usable }]
    const expected = cooldown(run.policy, outcomes, openings, now, rnd)
    const { base, maxMultiplier } = run.policy.cooldown
    if (after.cooldown !== expected) return `cooldown ${after.cooldown}, not ${expected}`
    const cap = Math.max(base, ...Object.values(run.policy.cooldownByKind)) * maxMultiplier
    const hinted = run.policy.cooldown.honorRetryAfter
    return hinted || rnd > 0 || after.cooldown <= Math.round(cap) ? null : `cooldown ${after.cooldown} over ${cap}`
  }
}
