/**
 * Fallback routing for LLM calls: one request over several targets, each behind its circuit breakers.
 *
 * @since 0.1.0
 */
export * as Attempt from "./Attempt.js"
export * as ModelName from "./ModelName.js"
export * as RouteError from "./RouteError.js"
export * as Router from "./Router.js"
