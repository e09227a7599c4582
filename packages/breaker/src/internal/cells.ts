import * as Breaker from "@switchgear/core/Breaker"
import type { Policy } from "@switchgear/core/Policy"
import type { Clock } from "effect/Clock"
import type { RegistryEvent } from "../RegistryEvent.js"
import type { Counters, Transition } from "../Transition.js"
import { Cell, cellOf } from "./cell.js"
import { classify } from "./classify.js"
import { forgettable } from "./forgettable.js"
import { Hub } from "./hub.js"
import type { CircuitBreaker } from "./model.js"
import type { Classify, Settings } from "./settings.js"
import { Shown } from "./shown.js"
import { monotonicMillis } from "./time.js"

export interface Limits {
  /** Breakers kept; over it those go that count nothing. */
  readonly bound: number
  /** Breakers at most, those that may not be forgotten included. */
  readonly hardLimit: number
  /** ms unused, after which a breaker that counts nothing goes. */
  readonly idle: number
}

export interface CellsOptions {
  readonly policy: Policy
  readonly policies?: Readonly<Record<string, Policy>> | undefined
  readonly enforce?: boolean | undefined
  readonly classify?: Classify | undefined
  readonly limits: Limits
  /** The breakers whose transitions go to `note`. Default: none. */
  readonly isNoted?: ((name: string) => boolean) | undefined
  readonly note?: ((cell: Cell, transitions: ReadonlyArray<Transition>) => void) | undefined
  /** Makes a breaker. Default: one of this process alone. */
  readonly make?: ((name: string, settings: Settings, now: number) => Cell) | undefined
  /** Told of each that is forgotten. */
  readonly forgot?: ((cell: Cell) => void) | undefined
  readonly emit: (event: RegistryEvent) => void
}

/** A breaker that was forgotten here and may still be held elsewhere. */
interface Forgotten {
  readonly ref: WeakRef<Cell>
  readonly counted: Counters
}

/** The breakers of a registry. They share their settings, so that an entry is its state and its counters. */
export class Cells {
  readonly hub = new Hub()
  private readonly byName = new Map<string, Cell>()
  /** Who holds a breaker goes on with it, and who asks for its name meanwhile has to get the same one. */
  private readonly forgotten = new Map<string, Forgotten>()
  private readonly collected = new FinalizationRegistry<string>((name) => {
    if (this.forgotten.get(name)?.ref.deref() === undefined) this.forgotten.delete(name)
  })
  private readonly shown: Shown
  private readonly settings: Settings
  private readonly stored: Settings
  private readonly policies: ReadonlyMap<string, Policy>
  /** Of breakers with a policy of their own. */
  private readonly byPolicy = new Map<Policy, Settings>()
  private grown = false
  private full = false

  constructor(
    private readonly options: CellsOptions,
    private readonly clock: Clock
  ) {
    this.shown = new Shown(clock)
    this.policies = new Map(Object.entries(options.policies ?? {}))
    this.settings = {
      policy: options.policy,
      enforce: options.enforce ?? true,
      classify: options.classify ?? classify,
      origin: monotonicMillis(clock),
      hub: this.hub,
      deliver: (breaker, transitions) => {
        this.keep(breaker)
        this.hub.deliverAll(transitions)
      }
    }
    this.stored = {
      ...this.settings,
      deliver: (breaker, transitions) => {
        this.keep(breaker)
        options.note?.(cellOf(breaker), transitions)
      }
    }
  }

  get size(): number {
    return this.byName.size
  }

  find(name: string): Cell | undefined {
    return this.byName.get(name)
  }

  /** The breaker of a name; above the hard limit one that guards nothing and is not kept. */
  get(name: string, clock: Clock): Cell {
    const known = this.byName.get(name)
    if (known !== undefined) return known
    const now = monotonicMillis(clock) - this.settings.origin
    const held = this.forgotten.get(name)?.ref.deref()
    const { hardLimit } = this.options.limits
    if (held === undefined && this.byName.size >= hardLimit && !this.makeRoom(undefined, now)) {
      return this.unguarded(name, now)
    }
    const cell = held ?? this.make(name, now)
    this.admit(cell)
    return cell
  }

  all(): Iterable<Cell> {
    return this.byName.values()
  }

  /** The breaker of a name, also one that was forgotten here and is held elsewhere. */
  held(name: string): Cell | undefined {
    return this.byName.get(name) ?? this.forgotten.get(name)?.ref.deref()
  }

  /** All that `held` gives. */
  allHeld(): ReadonlyArray<Cell> {
    const cells = Array.from(this.byName.values())
    for (const { ref } of this.forgotten.values()) {
      const cell = ref.deref()
      if (cell !== undefined) cells.push(cell)
    }
    return cells
  }

  private make(name: string, now: number): Cell {
    const settings = this.settingsOf(name)
    return this.options.make?.(name, settings, now) ?? new Cell(name, settings, now)
  }

  /** Forgets what counts nothing: the least recently used while there are more than the bound. Whether any was. */
  private makeRoom(newest: Cell | undefined, now: number): boolean {
    const { bound, hardLimit } = this.options.limits
    const wanted = Math.min(bound, hardLimit - 1)
    if (this.byName.size <= wanted) return false
    const free: Array<Cell> = []
    for (const cell of this.byName.values()) {
      if (cell !== newest && forgettable(cell.policy, cell.state, now)) free.push(cell)
    }
    // Some more than needed, so that a flood of new names does not look through all of them at each.
    const excess = this.byName.size - wanted + Math.floor(bound / 16)
    const gone = free.sort((a, b) => a.state.at - b.state.at).slice(0, excess)
    for (const cell of gone) this.forget(cell)
    return gone.length > 0
  }

  /** Forgets what counts nothing and was not used for long. How many. */
  sweep(): number {
    const now = monotonicMillis(this.clock) - this.settings.origin
    const gone: Array<Cell> = []
    for (const cell of this.byName.values()) {
      if (now - cell.state.at >= this.options.limits.idle && forgettable(cell.policy, cell.state, now)) gone.push(cell)
    }
    for (const cell of gone) this.forget(cell)
    this.notice()
    return gone.length
  }

  close(): void {
    this.shown.close()
  }

  private settingsOf(name: string): Settings {
    const base = this.options.isNoted?.(name) === true ? this.stored : this.settings
    const policy = this.policies.get(name)
    if (policy === undefined) return base
    const known = this.byPolicy.get(policy)
    if (known !== undefined && known.deliver === base.deliver) return known
    const settings = { ...base, policy }
    this.byPolicy.set(policy, settings)
    return settings
  }

  private admit(cell: Cell): void {
    this.byName.set(cell.name, cell)
    this.shown.show(cell, this.forgotten.get(cell.name)?.counted)
    this.forgotten.delete(cell.name)
    if (this.byName.size > this.options.limits.bound) {
      this.makeRoom(cell, cell.now(this.clock))
      this.notice()
    }
  }

  /** One that was forgotten, is held elsewhere, and has something to tell again. */
  private keep(breaker: CircuitBreaker): void {
    const known = this.byName.get(breaker.name)
    if (known === undefined) this.admit(cellOf(breaker))
  }

  private forget(cell: Cell): void {
    this.byName.delete(cell.name)
    this.shown.hide(cell)
    this.forgotten.set(cell.name, { ref: new WeakRef(cell), counted: cell.counters() })
    this.collected.register(cell, cell.name)
    this.options.forgot?.(cell)
  }

  private notice(): void {
    const { bound, hardLimit } = this.options.limits
    const size = this.byName.size
    const at = this.clock.unsafeCurrentTimeMillis()
    if (size > bound && !this.grown) this.options.emit({ _tag: "Grown", at, size, bound })
    this.grown = size > bound
    if (size < hardLimit) this.full = false
  }

  private unguarded(name: string, now: number): Cell {
    const size = this.byName.size
    const at = this.clock.unsafeCurrentTimeMillis()
    if (!this.full) this.options.emit({ _tag: "Unguarded", at, breaker: name, size })
    this.full = true
    const cell = new Cell(name, { ...this.settings, deliver: () => {} }, now)
    const [state] = Breaker.command(cell.policy, cell.state, Breaker.forceClosed, now)
    cell.state = state
    return cell
  }
}
