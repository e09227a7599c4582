const second = 1_000
const minute = 60 * second
const hour = 60 * minute
const day = 24 * hour

const steps = [
  ...[1, 2, 5, 10, 15, 30].map((step) => step * second),
  ...[1, 2, 3, 5, 10, 15, 30].map((step) => step * minute),
  ...[1, 2, 3, 6, 12].map((step) => step * hour)
]

/** Times of a run to write below an axis, at most about `most` of them. */
export const timeTicks = (durationMs: number, most: number): ReadonlyArray<number> => {
  const step = steps.find((step) => durationMs / step <= most) ?? Math.ceil(durationMs / most / day) * day
  return Array.from({ length: Math.floor(durationMs / step) + 1 }, (_, index) => index * step)
}

/** The next 1, 2 or 5 times a power of ten; 1 for nothing at all. */
export const roundUp = (value: number): number => {
  if (value <= 0) return 1
  const power = 10 ** Math.floor(Math.log10(value))
  const factor = [1, 2, 5, 10].find((factor) => factor * power >= value) ?? 10
  return Number((factor * power).toPrecision(6))
}
