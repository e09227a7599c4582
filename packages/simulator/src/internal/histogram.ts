/** Each bucket is so much wider than the one before: a quantile is right to half a percent. */
const growth = Math.log(1.01)

/** Counts of durations in bounded memory. */
export class Histogram {
  private readonly buckets: Array<number> = []
  private total = 0

  /** ms; what is below 1 is 0. */
  add(value: number): void {
    const bucket = value < 1 ? 0 : 1 + Math.floor(Math.log(value) / growth)
    this.buckets[bucket] = (this.buckets[bucket] ?? 0) + 1
    this.total++
  }

  /** The least value that so large a share does not exceed; `undefined` if there is none. */
  quantile(share: number): number | undefined {
    if (this.total === 0) return undefined
    const wanted = Math.max(1, Math.ceil(share * this.total))
    let seen = 0
    for (const [bucket, count = 0] of this.buckets.entries()) {
      seen += count
      if (seen >= wanted) return bucket === 0 ? 0 : Math.round(Math.exp((bucket - 0.5) * growth))
    }
    return undefined
  }
}
