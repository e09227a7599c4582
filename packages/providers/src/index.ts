/**
 * @since 0.1.0
 */
export * as Provider from "./Provider.js"
