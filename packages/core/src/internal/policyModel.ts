/**
 * How a reported failure is taken (SEMANTICS P4).
 *
 * @since 0.1.0
 * @category models
 */
export type Taken = "failure" | "ignored" | "success"

/**
 * What a success does to a streak (SEMANTICS P1).
 *
 * @since 0.1.0
 * @category models
 */
export type OnSuccess = "reset" | { readonly decayBy: number }

/**
 * The streak rule (SEMANTICS P1).
 *
 * @since 0.1.0
 * @category models
 */
export interface ConsecutiveRule {
  /** Trips when the streak reaches this count. */
  readonly failureThreshold: number
  readonly onSuccess: OnSuccess
}

/**
 * The rate rule (SEMANTICS P1).
 *
 * @since 0.1.0
 * @category models
 */
export interface RollingRule {
  /** ms; a whole multiple of `bucketPeriod`, at most 1 000 buckets. */
  readonly window: number
  /** ms */
  readonly bucketPeriod: number
  readonly minSamples: number
  /** In (0, 1]. */
  readonly failureRateThreshold: number
  /** ms; comes together with `slowCallRateThreshold`. */
  readonly slowCallDuration?: number
  /** In (0, 1]. */
  readonly slowCallRateThreshold?: number
}

/**
 * Trips on failures in a row.
 *
 * @since 0.1.0
 * @category models
 */
export interface Consecutive extends ConsecutiveRule {
  readonly _tag: "Consecutive"
}

/**
 * Trips on the share of failures, or of slow calls, in a rolling window.
 *
 * @since 0.1.0
 * @category models
 */
export interface Rolling extends RollingRule {
  readonly _tag: "Rolling"
}

/**
 * Both rules are kept; either trips.
 *
 * @since 0.1.0
 * @category models
 */
export interface AnyOf {
  readonly _tag: "AnyOf"
  readonly consecutive: ConsecutiveRule
  readonly rolling: RollingRule
}

/**
 * When a breaker opens (SEMANTICS P1).
 *
 * @since 0.1.0
 * @category models
 */
export type Trip = Consecutive | Rolling | AnyOf

/**
 * In the trip rule's own unit: a count under Consecutive, a failure rate under Rolling and AnyOf (SEMANTICS D1).
 *
 * @since 0.1.0
 * @category models
 */
export interface Degradation {
  readonly threshold: number
  readonly recoverAt: number
}

/**
 * How long an opening lasts (SEMANTICS C1 to C5).
 *
 * @since 0.1.0
 * @category models
 */
export interface Cooldown {
  /** ms */
  readonly base: number
  readonly multiplier: number
  readonly maxMultiplier: number
  readonly graceOpenings: number
  /** In [0, 1]; only lengthens. */
  readonly jitter: number
  readonly honorRetryAfter: boolean
  /** ms */
  readonly maxRetryAfter: number
  /** ms */
  readonly resetAfter: number
}

/**
 * SEMANTICS P3.
 *
 * @since 0.1.0
 * @category models
 */
export interface KindThreshold {
  readonly threshold: number
  /** ms; absent: no time limit, or the rolling window under Rolling. */
  readonly window?: number
  readonly immediateOpen: boolean
}

/**
 * How a breaker recovers (SEMANTICS A4, A5, P5).
 *
 * @since 0.1.0
 * @category models
 */
export interface HalfOpenRule {
  readonly maxProbes: number
  readonly successThreshold: number
  /** ms; the lease of a probe. */
  readonly probeTimeout: number
}

/**
 * The data of a policy.
 *
 * @since 0.1.0
 * @category models
 */
export interface PolicyFields {
  readonly trip: Trip
  readonly degradation?: Degradation
  readonly cooldown: Cooldown
  /** ms by kind */
  readonly cooldownByKind: Readonly<Record<string, number>>
  readonly kindThresholds: Readonly<Record<string, KindThreshold>>
  readonly halfOpen: HalfOpenRule
  /** By kind, status (`"408"`) or class (`"4xx"`). Only what the policy names; the defaults of P4 apply beside it. */
  readonly outcomes: Readonly<Record<string, Taken>>
  readonly ignoredAs: "none" | "success"
}

declare const Decoded: unique symbol

/**
 * A checked policy with every default filled in. It is plain data: printing it as JSON and decoding that gives it back.
 * Only `Policy.decode`, `Policy.make` and the presets make one, so the machine never meets a bad number.
 *
 * @since 0.1.0
 * @category models
 */
export interface Policy extends PolicyFields {
  readonly [Decoded]: true
}

/** To be called once the fields are checked. */
export const checked = (fields: PolicyFields): Policy => fields as Policy
