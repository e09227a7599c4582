import type * as Policy from "@switchgear/core/Policy"
import * as fc from "fast-check"
import type { PlainPolicy } from "../naive/state.js"

/** A policy as a person writes it: every duration in ms, all else as `Policy.decode` takes it. */
export interface PolicyInput {
  readonly trip: Policy.Policy["trip"]
  readonly degradation?: { readonly threshold: number; readonly recoverAt?: number }
  readonly cooldown?: Partial<PlainPolicy["cooldown"]>
  readonly cooldownByKind?: PlainPolicy["cooldownByKind"]
  readonly kindThresholds?: Readonly<
    Record<string, { readonly threshold?: number; readonly window?: number; readonly immediateOpen?: boolean }>
  >
  readonly halfOpen?: Partial<PlainPolicy["halfOpen"]>
  readonly outcomes?: PlainPolicy["outcomes"]
  readonly ignoredAs?: PlainPolicy["ignoredAs"]
}

/** Kinds with a default of either sort, and names that a careless record would trip over. */
export const kinds = ["timeout", "rate_limit", "unknown", "auth", "client_fault", "_other", "constructor", "__proto__"]

const ignoredByDefault = ["auth", "model_unavailable", "context_length", "content_filter", "client_fault"]

const rates = [1, 0.5, 0.25, 1 / 3, 0.07, 0.6, 0.75]

/** Absent a third of the time, and absent first when shrinking. */
const maybe = <A>(arbitrary: fc.Arbitrary<A>): fc.Arbitrary<A | undefined> =>
  fc.option(arbitrary, { nil: undefined, freq: 2 })

const defined = <A extends object>(fields: A): { [K in keyof A]: Exclude<A[K], undefined> } => {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined)
  // dropping the undefined fields is just what the type says
  return Object.fromEntries(entries) as { [K in keyof A]: Exclude<A[K], undefined> }
}

const consecutive = fc.record({
  failureThreshold: fc.integer({ min: 1, max: 4 }),
  onSuccess: fc.oneof(fc.constant("reset" as const), fc.record({ decayBy: fc.integer({ min: 1, max: 2 }) }))
})

const rolling = fc
  .record({
    bucketPeriod: fc.constantFrom(10, 1, 5),
    buckets: fc.constantFrom(4, 1, 2, 3, 20),
    minSamples: fc.integer({ min: 1, max: 4 }),
    failureRateThreshold: fc.constantFrom(...rates),
    slow: maybe(fc.tuple(fc.constantFrom(5, 1, 20), fc.constantFrom(...rates)))
  })
  .map(({ bucketPeriod, buckets, failureRateThreshold, minSamples, slow }) => ({
    window: bucketPeriod * buckets,
    bucketPeriod,
    minSamples,
    failureRateThreshold,
    ...(slow === undefined ? {} : { slowCallDuration: slow[0], slowCallRateThreshold: slow[1] })
  }))

const trip: fc.Arbitrary<Policy.Policy["trip"]> = fc.oneof(
  consecutive.map((rule) => ({ _tag: "Consecutive" as const, ...rule })),
  rolling.map((rule) => ({ _tag: "Rolling" as const, ...rule })),
  fc.tuple(consecutive, rolling).map(([one, other]) => ({ _tag: "AnyOf" as const, consecutive: one, rolling: other }))
)

/** SEMANTICS D1: `0 <= recoverAt <= threshold < trip threshold`, from two fractions in quarters. */
const degradation = (
  rule: Policy.Policy["trip"],
  quarters: readonly [number, number | undefined] | undefined
): PolicyInput["degradation"] => {
  if (quarters === undefined) return undefined
  const [up, down] = quarters
  if (rule._tag === "Consecutive") {
    if (rule.failureThreshold < 2) return undefined
    const threshold = 1 + (up % (rule.failureThreshold - 1))
    return down === undefined ? { threshold } : { threshold, recoverAt: down % (threshold + 1) }
  }
  const top = rule._tag === "AnyOf" ? rule.rolling.failureRateThreshold : rule.failureRateThreshold
  const threshold = (top * (1 + (up % 3))) / 4
  return down === undefined ? { threshold } : { threshold, recoverAt: (threshold * (down % 5)) / 4 }
}

const cooldown = (durations: ReadonlyArray<number>) =>
  fc
    .record({
      base: maybe(fc.constantFrom(...durations)),
      multiplier: maybe(fc.constantFrom(2, 1.5, 3, 1)),
      maxMultiplier: maybe(fc.constantFrom(1, 2, 5, 16)),
      graceOpenings: maybe(fc.integer({ min: 0, max: 2 })),
      jitter: maybe(fc.constantFrom(0, 0.2, 1)),
      honorRetryAfter: maybe(fc.boolean()),
      maxRetryAfter: maybe(fc.constantFrom(...durations)),
      resetAfter: maybe(fc.constantFrom(0, ...durations))
    })
    .map(defined)

const kindRule = (durations: ReadonlyArray<number>) =>
  fc.oneof(
    fc
      .record({ threshold: maybe(fc.integer({ min: 1, max: 3 })), window: maybe(fc.constantFrom(...durations)) })
      .map(defined),
    fc.constant({ immediateOpen: true }),
    fc.constant({ immediateOpen: false, threshold: 2 }),
    fc.constant({ immediateOpen: true, threshold: 1, window: durations[0] ?? 1 })
  )

const outcomeKeys = [...kinds, "408", "429", "500", "4xx", "5xx"]

/** SEMANTICS V: a rule for a kind whose outcome is not failure is refused, unless statuses or classes are named. */
const alive = (outcomes: PolicyInput["outcomes"], kind: string): boolean => {
  const named = outcomes ?? {}
  if (Object.keys(named).some((key) => /^\d/.test(key))) return true
  const own = Object.hasOwn(named, kind) ? named[kind] : undefined
  return own === undefined ? !ignoredByDefault.includes(kind) : own === "failure"
}

const onlyAlive = <A>(
  rules: Readonly<Record<string, A>> | undefined,
  outcomes: PolicyInput["outcomes"]
): Readonly<Record<string, A>> | undefined =>
  rules === undefined ? undefined : Object.fromEntries(Object.entries(rules).filter(([kind]) => alive(outcomes, kind)))

/** Valid by construction. `durations` are those to choose from, ms. */
export const policyOf = (durations: ReadonlyArray<number>): fc.Arbitrary<PolicyInput> => {
  const dictionary = <A>(keys: ReadonlyArray<string>, value: fc.Arbitrary<A>) =>
    maybe(
      fc
        .uniqueArray(fc.tuple(fc.constantFrom(...keys), value), { maxLength: 3, selector: ([key]) => key })
        .map((entries): Readonly<Record<string, A>> => Object.fromEntries(entries))
    )
  return fc
    .record({
      trip,
      quarters: maybe(fc.tuple(fc.nat(11), maybe(fc.nat(11)))),
      cooldown: maybe(cooldown(durations)),
      cooldownByKind: dictionary(kinds, fc.constantFrom(0, ...durations)),
      kindThresholds: dictionary(kinds, kindRule(durations)),
      halfOpen: maybe(
        fc
          .record({
            maxProbes: maybe(fc.integer({ min: 1, max: 3 })),
            successThreshold: maybe(fc.integer({ min: 1, max: 3 })),
            probeTimeout: maybe(fc.constantFrom(...durations))
          })
          .map(defined)
      ),
      outcomes: dictionary(outcomeKeys, fc.constantFrom("failure" as const, "ignored" as const, "success" as const)),
      ignoredAs: maybe(fc.constantFrom("none" as const, "success" as const))
    })
    .map(({ cooldownByKind, kindThresholds, quarters, ...rest }) =>
      defined({
        ...rest,
        degradation: degradation(rest.trip, quarters),
        cooldownByKind: onlyAlive(cooldownByKind, rest.outcomes),
        kindThresholds: onlyAlive(kindThresholds, rest.outcomes)
      })
    )
}
