/**
 * @since 0.1.0
 */
export * as Failure from "./Failure.js"
