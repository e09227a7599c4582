/**
 * What a policy will do, in plain words.
 *
 * @since 0.1.0
 */
import type * as Policy from "@switchgear/core/Policy"

/**
 * Sentences, each complete by itself, in the order of a breaker's life.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Policy from "@switchgear/core/Policy"
 * import { describe } from "switchgear/Describe"
 *
 * const [opens, rejects] = describe(Policy.consecutive({ failureThreshold: 5 }))
 * assert.strictEqual(opens, "Opens after 5 failures in a row; a success starts the count again.")
 * assert.strictEqual(rejects, "Then rejects every call for 30 s, each time.")
 * ```
 *
 * @since 0.1.0
 * @category rendering
 */
export const describe = (policy: Policy.Policy): ReadonlyArray<string> => [
  ...trip(policy.trip),
  ...Object.entries(policy.kindThresholds).map(([kind, rule]) => kindRule(kind, rule, policy.trip)),
  ...degraded(policy),
  ...cooldown(policy.cooldown),
  ...Object.entries(policy.cooldownByKind).map(
    ([kind, ms]) => `Where the latest failure was ${kind}, the cooldown starts from ${time(ms)} instead.`
  ),
  ...halfOpen(policy.halfOpen),
  ...taken(policy)
]

/** ms as a person would say it. */
const time = (ms: number): string => {
  const units = [
    [86_400_000, "d"],
    [3_600_000, "h"],
    [60_000, "min"],
    [1000, "s"]
  ] as const
  const unit = units.find(([size]) => ms >= size && ms % size === 0)
  if (unit !== undefined) return `${ms / unit[0]} ${unit[1]}`
  return ms > 1000 ? `${ms / 1000} s` : `${ms} ms`
}

const many = (count: number, one: string): string => `${count} ${one}${count === 1 ? "" : "s"}`

/** A share as a percentage, without the noise of doubles. */
const percent = (share: number): string => `${Number((share * 100).toPrecision(12))} %`

const streak = ({ failureThreshold, onSuccess }: Policy.ConsecutiveRule): string => {
  if (failureThreshold === 1) return "after a single failure"
  const effect = onSuccess === "reset" ? "starts the count again" : `takes ${onSuccess.decayBy} off the count`
  return onSuccess === "reset"
    ? `after ${failureThreshold} failures in a row; a success ${effect}`
    : `when the count of failures reaches ${failureThreshold}; a success ${effect}`
}

const rolling = (rule: Policy.RollingRule): ReadonlyArray<string> => {
  const calls = `of the calls answered in the last ${time(rule.window)} (counted in steps of ${time(rule.bucketPeriod)})`
  const once = `once there are ${rule.minSamples} of them`
  const lines = [`when ${percent(rule.failureRateThreshold)} or more ${calls} failed, ${once}`]
  if (rule.slowCallDuration !== undefined && rule.slowCallRateThreshold !== undefined) {
    lines.push(
      `when ${percent(rule.slowCallRateThreshold)} or more of them took ${time(rule.slowCallDuration)} or longer`
    )
  }
  return lines
}

const trip = (rule: Policy.Trip): ReadonlyArray<string> => {
  const rules =
    rule._tag === "Consecutive"
      ? [streak(rule)]
      : rule._tag === "Rolling"
        ? rolling(rule)
        : [streak(rule.consecutive), ...rolling(rule.rolling)]
  return rules.map((text, i) => `${i === 0 ? "Opens" : "Opens as well"} ${text}.`)
}

const kindRule = (kind: string, rule: Policy.KindThreshold, tripRule: Policy.Trip): string => {
  if (rule.immediateOpen) return `Opens at once on a failure of kind ${kind}.`
  const within =
    rule.window === undefined ? (tripRule._tag === "Rolling" ? " in that window" : "") : ` within ${time(rule.window)}`
  return `Opens as well on ${many(rule.threshold, "failure")} of kind ${kind}${within}.`
}

const degraded = ({ degradation, trip: rule }: Policy.Policy): ReadonlyArray<string> => {
  if (degradation === undefined) return []
  const { recoverAt, threshold } = degradation
  const [from, until] =
    rule._tag === "Consecutive"
      ? [`a count of ${threshold}`, `${recoverAt} or less`]
      : [`a failure rate of ${percent(threshold)}`, `${percent(recoverAt)} or less`]
  return [
    `Is degraded from ${from} until a success finds ${until}: calls still pass, but are not retried, and others are preferred.`
  ]
}

const cooldown = (rule: Policy.Cooldown): ReadonlyArray<string> => {
  const lines: Array<string> = []
  if (rule.multiplier === 1 || rule.maxMultiplier <= 1)
    lines.push(`Then rejects every call for ${time(rule.base)}, each time.`)
  else {
    const grace = rule.graceOpenings === 0 ? "" : `after the first ${rule.graceOpenings + 1} openings `
    const growth = rule.multiplier === 2 ? "doubling" : `growing ${rule.multiplier}-fold`
    const most = time(Math.round(rule.base * rule.maxMultiplier))
    lines.push(
      `Then rejects every call for ${time(rule.base)}; ${grace}${growth} with each opening before a recovery, up to ${most}.`
    )
  }
  if (rule.jitter > 0)
    lines.push(
      `Lengthens each cooldown by a random share of up to ${percent(rule.jitter)}, so that a fleet does not return at once.`
    )
  if (rule.honorRetryAfter) lines.push(`Waits longer where an answer asks for it, up to ${time(rule.maxRetryAfter)}.`)
  if (rule.resetAfter > 0)
    lines.push(`An opening within ${time(rule.resetAfter)} of a recovery counts as one more in a row.`)
  return lines
}

const halfOpen = ({ maxProbes, probeTimeout, successThreshold }: Policy.HalfOpenRule): ReadonlyArray<string> => [
  `After that lets ${many(maxProbes, "probe")} through at a time; ${
    successThreshold === 1 ? "one success closes" : `${successThreshold} successes close`
  } it, one failure opens it again.`,
  `A probe that has not ended after ${time(probeTimeout)} gives its place to another.`
]

const ignoredKinds = ["auth", "model_unavailable", "context_length", "content_filter", "client_fault"]

const taken = ({ ignoredAs, outcomes }: Policy.Policy): ReadonlyArray<string> => {
  const named = (as: string) => Object.keys(outcomes).filter((key) => outcomes[key] === as)
  const ignored = [...ignoredKinds.filter((kind) => !Object.hasOwn(outcomes, kind)), ...named("ignored")]
  const lines: Array<string> = []
  if (ignored.length > 0) {
    const effect = ignoredAs === "success" ? "Counts as successes" : "Does not count at all"
    lines.push(`${effect}: ${ignored.join(", ")}.`)
  }
  if (named("success").length > 0) lines.push(`Counts as successes: ${named("success").join(", ")}.`)
  if (named("failure").length > 0) lines.push(`Counts as failures, besides all others: ${named("failure").join(", ")}.`)
  return lines
}
