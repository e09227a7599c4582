/**
 * The trace format of SEMANTICS, its decoder and its runner. They live in `core`, so that the command line can reach
 * them; here they stand beside the rest of what a test needs.
 *
 * @since 0.1.0
 */

/**
 * Everything of `@switchgear/core/Trace`.
 *
 * @since 0.1.0
 * @category re-exports
 */
export * from "@switchgear/core/Trace"
