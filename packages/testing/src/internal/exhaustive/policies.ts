import * as Policy from "@switchgear/core/Policy"
import type * as Trace from "@switchgear/core/Trace"

type Report = Trace.Step extends infer S
  ? S extends { readonly do: "success" | "failure" | "ignored" | "released" }
    ? Omit<S, "at" | "call" | "expect">
    : never
  : never

/** What calls report, whether a person commands, and whether the clock steps back. */
export interface Alphabet {
  readonly reports: ReadonlyArray<Report>
  readonly commands: boolean
  /** Whether the clock may also step back by this much, ms. */
  readonly back?: number
}

/** Where histories begin, and how many actions they have. */
export interface Start {
  readonly name: string
  readonly prefix: ReadonlyArray<Trace.Step>
  readonly depth: number
}

/** A policy with an alphabet that reaches all of it. */
export interface ExhaustiveCase {
  readonly name: string
  readonly policy: Policy.Policy
  readonly alphabet: Alphabet
  readonly starts: ReadonlyArray<Start>
}

/** `count` reports of one call: a Closed permit has no identity, so it may report them all (SEMANTICS R2). */
const reporting = (count: number, report: Report): ReadonlyArray<Trace.Step> => [
  { at: 0, do: "acquire", call: "a" },
  ...Array.from({ length: count }, (): Trace.Step => ({ ...report, at: 0, call: "a" }))
]

const fresh: Start = { name: "fresh", prefix: [], depth: 5 }

/** One report before it opens; Open; and HalfOpen with a probe out, while the call that opened it may still report. */
const later = (failures: number, until: number, report: Report = { do: "failure" }): ReadonlyArray<Start> => [
  fresh,
  ...(failures > 1 ? [{ name: "about to open", prefix: reporting(failures - 1, report), depth: 4 }] : []),
  { name: "open", prefix: reporting(failures, report), depth: 4 },
  {
    name: "half-open",
    prefix: [...reporting(failures, report), { at: until, do: "acquire", call: "b" }],
    depth: 4
  }
]

/** Failures outnumbered by a bucket of successes that is about to leave (SEMANTICS P2). */
const busy: Start = {
  name: "after a busy bucket",
  prefix: [
    ...reporting(4, { do: "success" }),
    { at: 10, do: "failure", call: "a" },
    { at: 10, do: "failure", call: "a" }
  ],
  depth: 4
}

/** A rate that degrades, from `successes` and one failure: what is left is silence (SEMANTICS D2). */
const degraded = (successes: number): Start => ({
  name: "degraded",
  prefix: [...reporting(successes, { do: "success" }), { at: 0, do: "failure", call: "a" }],
  depth: 4
})

/** A rate that time alone brings down: its failures leave with their bucket, so that the next failure finds it low (D1). */
const degradedAndAged: Start = {
  name: "degraded, its failures about to leave",
  prefix: [
    ...reporting(1, { do: "success" }),
    ...reporting(3, { do: "failure" }).slice(1),
    { at: 10, do: "success", call: "a", latency: 0 },
    { at: 10, do: "success", call: "a", latency: 0 }
  ],
  depth: 4
}

const outcomes: ReadonlyArray<Report> = [{ do: "success" }, { do: "failure" }, { do: "ignored" }, { do: "released" }]

const ofKind = (kind: string, retryAfter?: number): Report =>
  retryAfter === undefined ? { do: "failure", kind } : { do: "failure", kind, retryAfter }

/** Built when asked for: a policy that a changed `core` refuses must fail the check, not the import. */
export const cases: () => ReadonlyArray<ExhaustiveCase> = () => [
  {
    name: "consecutive, one failure, escalating",
    policy: Policy.make({
      trip: { _tag: "Consecutive", failureThreshold: 1 },
      cooldown: { base: 10, multiplier: 2, maxMultiplier: 3, graceOpenings: 1, resetAfter: 4 },
      halfOpen: { probeTimeout: 5 }
    }),
    alphabet: { reports: outcomes, commands: true },
    starts: later(1, 10)
  },
  {
    name: "consecutive, decaying, degraded, two probes and two successes",
    policy: Policy.make({
      trip: { _tag: "Consecutive", failureThreshold: 3, onSuccess: { decayBy: 1 } },
      degradation: { threshold: 2, recoverAt: 0 },
      cooldown: { base: 10 },
      halfOpen: { maxProbes: 2, successThreshold: 2, probeTimeout: 5 }
    }),
    alphabet: { reports: outcomes, commands: true },
    starts: later(3, 10)
  },
  {
    name: "consecutive, kinds with and without a window, hints",
    policy: Policy.make({
      trip: { _tag: "Consecutive", failureThreshold: 3 },
      cooldown: { base: 10, honorRetryAfter: true, maxRetryAfter: 30 },
      cooldownByKind: { rate_limit: 4 },
      kindThresholds: { rate_limit: { threshold: 2, window: 6 }, timeout: { threshold: 2 } },
      halfOpen: { probeTimeout: 5 }
    }),
    alphabet: { reports: [...outcomes, ofKind("rate_limit", 20), ofKind("timeout", 12)], commands: false, back: 3 },
    starts: later(3, 10)
  },
  {
    name: "rolling, two buckets",
    policy: Policy.make({
      trip: { _tag: "Rolling", window: 20, bucketPeriod: 10, minSamples: 2, failureRateThreshold: 0.5 },
      cooldown: { base: 5, multiplier: 2 },
      halfOpen: { probeTimeout: 5 }
    }),
    alphabet: { reports: outcomes, commands: true },
    starts: [...later(2, 5), busy]
  },
  {
    name: "rolling, slow calls, degraded",
    policy: Policy.make({
      trip: {
        _tag: "Rolling",
        window: 20,
        bucketPeriod: 10,
        minSamples: 2,
        failureRateThreshold: 1,
        slowCallDuration: 8,
        slowCallRateThreshold: 0.6
      },
      degradation: { threshold: 0.5, recoverAt: 0.4 },
      cooldown: { base: 5 },
      halfOpen: { probeTimeout: 5 }
    }),
    alphabet: { reports: [...outcomes, { do: "success", latency: 8 }], commands: false, back: 3 },
    starts: [...later(2, 5), degraded(1), degradedAndAged]
  },
  {
    name: "any of both, degraded",
    policy: Policy.make({
      trip: {
        _tag: "AnyOf",
        consecutive: { failureThreshold: 2 },
        rolling: { window: 20, bucketPeriod: 10, minSamples: 3, failureRateThreshold: 0.5 }
      },
      degradation: { threshold: 0.3 },
      cooldown: { base: 5 },
      halfOpen: { maxProbes: 2, probeTimeout: 5 }
    }),
    alphabet: { reports: outcomes, commands: true },
    starts: [...later(2, 5), degraded(2)]
  },
  {
    name: "rolling, kinds, ignored as success",
    policy: Policy.make({
      trip: { _tag: "Rolling", window: 10, bucketPeriod: 5, minSamples: 3, failureRateThreshold: 0.75 },
      kindThresholds: { timeout: { threshold: 2 }, quota_exhausted: { immediateOpen: true } },
      cooldownByKind: { quota_exhausted: 30 },
      outcomes: { auth: "failure", "4xx": "ignored", "404": "success", "408": "failure" },
      ignoredAs: "success",
      cooldown: { base: 5 },
      halfOpen: { probeTimeout: 5 }
    }),
    alphabet: {
      reports: [
        ...outcomes,
        ofKind("timeout"),
        ofKind("quota_exhausted"),
        { do: "failure", status: 404 },
        { do: "failure", status: 408 }
      ],
      commands: false
    },
    starts: later(3, 5)
  }
]
