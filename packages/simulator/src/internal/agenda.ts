/** Something that a run does at its time. */
interface Entry {
  readonly at: number
  readonly order: number
  readonly act: () => void
}

const before = (a: Entry, b: Entry): boolean => a.at < b.at || (a.at === b.at && a.order < b.order)

/** What is to be done later, earliest first; at one time, first come first served. A binary heap. */
export class Agenda {
  private readonly entries: Array<Entry> = []
  private order = 0

  /** When the next is due. */
  get next(): number {
    return this.entries[0]?.at ?? Number.POSITIVE_INFINITY
  }

  add(at: number, act: () => void): void {
    const { entries } = this
    const entry = { at, order: this.order++, act }
    let index = entries.push(entry) - 1
    while (index > 0) {
      const above = (index - 1) >> 1
      const parent = entries[above]
      if (parent === undefined || !before(entry, parent)) break
      entries[index] = parent
      index = above
    }
    entries[index] = entry
  }

  /** Takes the next one off. */
  take(): (() => void) | undefined {
    const { entries } = this
    const first = entries[0]
    const last = entries.pop()
    if (first === undefined || last === undefined) return undefined
    if (entries.length > 0) this.sink(last)
    return first.act
  }

  private sink(entry: Entry): void {
    const { entries } = this
    let index = 0
    for (;;) {
      const left = 2 * index + 1
      const one = entries[left]
      const other = entries[left + 1]
      if (one === undefined) break
      const child = other !== undefined && before(other, one) ? left + 1 : left
      const least = entries[child]
      if (least === undefined || !before(least, entry)) break
      entries[index] = least
      index = child
    }
    entries[index] = entry
  }
}
