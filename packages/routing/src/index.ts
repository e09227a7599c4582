/**
 * Fallback routing for LLM calls: one request over several targets, each behind its circuit breakers, in a pipeline of
 * stages.
 *
 * @since 0.1.0
 */
export * as Access from "./Access.js"
export * as Attempt from "./Attempt.js"
export * as Budget from "./Budget.js"
export * as Cache from "./Cache.js"
export * as Call from "./Call.js"
export * as CallError from "./CallError.js"
export * as Health from "./Health.js"
export * as Idempotency from "./Idempotency.js"
export * as IdempotencyStore from "./IdempotencyStore.js"
export * as ModelName from "./ModelName.js"
export * as ModelPolicies from "./ModelPolicies.js"
export * as Pipeline from "./Pipeline.js"
export * as Presets from "./Presets.js"
export * as Rejected from "./Rejected.js"
export * as RouteError from "./RouteError.js"
export * as Router from "./Router.js"
export * as Stage from "./Stage.js"
export * as StoreError from "./StoreError.js"
export * as Telemetry from "./Telemetry.js"
export * as TelemetryStore from "./TelemetryStore.js"
export * as Tokens from "./Tokens.js"
export * as Usage from "./Usage.js"
