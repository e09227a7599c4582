/**
 * Chance by name: a number in [0, 1) that depends on the seed, on what it is for, and on whose it is, but not on how many
 * were drawn before. So two policies meet the same calls with the same fates, and what differs is theirs.
 */
export type Chance = (purpose: number, id: number) => number

/** What chance decides. Providers take their own from {@link purposesPerProvider} on. */
export const purpose = { arrival: 0, model: 1, replica: 2, abort: 3, abortAfter: 4, backoff: 5, place: 6 } as const

export const providerPurpose = { latency: 0, fails: 1, error: 2, errorLatency: 3, host: 4, only: 5, noise: 6 } as const

const perProvider = 16
const firstProvider = 16

export const ofProvider = (index: number, what: number): number => firstProvider + index * perProvider + what

const mix = (hash: number): number => {
  let h = hash
  h = Math.imul(h ^ (h >>> 16), 0x7feb352d)
  h = Math.imul(h ^ (h >>> 15), 0x846ca68b)
  return (h ^ (h >>> 16)) >>> 0
}

const golden = 0x9e3779b9

export const chance = (seed: number): Chance => {
  const high = mix((Math.floor(seed / 0x1_0000_0000) ^ 0x51ed270b) >>> 0)
  const root = mix((seed ^ high) >>> 0)
  return (purpose, id) => {
    const key = mix((root + Math.imul(purpose + 1, golden)) >>> 0)
    const own = mix((key ^ Math.imul(id + 1, 0x85ebca6b)) >>> 0)
    const more = mix((own ^ (key >>> 3) ^ Math.floor(id / 0x1_0000_0000)) >>> 0)
    // 53 bits
    return ((own >>> 5) * 0x400_0000 + (more >>> 6)) / 0x20_0000_0000_0000
  }
}

/** The standard normal distribution's quantile (Acklam; relative error below 1.2e-9). */
export const normal = (p: number): number => {
  const u = Math.min(Math.max(p, 1e-12), 1 - 1e-12)
  if (u < 0.02425) return tail(Math.sqrt(-2 * Math.log(u)))
  if (u > 1 - 0.02425) return -tail(Math.sqrt(-2 * Math.log(1 - u)))
  const q = u - 0.5
  const r = q * q
  const above =
    ((((-39.69683028665376 * r + 220.9460984245205) * r - 275.9285104469687) * r + 138.357751867269) * r -
      30.66479806614716) *
      r +
    2.506628277459239
  const below =
    ((((-54.47609879822406 * r + 161.5858368580409) * r - 155.6989798598866) * r + 66.80131188771972) * r -
      13.28068155288572) *
      r +
    1
  return (above * q) / below
}

const tail = (q: number): number => {
  const above =
    ((((-0.007784894002430293 * q - 0.3223964580411365) * q - 2.400758277161838) * q - 2.549732539343734) * q +
      4.374664141464968) *
      q +
    2.938163982698783
  const below =
    (((0.007784695709041462 * q + 0.3224671290700398) * q + 2.445134137142996) * q + 3.754408661907416) * q + 1
  return above / below
}
