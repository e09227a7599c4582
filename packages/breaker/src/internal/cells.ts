import type { Policy } from "@switchgear/core/Policy"
import type { Clock } from "effect/Clock"
import { Cell } from "./cell.js"
import { classify } from "./classify.js"
import { Hub } from "./hub.js"
import { publish } from "./metrics.js"
import type { Classify, Settings } from "./settings.js"
import { monotonicMillis } from "./time.js"

/** Breakers that have a metric label of their own; labels must not grow with keys (STORES, Registry). */
const labelled = 200

/** The breakers of a registry. They share their settings, so that an entry is its state and its counters. */
export class Cells {
  readonly hub = new Hub()
  private readonly byName = new Map<string, Cell>()
  private readonly others: Array<Cell> = []
  private readonly unpublish: Array<() => void> = []
  private closed = false
  private readonly settings: Settings
  private readonly byPolicy = new Map<string, Settings>()

  constructor(
    options: {
      readonly policy: Policy
      readonly policies?: Readonly<Record<string, Policy>> | undefined
      readonly enforce?: boolean | undefined
      readonly classify?: Classify | undefined
    },
    private readonly clock: Clock
  ) {
    this.settings = {
      policy: options.policy,
      enforce: options.enforce ?? true,
      classify: options.classify ?? classify,
      origin: monotonicMillis(clock),
      hub: this.hub
    }
    for (const [name, policy] of Object.entries(options.policies ?? {})) {
      this.byPolicy.set(name, { ...this.settings, policy })
    }
  }

  find(name: string): Cell | undefined {
    return this.byName.get(name)
  }

  get(name: string, clock: Clock): Cell {
    const known = this.byName.get(name)
    if (known !== undefined) return known
    const settings = this.byPolicy.get(name) ?? this.settings
    const cell = new Cell(name, settings, monotonicMillis(clock) - settings.origin)
    this.byName.set(name, cell)
    this.show(cell)
    return cell
  }

  all(): Iterable<Cell> {
    return this.byName.values()
  }

  close(): void {
    this.closed = true
    for (const unpublish of this.unpublish) unpublish()
    this.unpublish.length = 0
  }

  private show(cell: Cell): void {
    if (this.closed) return
    const { clock, others, unpublish } = this
    if (this.byName.size <= labelled) {
      unpublish.push(publish(cell.name, { cells: () => [cell], clock }))
    } else {
      if (others.length === 0) unpublish.push(publish("other", { cells: () => others, clock }))
      others.push(cell)
    }
  }
}
