/**
 * @since 0.1.0
 */
export * as Config from "./Config.js"
/**
 * @since 0.1.0
 */
export * as Gateway from "./Gateway.js"
/**
 * @since 0.1.0
 */
export * as JsonPlace from "./JsonPlace.js"
