/**
 * Arbitraries, invariants, a naive breaker, exhaustive checks and a scriptable upstream: what the tests of a program
 * that uses Switchgear can be built from.
 *
 * @since 0.1.0
 */

/**
 * @since 0.1.0
 */
export * as Arbitraries from "./Arbitraries.js"

/**
 * @since 0.1.0
 */
export * as Exhaustive from "./Exhaustive.js"

/**
 * @since 0.1.0
 */
export * as Invariants from "./Invariants.js"

/**
 * @since 0.1.0
 */
export * as LockStep from "./LockStep.js"

/**
 * @since 0.1.0
 */
export * as Machines from "./Machines.js"

/**
 * @since 0.1.0
 */
export * as NaiveBreaker from "./NaiveBreaker.js"

/**
 * @since 0.1.0
 */
export * as StoreLaws from "./StoreLaws.js"

/**
 * @since 0.1.0
 */
export * as Trace from "./Trace.js"

/**
 * @since 0.1.0
 */
export * as Upstream from "./Upstream.js"

/**
 * @since 0.1.0
 */
export * as WalkInvariants from "./WalkInvariants.js"
