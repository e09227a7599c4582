/** Mulberry32: the same numbers for the same seed. */
export const prng = (seed: number) => {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
  const int = (below: number): number => Math.floor(next() * below)
  const chance = (share: number): boolean => next() < share
  return { next, int, chance }
}
