/**
 * @since 0.1.0
 */
export * as CircuitBreaker from "./CircuitBreaker.js"
export * as CircuitBreakerRegistry from "./CircuitBreakerRegistry.js"
export * as CircuitBreakerStore from "./CircuitBreakerStore.js"
export * as CircuitOpen from "./CircuitOpen.js"
export * as Metrics from "./Metrics.js"
export * as PolicySchema from "./PolicySchema.js"
export * as RegistryEvent from "./RegistryEvent.js"
export * as Transition from "./Transition.js"
