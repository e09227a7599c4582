/**
 * Circuit breakers, fallback walks and what goes with them as pure state machines, without a dependency.
 *
 * @since 0.1.0
 */
export * as Breaker from "./Breaker.js"
export * as Guard from "./Guard.js"
export * as Policy from "./Policy.js"
export * as Snapshot from "./Snapshot.js"
export * as Walk from "./Walk.js"
