/**
 * The store's time on this process's monotonic clock. What separates the two is not known, only bounded: an answer's
 * reading was taken after the question was asked and before the answer came. What several exchanges say is put together;
 * one that contradicts them is right, because one of the clocks was moved or stood still.
 */
export class StoreTime {
  private low = 0
  private high = -1

  /** Of an exchange that was asked at `asked` and answered at `answered`, in this process's ms. */
  note(asked: number, answered: number, store: number): void {
    const low = store - answered
    const high = store - asked
    const fits = low <= this.high && high >= this.low
    this.low = fits ? Math.max(this.low, low) : low
    this.high = fits ? Math.min(this.high, high) : high
  }

  /**
   * The least it can be: so nobody asks for a probe before the store would give one, and all ask no later than an answer
   * takes.
   */
  at(now: number): number {
    return now + this.low
  }

  /** Where nobody else asks by it: as near as can be said. */
  near(now: number): number {
    return now + Math.floor((this.low + this.high) / 2)
  }

  /** ms within which it is known. */
  get spread(): number {
    return this.high < this.low ? Number.POSITIVE_INFINITY : this.high - this.low
  }
}
