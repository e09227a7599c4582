/** A vendor's rate limit: `burst` calls at once, then `perSecond` of them. */
export class TokenBucket {
  private tokens: number

  constructor(
    private readonly perSecond: number,
    private readonly burst: number,
    /** ms */
    private at: number
  ) {
    this.tokens = burst
  }

  /** Takes a token and answers 0, or answers how many ms until there is one. */
  take(now: number): number {
    this.tokens = Math.min(this.burst, this.tokens + (Math.max(0, now - this.at) * this.perSecond) / 1_000)
    this.at = Math.max(this.at, now)
    if (this.tokens >= 1) {
      this.tokens -= 1
      return 0
    }
    return Math.ceil(((1 - this.tokens) * 1_000) / this.perSecond)
  }
}
