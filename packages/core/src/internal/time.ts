const MAX = Number.MAX_SAFE_INTEGER

/** SEMANTICS T2, and totality: a time that is no number is no time at all, a fraction belongs to the ms it is in. */
export const advance = (at: number, now: number): number => (now > at ? (now < MAX ? Math.floor(now) : MAX) : at)

/** The first time a machine sees. */
export const origin = (now: number): number => advance(-MAX, now)

/** SEMANTICS T4: sums saturate. */
export const plus = (a: number, b: number): number => {
  const sum = a + b
  return sum > MAX ? MAX : Math.max(sum, -MAX)
}

/** What is left from `now` to `until`, never negative. */
export const remaining = (until: number, now: number): number => (until > now ? plus(until, -now) : 0)

/** A duration somebody measured or was told, or `fallback` where it is none. */
export const duration = (ms: number | undefined, fallback: number): number =>
  ms !== undefined && ms >= 0 && ms < Number.POSITIVE_INFINITY ? ms : fallback
