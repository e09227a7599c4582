/**
 * @since 0.1.0
 */
export * as Cases from "./Cases.js"
/**
 * @since 0.1.0
 */
export * as Classifier from "./Classifier.js"
/**
 * @since 0.1.0
 */
export * as Failure from "./Failure.js"
/**
 * @since 0.1.0
 */
export * as ProviderKind from "./ProviderKind.js"
/**
 * @since 0.1.0
 */
export * as Redact from "./Redact.js"
/**
 * @since 0.1.0
 */
export * as RetryAfter from "./RetryAfter.js"
/**
 * @since 0.1.0
 */
export * as StreamClassifier from "./StreamClassifier.js"
/**
 * @since 0.1.0
 */
export * as Tables from "./Tables.js"
/**
 * @since 0.1.0
 */
export * as Thrown from "./Thrown.js"
