/**
 * Tokens of a call that was served, and what they cost.
 *
 * @since 0.1.0
 */

/**
 * @since 0.1.0
 * @category models
 */
export interface Tokens {
  readonly input: number
  readonly output: number
  /** The answer did not say: counted by its frames, or its length. */
  readonly estimated: boolean
  /** USD; absent if the model has no price. */
  readonly cost?: number | undefined
}
