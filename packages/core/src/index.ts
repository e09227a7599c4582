/**
 * Circuit breakers, fallback walks and what goes with them as pure state machines, without a dependency.
 *
 * @since 0.1.0
 */
export * as Breaker from "./Breaker.js"
export * as Claim from "./Claim.js"
export * as Dedupe from "./Dedupe.js"
export * as Fallback from "./Fallback.js"
export * as FallbackBudget from "./FallbackBudget.js"
export * as Guard from "./Guard.js"
export * as Health from "./Health.js"
export * as Policy from "./Policy.js"
export * as Snapshot from "./Snapshot.js"
export * as Trace from "./Trace.js"
export * as Walk from "./Walk.js"
