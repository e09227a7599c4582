/**
 * What a breaker is configured with: when it trips, how long it stays open, what counts. Checked once, then plain data.
 *
 * @since 0.1.0
 */
import { type Fault, Reader } from "./internal/decode.js"
import * as read from "./internal/policyDecode.js"
import { checked, type OnSuccess, type Policy, type Taken } from "./internal/policyModel.js"

export type { Fault } from "./internal/decode.js"
export type {
  AnyOf,
  Consecutive,
  ConsecutiveRule,
  Cooldown,
  Degradation,
  HalfOpenRule,
  KindThreshold,
  OnSuccess,
  Policy,
  Rolling,
  RollingRule,
  Taken,
  Trip
} from "./internal/policyModel.js"

/**
 * Whole ms, or one of Effect's duration strings: `"30 seconds"`, `"1.5 minutes"`, `"500 millis"`.
 *
 * @since 0.1.0
 * @category models
 */
export type DurationInput = number | string

/**
 * What a policy may set beside its trip rule. Everything is optional.
 *
 * | field | default |
 * | --- | --- |
 * | `degradation` | none; `recoverAt` is `threshold - 1` for a count, half the threshold for a rate |
 * | `cooldown` | base 30 s, multiplier 1, maxMultiplier 16, graceOpenings 0, jitter 0, honorRetryAfter false, maxRetryAfter 1 h, resetAfter 0 |
 * | `cooldownByKind`, `kindThresholds` | none |
 * | `halfOpen` | maxProbes 1, successThreshold 1, probeTimeout 2 min |
 * | `outcomes` | `auth`, `model_unavailable`, `context_length`, `content_filter`, `client_fault` are ignored, every other kind is a failure |
 * | `ignoredAs` | `"none"` |
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  readonly degradation?: { readonly threshold: number; readonly recoverAt?: number | undefined } | undefined
  readonly cooldown?:
    | {
        readonly base?: DurationInput | undefined
        readonly multiplier?: number | undefined
        readonly maxMultiplier?: number | undefined
        readonly graceOpenings?: number | undefined
        readonly jitter?: number | undefined
        readonly honorRetryAfter?: boolean | undefined
        readonly maxRetryAfter?: DurationInput | undefined
        readonly resetAfter?: DurationInput | undefined
      }
    | undefined
  readonly cooldownByKind?: Readonly<Record<string, DurationInput>> | undefined
  readonly kindThresholds?:
    | Readonly<
        Record<
          string,
          {
            readonly threshold?: number | undefined
            readonly window?: DurationInput | undefined
            readonly immediateOpen?: boolean | undefined
          }
        >
      >
    | undefined
  readonly halfOpen?:
    | {
        readonly maxProbes?: number | undefined
        readonly successThreshold?: number | undefined
        readonly probeTimeout?: DurationInput | undefined
      }
    | undefined
  readonly outcomes?: Readonly<Record<string, Taken>> | undefined
  readonly ignoredAs?: "none" | "success" | undefined
}

/**
 * Opens after so many failures in a row. A success sets the streak to 0, or takes `decayBy` from it (SEMANTICS P1).
 *
 * @since 0.1.0
 * @category models
 */
export interface ConsecutiveInput {
  readonly failureThreshold: number
  readonly onSuccess?: OnSuccess | undefined
}

/**
 * Opens when, of at least `minSamples` outcomes in the window, the share of failures (or of slow calls) reaches its
 * threshold (SEMANTICS P1).
 *
 * @since 0.1.0
 * @category models
 */
export interface RollingInput {
  /** A whole multiple of `bucketPeriod`, at most 1 000 buckets. */
  readonly window: DurationInput
  readonly bucketPeriod: DurationInput
  readonly minSamples: number
  /** In (0, 1]. */
  readonly failureRateThreshold: number
  readonly slowCallDuration?: DurationInput | undefined
  /** In (0, 1]; comes together with `slowCallDuration`. */
  readonly slowCallRateThreshold?: number | undefined
}

/**
 * A policy as one writes it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Input extends Options {
  readonly trip:
    | ({ readonly _tag: "Consecutive" } & ConsecutiveInput)
    | ({ readonly _tag: "Rolling" } & RollingInput)
    | { readonly _tag: "AnyOf"; readonly consecutive: ConsecutiveInput; readonly rolling: RollingInput }
}

/**
 * What decoding gives: a policy, or everything that is wrong with the input.
 *
 * @since 0.1.0
 * @category models
 */
export type Decoded =
  | { readonly _tag: "Success"; readonly policy: Policy }
  | { readonly _tag: "Failure"; readonly faults: ReadonlyArray<Fault> }

/**
 * Thrown by the constructors, whose input the program itself wrote. `faults` holds every fault.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Policy from "@switchgear/core/Policy"
 *
 * assert.throws(
 *   () => Policy.consecutive({ failureThreshold: 0 }),
 *   (error) => error instanceof Policy.PolicyError && error.faults[0]?.path === "trip.failureThreshold"
 * )
 * ```
 *
 * @since 0.1.0
 * @category errors
 */
export class PolicyError extends Error {
  readonly _tag = "PolicyError"
  override readonly name = "PolicyError"

  constructor(readonly faults: ReadonlyArray<Fault>) {
    super(`not a policy: ${faults.map((fault) => `${fault.path || "it"} ${fault.message}`).join("; ")}`)
  }
}

/**
 * Checks a policy and fills in its defaults, or names every fault at once with its path and the fix (SEMANTICS V). Total.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Policy from "@switchgear/core/Policy"
 *
 * const decoded = Policy.decode({ trip: { _tag: "Consecutive", failureThreshold: 0 }, cooldown: { base: -1 } })
 * assert.deepStrictEqual(
 *   decoded._tag === "Failure" ? decoded.faults.map((fault) => fault.path) : [],
 *   ["trip.failureThreshold", "cooldown.base"]
 * )
 * ```
 *
 * @since 0.1.0
 * @category decoding
 */
export const decode = (input: unknown): Decoded => {
  const faults: Array<Fault> = []
  const reader = Reader.of(input, "", faults, [
    "trip",
    "degradation",
    "cooldown",
    "cooldownByKind",
    "kindThresholds",
    "halfOpen",
    "outcomes",
    "ignoredAs"
  ])
  if (reader === undefined) return { _tag: "Failure", faults }
  const trip = read.trip(reader)
  const degradation = read.degradation(reader)
  const cooldown = read.cooldown(reader)
  const outcomes = read.outcomes(reader)
  const kindThresholds = read.kindThresholds(reader, trip, outcomes)
  const cooldownByKind = read.cooldownByKind(reader, outcomes)
  const halfOpen = read.halfOpen(reader)
  const ignoredAs = reader.oneOf("ignoredAs", ["none", "success"], "none")
  if (
    faults.length > 0 ||
    trip === undefined ||
    cooldown === undefined ||
    halfOpen === undefined ||
    ignoredAs === undefined
  ) {
    return { _tag: "Failure", faults }
  }
  const policy = checked({
    trip,
    ...(degradation === undefined ? {} : { degradation }),
    cooldown,
    cooldownByKind,
    kindThresholds,
    halfOpen,
    outcomes,
    ignoredAs
  })
  return { _tag: "Success", policy }
}

/**
 * A policy written in code. Throws a `PolicyError` with every fault; use `decode` for what a user wrote.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Policy from "@switchgear/core/Policy"
 *
 * const policy = Policy.make({ trip: { _tag: "Consecutive", failureThreshold: 3 }, cooldown: { base: "1 minute" } })
 * assert.strictEqual(policy.cooldown.base, 60_000)
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (input: Input): Policy => {
  const decoded = decode(input)
  if (decoded._tag === "Failure") throw new PolicyError(decoded.faults)
  return decoded.policy
}

/**
 * Opens after so many failures in a row. Throws a `PolicyError` where the numbers make no policy.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Policy from "@switchgear/core/Policy"
 *
 * const policy = Policy.consecutive({ failureThreshold: 5, cooldown: { base: "10 seconds" } })
 * assert.deepStrictEqual(policy.trip, { _tag: "Consecutive", failureThreshold: 5, onSuccess: "reset" })
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const consecutive = (options: ConsecutiveInput & Options): Policy => {
  const { failureThreshold, onSuccess, ...rest } = options
  return make({ ...rest, trip: { _tag: "Consecutive", failureThreshold, onSuccess } })
}

/**
 * Opens on the share of failures, or of slow calls, in a rolling window. Throws a `PolicyError` where the numbers make no
 * policy.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Policy from "@switchgear/core/Policy"
 *
 * const policy = Policy.rolling({
 *   window: "30 seconds",
 *   bucketPeriod: "3 seconds",
 *   minSamples: 10,
 *   failureRateThreshold: 0.5
 * })
 * assert.strictEqual(policy.trip._tag, "Rolling")
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const rolling = (options: RollingInput & Options): Policy => {
  const { bucketPeriod, failureRateThreshold, minSamples, slowCallDuration, slowCallRateThreshold, window, ...rest } =
    options
  return make({
    ...rest,
    trip: {
      _tag: "Rolling",
      window,
      bucketPeriod,
      minSamples,
      failureRateThreshold,
      slowCallDuration,
      slowCallRateThreshold
    }
  })
}

/**
 * Keeps both rules; either opens. A rolling rule alone cannot open on little traffic, a consecutive one alone not on a
 * brown-out. Throws a `PolicyError` where the numbers make no policy.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Policy from "@switchgear/core/Policy"
 *
 * const policy = Policy.anyOf({
 *   consecutive: { failureThreshold: 5 },
 *   rolling: { window: "30 seconds", bucketPeriod: "3 seconds", minSamples: 10, failureRateThreshold: 0.5 }
 * })
 * assert.strictEqual(policy.trip._tag, "AnyOf")
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const anyOf = (
  options: { readonly consecutive: ConsecutiveInput; readonly rolling: RollingInput } & Options
): Policy => {
  const { consecutive, rolling, ...rest } = options
  return make({ ...rest, trip: { _tag: "AnyOf", consecutive, rolling } })
}

const seedOutcomes = { "429": "failure", "4xx": "ignored" } as const
const thirtySeconds = { window: "30 seconds", bucketPeriod: "3 seconds", minSamples: 10, failureRateThreshold: 0.5 }
const kindCooldowns = { rate_limit: "1 minute", quota_exhausted: "1 hour" }

/**
 * The systems this design learnt from, and `hosted`, which is recommended for providers on the internet.
 *
 * | preset | trip | cooldown |
 * | --- | --- | --- |
 * | `ibex.selfHosted` | 5 in a row; 429 fails, other 4xx are ignored as successes | 30 s |
 * | `ibex.cloud` | rolling 30 s / 3 s, 10 samples, half of them; 429 fails, other 4xx are ignored | 30 s |
 * | `nrLlm` | 5 in a row; a probe may take 30 s | 30 s |
 * | `omniRoute.article` | 5, a success takes 1 away; degraded at 3; rules by kind | 30 s, doubling to 16x |
 * | `omniRoute.generic` | 5, a success takes 1 away; degraded at 3 | 30 s, doubling to 16x after 3 openings |
 * | `omniRoute.oauth` | 8, a success takes 1 away; degraded at 5 | 60 s, doubling to 8x after 2 openings |
 * | `omniRoute.apiKey` | 12, a success takes 1 away; degraded at 7 | 30 s, doubling to 4x after 3 openings |
 * | `hosted` | 5 in a row, or rolling 30 s / 3 s, 10 samples, half of them; degraded at a quarter | 30 s, doubling to 16x, jitter 0.2, Retry-After honoured |
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Policy from "@switchgear/core/Policy"
 *
 * assert.strictEqual(Policy.presets.nrLlm.halfOpen.probeTimeout, 30_000)
 * ```
 *
 * @since 0.1.0
 * @category presets
 */
export const presets: {
  readonly "ibex.selfHosted": Policy
  readonly "ibex.cloud": Policy
  readonly nrLlm: Policy
  readonly "omniRoute.article": Policy
  readonly "omniRoute.generic": Policy
  readonly "omniRoute.oauth": Policy
  readonly "omniRoute.apiKey": Policy
  readonly hosted: Policy
} = /*#__PURE__*/ (() => ({
  "ibex.selfHosted": consecutive({ failureThreshold: 5, outcomes: seedOutcomes, ignoredAs: "success" }),
  "ibex.cloud": rolling({ ...thirtySeconds, outcomes: seedOutcomes }),
  nrLlm: consecutive({ failureThreshold: 5, halfOpen: { probeTimeout: "30 seconds" } }),
  "omniRoute.article": consecutive({
    failureThreshold: 5,
    onSuccess: { decayBy: 1 },
    degradation: { threshold: 3 },
    cooldown: { multiplier: 2 },
    cooldownByKind: { quota_exhausted: "1 hour" },
    kindThresholds: {
      rate_limit: { threshold: 10, window: "1 minute" },
      quota_exhausted: { immediateOpen: true },
      timeout: { threshold: 8, window: "1 minute" },
      network_error: { threshold: 3 }
    }
  }),
  "omniRoute.generic": consecutive({
    failureThreshold: 5,
    onSuccess: { decayBy: 1 },
    degradation: { threshold: 3, recoverAt: 3 },
    cooldown: { graceOpenings: 3, multiplier: 2 },
    cooldownByKind: kindCooldowns
  }),
  "omniRoute.oauth": consecutive({
    failureThreshold: 8,
    onSuccess: { decayBy: 1 },
    degradation: { threshold: 5, recoverAt: 5 },
    cooldown: { base: "1 minute", graceOpenings: 2, multiplier: 2, maxMultiplier: 8 },
    cooldownByKind: kindCooldowns
  }),
  "omniRoute.apiKey": consecutive({
    failureThreshold: 12,
    onSuccess: { decayBy: 1 },
    degradation: { threshold: 7, recoverAt: 7 },
    cooldown: { graceOpenings: 3, multiplier: 2, maxMultiplier: 4 },
    cooldownByKind: kindCooldowns
  }),
  hosted: anyOf({
    consecutive: { failureThreshold: 5 },
    rolling: thirtySeconds,
    degradation: { threshold: 0.25 },
    cooldown: { multiplier: 2, jitter: 0.2, honorRetryAfter: true, resetAfter: "5 minutes" },
    cooldownByKind: { quota_exhausted: "1 hour" },
    kindThresholds: { quota_exhausted: { immediateOpen: true } },
    halfOpen: { successThreshold: 2 },
    outcomes: { auth: "failure" }
  })
}))()

/**
 * The recommended policy for providers on the internet; see `presets`.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Policy from "@switchgear/core/Policy"
 *
 * assert.strictEqual(Policy.hosted.cooldown.honorRetryAfter, true)
 * ```
 *
 * @since 0.1.0
 * @category presets
 */
export const hosted: Policy = presets.hosted
