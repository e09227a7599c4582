/**
 * The fallback budget as a pure rolling counter (ROUTING F13): over the last 10 s hops may not exceed a share of the
 * calls' first attempts, but 20 are always allowed. So a dead primary does not flood its backup.
 *
 * @since 0.1.0
 */

/** ms of one bucket; the current one and the 9 before it count. */
const period = 1_000
const buckets = 10

/** Hops that need no share. */
const free = 20

interface Bucket {
  /** `floor(now / period)` */
  readonly index: number
  readonly firsts: number
  readonly hops: number
}

/**
 * Plain data. `firsts` and `hops` are totals over `current` and `sealed`.
 *
 * @since 0.1.0
 * @category models
 */
export interface State {
  readonly current: Bucket
  /** Buckets before the current one that hold something, oldest first. */
  readonly sealed: ReadonlyArray<Bucket>
  readonly firsts: number
  readonly hops: number
}

/**
 * Nothing counted. `now` in ms from any fixed origin.
 *
 * @example
 * ```ts
 * import * as FallbackBudget from "@switchgear/core/FallbackBudget"
 * import assert from "node:assert"
 *
 * assert.strictEqual(FallbackBudget.admits(0.5, FallbackBudget.initial(0), 0), true)
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const initial = (now: number): State => ({
  current: { index: indexOf(now), firsts: 0, hops: 0 },
  sealed: [],
  firsts: 0,
  hops: 0
})

/**
 * Counts the first attempt of a call, whether its circuit was open or not.
 *
 * @example
 * ```ts
 * import * as FallbackBudget from "@switchgear/core/FallbackBudget"
 * import assert from "node:assert"
 *
 * const state = FallbackBudget.first(FallbackBudget.initial(0), 100)
 * assert.strictEqual(state.firsts, 1)
 * ```
 *
 * @since 0.1.0
 * @category counting
 */
export const first = (state: State, now: number): State => count(roll(state, now), 1, 0)

/**
 * Counts a hop that is really called.
 *
 * @example
 * ```ts
 * import * as FallbackBudget from "@switchgear/core/FallbackBudget"
 * import assert from "node:assert"
 *
 * const state = FallbackBudget.hop(FallbackBudget.initial(0), 100)
 * assert.strictEqual(state.hops, 1)
 * ```
 *
 * @since 0.1.0
 * @category counting
 */
export const hop = (state: State, now: number): State => count(roll(state, now), 0, 1)

/**
 * Whether one more hop fits. `share` in [0, 1]; 1 is off: everything fits.
 *
 * @example
 * ```ts
 * import * as FallbackBudget from "@switchgear/core/FallbackBudget"
 * import assert from "node:assert"
 *
 * let state = FallbackBudget.initial(0)
 * for (let call = 0; call < 100; call++) {
 *   state = FallbackBudget.first(state, call)
 *   if (FallbackBudget.admits(0.5, state, call)) state = FallbackBudget.hop(state, call)
 * }
 * assert.strictEqual(state.hops, 50)
 * ```
 *
 * @since 0.1.0
 * @category counting
 */
export const admits = (share: number, state: State, now: number): boolean => {
  if (share >= 1) return true
  const { firsts, hops } = roll(state, now)
  return hops + 1 <= Math.max(free, share * firsts)
}

const indexOf = (now: number): number => (Number.isFinite(now) ? Math.floor(now / period) : 0)

const count = (state: State, firsts: number, hops: number): State => ({
  current: {
    index: state.current.index,
    firsts: state.current.firsts + firsts,
    hops: state.current.hops + hops
  },
  sealed: state.sealed,
  firsts: state.firsts + firsts,
  hops: state.hops + hops
})

/** Moves the window up to `now`; time that runs backwards stands still. */
const roll = (state: State, now: number): State => {
  const index = indexOf(now)
  if (index <= state.current.index) return state
  const sealed: Array<Bucket> = []
  let firsts = 0
  let hops = 0
  for (const bucket of [...state.sealed, state.current]) {
    if (bucket.index <= index - buckets || (bucket.firsts === 0 && bucket.hops === 0)) continue
    sealed.push(bucket)
    firsts += bucket.firsts
    hops += bucket.hops
  }
  return { current: { index, firsts: 0, hops: 0 }, sealed, firsts, hops }
}
