/**
 * @since 0.1.0
 */
export * as Describe from "./Describe.js"
