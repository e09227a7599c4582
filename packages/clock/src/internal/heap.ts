/** A sleep that has not ended. `index` is its place in the heap, -1 once it has left. */
export interface Sleeper {
  /** ms since the clock's start. */
  readonly deadline: number
  readonly sequence: number
  readonly wake: () => void
  index: number
}

/** Earliest deadline first; of equal deadlines the one registered first. */
const before = (a: Sleeper, b: Sleeper): boolean =>
  a.deadline < b.deadline || (a.deadline === b.deadline && a.sequence < b.sequence)

/** A binary heap whose members know their places, so that an interrupted sleep leaves in O(log n). */
export class SleeperHeap {
  private readonly items: Array<Sleeper> = []

  get size(): number {
    return this.items.length
  }

  peek(): Sleeper | undefined {
    return this.items[0]
  }

  push(sleeper: Sleeper): void {
    this.items.push(sleeper)
    this.rise(sleeper, this.items.length - 1)
  }

  remove(sleeper: Sleeper): boolean {
    const { index } = sleeper
    if (index < 0 || this.items[index] !== sleeper) return false
    const last = this.items.pop()
    sleeper.index = -1
    if (last !== undefined && last !== sleeper) {
      const parent = this.items[(index - 1) >> 1]
      if (index > 0 && parent !== undefined && before(last, parent)) this.rise(last, index)
      else this.sink(last, index)
    }
    return true
  }

  private place(sleeper: Sleeper, index: number): void {
    this.items[index] = sleeper
    sleeper.index = index
  }

  private rise(sleeper: Sleeper, from: number): void {
    let index = from
    while (index > 0) {
      const above = (index - 1) >> 1
      const parent = this.items[above]
      if (parent === undefined || !before(sleeper, parent)) break
      this.place(parent, index)
      index = above
    }
    this.place(sleeper, index)
  }

  private sink(sleeper: Sleeper, from: number): void {
    let index = from
    for (;;) {
      const left = this.items[2 * index + 1]
      const right = this.items[2 * index + 2]
      const child = right !== undefined && left !== undefined && before(right, left) ? right : left
      if (child === undefined || !before(child, sleeper)) break
      const next = child.index
      this.place(child, index)
      index = next
    }
    this.place(sleeper, index)
  }
}
