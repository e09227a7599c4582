import type * as Breaker from "@switchgear/core/Breaker"
import * as Snapshot from "@switchgear/core/Snapshot"
import type { Clock } from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Service, Stored, StoreError } from "../CircuitBreakerStore.js"
import type { Transition } from "../Transition.js"
import type { Cell } from "./cell.js"
import { meet } from "./meet.js"
import type { Reach } from "./reach.js"
import { StoreTime } from "./storeTime.js"
import { monotonicMillis } from "./time.js"

/** What the store said of a breaker when it was first asked for. */
export type Loaded =
  | { readonly _tag: "Found"; readonly stored: Stored }
  | { readonly _tag: "Nothing" }
  | { readonly _tag: "Unknown" }

interface Noted {
  readonly cell: Cell
  readonly transitions: ReadonlyArray<Transition>
}

const atOnce = 16

const unchanged = (held: Breaker.State | undefined, state: Breaker.State): boolean => {
  if (held === state) return true
  if (held === undefined || held.era !== state.era || held._tag !== state._tag) return false
  return !("counters" in held) || !("counters" in state) || held.counters === state.counters
}

const counts = ({ state }: Snapshot.Snapshot): boolean => state._tag === "Closed" || state._tag === "Degraded"

/**
 * Writes breakers to their store. A transition is written before it is announced; counters are written when `tick` is
 * run. No call waits for it: the state is in force at once, what waits is the news.
 */
export class Journal {
  private noted: Array<Noted> = []
  /** The states that the store holds. */
  private readonly written = new WeakMap<Cell, Breaker.State>()
  /** Those whose record could not be read when they were made: the store's and ours have yet to meet. */
  private readonly unmet = new WeakSet<Cell>()
  private readonly time = new StoreTime()
  private readonly awake = Effect.unsafeMakeLatch(false)
  private readonly one = Effect.unsafeMakeSemaphore(1)

  constructor(
    private readonly store: Service,
    private readonly writer: string,
    private readonly clock: Clock,
    private readonly reach: Reach,
    private readonly announce: (transitions: ReadonlyArray<Transition>) => void
  ) {}

  note(cell: Cell, transitions: ReadonlyArray<Transition>): void {
    this.noted.push({ cell, transitions })
    this.awake.unsafeOpen()
  }

  /** Writes and announces what is noted, for ever. */
  get run(): Effect.Effect<never> {
    return Effect.forever(
      Effect.zipRight(
        this.awake.await,
        Effect.suspend(() => {
          this.awake.unsafeClose()
          return this.flush
        })
      )
    )
  }

  /** Not interruptible: what is taken is announced. Each write ends in bounded time. */
  get flush(): Effect.Effect<void> {
    return this.one
      .withPermits(1)(
        Effect.suspend(() => {
          const batch = this.noted
          if (batch.length === 0) return Effect.void
          this.noted = []
          const cells = new Set(batch.map(({ cell }) => cell))
          return Effect.map(
            Effect.forEach(cells, (cell) => this.write(cell), { concurrency: atOnce }),
            () => {
              for (const { transitions } of batch) this.announce(transitions)
            }
          )
        })
      )
      .pipe(Effect.uninterruptible)
  }

  /** Writes the counters that have changed since the last time. While the store is down one try is enough. */
  tick(cells: Iterable<Cell>): Effect.Effect<void> {
    return this.one
      .withPermits(1)(
        Effect.suspend(() => {
          const due = Array.from(cells).filter((cell) => {
            const used = cell.admitted > 0 || cell.history !== undefined
            return used && !unchanged(this.written.get(cell), cell.state)
          })
          const [first, ...rest] = due
          if (first === undefined) return Effect.void
          return Effect.flatMap(this.write(first), (ok) =>
            ok ? Effect.forEach(rest, (cell) => this.write(cell), { concurrency: atOnce, discard: true }) : Effect.void
          )
        })
      )
      .pipe(Effect.uninterruptible)
  }

  load(name: string): Effect.Effect<Loaded> {
    const read = (stored: Stored | undefined): readonly [Loaded, Stored | undefined] => [
      stored === undefined ? { _tag: "Nothing" } : { _tag: "Found", stored },
      stored
    ]
    return this.exchange(name, read).pipe(
      // A store's first answer may take its time, and would move a deadline by as much.
      Effect.repeat({ times: 2, while: () => this.time.spread > 50 }),
      Effect.tap(() => this.reach.answered()),
      Effect.catchAll((error) => Effect.as(this.reach.failed(error), { _tag: "Unknown" } as const))
    )
  }

  /** SEMANTICS S9: a breaker goes on from what was loaded. */
  begin(cell: Cell, loaded: Loaded): void {
    // One that was only forgotten here knows more than its record.
    if (cell.admitted > 0 || cell.history !== undefined) return
    if (loaded._tag === "Unknown") this.unmet.add(cell)
    if (loaded._tag === "Found") this.adopt(cell, loaded.stored)
  }

  /** Removes the record of a breaker that was forgotten, unless somebody has opened or forced it since. */
  forget(name: string): Effect.Effect<boolean> {
    return this.drop(name, () => true)
  }

  /** Removes records that count and were not written for `idle` ms, but for those in use here. */
  purge(idle: number, inUse: (name: string) => boolean): Effect.Effect<void> {
    return this.store.entries.pipe(
      Effect.flatMap((entries) =>
        Effect.forEach(
          entries.filter(([name, { snapshot }]) => !inUse(name) && counts(snapshot)),
          ([name]) => this.drop(name, ({ snapshot }, now) => now - snapshot.wall >= idle),
          { discard: true }
        )
      ),
      Effect.catchAll((error) => this.reach.failed(error))
    )
  }

  private drop(name: string, isOld: (stored: Stored, now: number) => boolean): Effect.Effect<boolean> {
    const f = (stored: Stored | undefined, now: number): readonly [true, Stored | undefined] => [
      true,
      stored !== undefined && counts(stored.snapshot) && isOld(stored, now) ? undefined : stored
    ]
    return Effect.catchAll(this.store.modify(name, f), (error) => Effect.as(this.reach.failed(error), false))
  }

  /** `modify`, and what it says of the store's time. */
  private exchange<A>(
    name: string,
    f: (stored: Stored | undefined) => readonly [A, Stored | undefined]
  ): Effect.Effect<A, StoreError> {
    return Effect.suspend(() => {
      const asked = monotonicMillis(this.clock)
      return this.store.modify(name, (stored, now) => {
        this.time.note(asked, monotonicMillis(this.clock), Math.floor(now))
        return f(stored)
      })
    })
  }

  /** The store's time now, however long its answers take. */
  private now(): number {
    return this.time.near(monotonicMillis(this.clock))
  }

  private adopt(cell: Cell, stored: Stored): void {
    cell.state = Snapshot.restore(cell.policy, stored.snapshot, cell.now(this.clock), this.now(), cell.state)
    cell.history = stored.transitions.length === 0 ? undefined : [...stored.transitions]
    this.written.set(cell, cell.state)
  }

  /** Whether it was written. */
  private write(cell: Cell): Effect.Effect<boolean> {
    return Effect.suspend(() => {
      const { history, state } = cell
      const unmet = this.unmet.has(cell)
      const write = (stored: Stored | undefined): readonly [Loaded, Stored | undefined] => {
        const own: Stored = {
          snapshot: Snapshot.snapshot(state, cell.now(this.clock), this.now()),
          writer: this.writer,
          transitions: history === undefined ? [] : [...history]
        }
        const kept = unmet && stored !== undefined ? meet(stored, own) : own
        return kept === own || stored === undefined ? [{ _tag: "Nothing" }, own] : [{ _tag: "Found", stored }, stored]
      }
      return this.exchange(cell.name, write).pipe(
        Effect.tap(() => this.reach.answered()),
        Effect.map((loaded) => {
          if (loaded._tag !== "Found") {
            this.unmet.delete(cell)
            this.written.set(cell, state)
          } else if (cell.state.era === state.era) {
            this.unmet.delete(cell)
            this.adopt(cell, loaded.stored)
          }
          return true
        }),
        Effect.catchAll((error) => Effect.as(this.reach.failed(error), false))
      )
    })
  }
}
