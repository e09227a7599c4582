import type { Clock } from "effect/Clock"
import type { Counters } from "../Transition.js"
import type { Cell } from "./cell.js"
import { publish, retire, revive } from "./metrics.js"

/** Breakers that have a metric label of their own; labels must not grow with keys (STORES, Registry). */
const labelled = 200

const rest = "other"

/** A registry's breakers among the metrics: the first names by themselves, the others added up. */
export class Shown {
  private readonly named = new Map<string, Set<Cell>>()
  private readonly others = new Set<Cell>()
  private readonly unpublish: Array<() => void> = []
  private closed = false

  constructor(private readonly clock: Clock) {}

  /** `before`: what it had counted when it was hidden. */
  show(cell: Cell, before: Counters | undefined): void {
    if (this.closed) return
    if (before !== undefined) revive(this.labelOf(cell), before)
    this.cellsOf(cell).add(cell)
  }

  hide(cell: Cell): void {
    if (!this.closed && this.cellsOf(cell).delete(cell)) retire(this.labelOf(cell), cell.counters())
  }

  close(): void {
    this.closed = true
    for (const unpublish of this.unpublish) unpublish()
    this.unpublish.length = 0
  }

  private labelOf(cell: Cell): string {
    return this.named.has(cell.name) ? cell.name : rest
  }

  private cellsOf(cell: Cell): Set<Cell> {
    const { clock, named, others, unpublish } = this
    const own = named.get(cell.name)
    if (own !== undefined) return own
    if (named.size < labelled) {
      const cells = new Set<Cell>()
      named.set(cell.name, cells)
      unpublish.push(publish(cell.name, { cells: () => cells, clock }))
      return cells
    }
    if (unpublish.length === labelled) unpublish.push(publish(rest, { cells: () => others, clock }))
    return others
  }
}
