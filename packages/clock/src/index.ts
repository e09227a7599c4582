/**
 * @since 0.1.0
 */
export * as FaultyClock from "./FaultyClock.js"

/**
 * @since 0.1.0
 */
export * as LiveClock from "./LiveClock.js"

/**
 * @since 0.1.0
 */
export * as VirtualClock from "./VirtualClock.js"
