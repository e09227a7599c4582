import * as Breaker from "@switchgear/core/Breaker"
import * as Snapshot from "@switchgear/core/Snapshot"
import type { Clock } from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Random from "effect/Random"
import * as Stream from "effect/Stream"
import { type Service, type Stored, StoreError } from "../CircuitBreakerStore.js"
import { remembered } from "./cell.js"
import { counts, meet, transitionOf } from "./meeting.js"
import type { Reach } from "./reach.js"
import type { Others, SharedCell } from "./shared.js"
import { StoreTime } from "./storeTime.js"

/** A step of the machine on the store's state and time. */
type Step<A> = (
  state: Breaker.State,
  now: number
) => readonly [result: A, next: Breaker.State, events: ReadonlyArray<Breaker.Event>]

interface Answer<A> {
  readonly result: A
  readonly record: Stored | undefined
  readonly dropped: boolean
  readonly now: number
}

/** What the store said of a breaker when it was first asked for. */
export interface Seen {
  readonly record: Stored | undefined
  readonly now: number
}

export interface FleetOptions {
  readonly store: Service
  /** This process among the others. */
  readonly writer: string
  readonly clock: Clock
  readonly reach: Reach
  /** Whether to refuse all calls while the store is away. */
  readonly closed: boolean
  /** ms */
  readonly pollInterval: number
  /** ms that an exchange may take. */
  readonly wait: number
  readonly find: (name: string) => SharedCell | undefined
  readonly all: () => ReadonlyArray<SharedCell>
}

const nothing: Step<undefined> = (state) => [undefined, state, []]

const atOnce = 16

/** Up to so many breakers are read one by one, more in one go. */
const few = 16

const isFree = (state: Breaker.State): boolean => counts(state._tag) || state._tag === "ForcedClosed"

/**
 * What a process does for the breakers that it shares with others (STORES, Modes). One machine in two places: what counts
 * is stepped here, without asking; what is Open, HalfOpen or commanded is stepped in the store, on the store's time, where
 * the leases are. While the store is away all of it is stepped here.
 */
export class Fleet implements Others {
  readonly pollInterval: number
  private readonly time = new StoreTime()
  private due = new Set<SharedCell>()
  private readonly awake = Effect.unsafeMakeLatch(false)

  constructor(private readonly options: FleetOptions) {
    this.pollInterval = options.pollInterval
  }

  get away(): boolean {
    return this.options.reach.away
  }

  /** Whether every call is refused. */
  get barred(): boolean {
    return this.options.closed && this.options.reach.away
  }

  /** Has an exchange made for a breaker, as soon as may be. */
  note(cell: SharedCell): void {
    this.due.add(cell)
    this.awake.unsafeOpen()
  }

  acquire(
    cell: SharedCell,
    clock: Clock,
    restore: <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  ): Effect.Effect<Breaker.Admission> {
    const here = Effect.sync(() => cell.acquire(cell.now(clock), clock))
    const ask = Effect.suspend((): Effect.Effect<Breaker.Admission> => {
      // While it waited its turn others may have got what there was, or the breaker has recovered.
      if (this.away || cell.holdsNothing) return here
      const refused = cell.refuse(cell.now(clock))
      if (refused !== undefined) return Effect.succeed(refused)
      const step: Step<Breaker.Admission | undefined> = (state, now) =>
        isFree(state) ? [undefined, state, []] : Breaker.acquire(cell.policy, state, now)
      return this.exchange(cell, step).pipe(
        Effect.flatMap((admission) => {
          if (admission === undefined) return here
          if (admission._tag === "Rejected") return Effect.succeed(cell.refused(admission))
          return Effect.succeed(cell.granted({ ...admission.permit, at: cell.now(clock) }))
        }),
        Effect.catchAll(() => here)
      )
    })
    return Effect.acquireUseRelease(
      restore(cell.line.take(1)),
      () => ask,
      () => cell.line.release(1)
    )
  }

  report(
    cell: SharedCell,
    permit: Breaker.Permit,
    outcome: Breaker.Outcome,
    clock: Clock
  ): Effect.Effect<Breaker.Reported> {
    return this.inLine(
      cell,
      Effect.flatMap(cell.policy.cooldown.jitter > 0 ? Random.next : Effect.succeed(0), (rnd) => {
        const here = Effect.sync(() => cell.report(permit, outcome, clock, rnd) ?? "Stale")
        if (!cell.isCurrent(permit)) {
          cell.reported(outcome)
          return Effect.succeed<Breaker.Reported>("Stale")
        }
        if (this.away) return here
        return this.exchange(cell, (state, now) => Breaker.report(cell.policy, state, permit, outcome, now, rnd)).pipe(
          Effect.tap(() => Effect.sync(() => cell.reported(outcome))),
          Effect.catchAll(() => here)
        )
      })
    )
  }

  command(cell: SharedCell, command: Breaker.Command, clock: Clock): Effect.Effect<void> {
    return this.change(
      cell,
      (state, now) => [undefined, ...Breaker.command(cell.policy, state, command, now)],
      () => cell.command(command, clock)
    )
  }

  restore(cell: SharedCell, from: Snapshot.Snapshot, clock: Clock): Effect.Effect<void> {
    return this.change(
      cell,
      (state, now) => [undefined, Snapshot.restore(cell.policy, from, now, now, state), []],
      () => cell.restore(from, clock)
    )
  }

  /** What the store has of a breaker that is to be made; `undefined` if it does not say. */
  load(name: string): Effect.Effect<Seen | undefined> {
    return Effect.suspend(() =>
      this.away
        ? Effect.succeed(undefined)
        : Effect.matchEffect(
            this.bounded(name, (stored, now): readonly [Seen, Stored | undefined] => [{ record: stored, now }, stored]),
            {
              onFailure: (error) => Effect.as(this.options.reach.failed(error), undefined),
              onSuccess: (seen) => Effect.as(this.options.reach.answered(), seen)
            }
          )
    )
  }

  begin(cell: SharedCell, seen: Seen | undefined): void {
    // One that was only forgotten here may know more than the record.
    if (cell.admitted > 0 || cell.history !== undefined) this.note(cell)
    else if (seen?.record !== undefined) cell.begin(seen.record, cell.now(this.options.clock), seen.now)
  }

  /** Tells and asks the store what is due, for ever. */
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

  get flush(): Effect.Effect<void> {
    return Effect.suspend(() => {
      const { due } = this
      this.due = new Set()
      return Effect.forEach(due, (cell) => this.refresh(cell), { concurrency: "unbounded", discard: true })
    })
  }

  /** Hears of what others write, for ever. */
  get listen(): Effect.Effect<void> {
    const { find, store, writer } = this.options
    return Stream.runForEach(store.changes, (change) =>
      Effect.sync(() => {
        const cell = change.writer === writer ? undefined : find(change.key)
        if (cell !== undefined) this.note(cell)
      })
    )
  }

  /** For what was not heard; and where the store is away, whether it is back: one question is enough for that. */
  get poll(): Effect.Effect<void> {
    return Effect.suspend(() => {
      const [first, ...rest] = this.options.all()
      if (first === undefined) return Effect.void
      return Effect.flatMap(this.inLine(first, Effect.option(this.exchange(first, nothing))), (answered) => {
        if (answered._tag === "None") return Effect.void
        const asked = rest.filter(({ parted }) => parted !== undefined)
        return rest.length <= few ? this.refreshAll(rest) : Effect.zipRight(this.refreshAll(asked), this.read(rest))
      })
    })
  }

  private refreshAll(cells: ReadonlyArray<SharedCell>): Effect.Effect<void> {
    return Effect.forEach(cells, (cell) => this.refresh(cell), { concurrency: atOnce, discard: true })
  }

  private refresh(cell: SharedCell): Effect.Effect<void> {
    return this.inLine(
      cell,
      Effect.suspend(() =>
        this.away ? Effect.sync(() => cell.part(this.options.clock)) : Effect.ignore(this.exchange(cell, nothing))
      )
    )
  }

  /** Every record at once. What was exchanged meanwhile is newer; what has to be told is told one by one. */
  private read(cells: ReadonlyArray<SharedCell>): Effect.Effect<void> {
    return Effect.suspend(() => {
      const { clock, reach, store } = this.options
      const before = new Map(cells.map((cell) => [cell, cell.touched]))
      return Effect.matchEffect(store.entries, {
        onFailure: (error) => reach.failed(error),
        onSuccess: (entries) => {
          const records = new Map(entries)
          const rest = cells.filter((cell) => {
            if (cell.touched !== before.get(cell)) return false
            const now = cell.now(clock)
            return !cell.follow(records.get(cell.name), now, this.time.at(now))
          })
          return this.refreshAll(rest)
        }
      })
    })
  }

  private change(cell: SharedCell, step: Step<void>, here: () => void): Effect.Effect<void> {
    return this.inLine(
      cell,
      Effect.suspend(() => {
        const local = Effect.sync(here)
        return this.away ? local : Effect.catchAll(this.exchange(cell, step), () => local)
      })
    )
  }

  private inLine<A, E>(cell: SharedCell, self: Effect.Effect<A, E>): Effect.Effect<A, E> {
    return Effect.uninterruptible(cell.line.withPermits(1)(self))
  }

  /** In bounded time, also where a driver waits for its own cancellation. Not interruptible. */
  private bounded<A>(
    name: string,
    f: (stored: Stored | undefined, now: number) => readonly [A, Stored | undefined]
  ): Effect.Effect<A, StoreError> {
    const limited = this.options.store.modify(name, f).pipe(
      // A backend of somebody's own that throws is away like one that says so.
      Effect.catchAllDefect(() => new StoreError({ reason: "Unavailable" })),
      Effect.disconnect,
      Effect.timeoutFail({
        duration: this.options.wait,
        onTimeout: () => new StoreError({ reason: "Unavailable" })
      })
    )
    // In a fiber of its own: where nothing is interruptible no time runs out.
    return Effect.flatMap(Effect.forkDaemon(Effect.interruptible(limited)), Fiber.join)
  }

  private exchange<A>(cell: SharedCell, step: Step<A>): Effect.Effect<A, StoreError> {
    return Effect.suspend(() => {
      const { clock, reach, writer } = this.options
      const asked = cell.now(clock)
      const local = cell.local(asked, writer)
      cell.touched++
      const write = (stored: Stored | undefined, time: number): readonly [Answer<A>, Stored | undefined] => {
        const now = Math.floor(time)
        const met = meet(cell.policy, stored, local, now)
        const [result, state, events] = step(met.state, now)
        const { dropped } = met
        if (!met.changed && state === met.state) return [{ result, record: stored, dropped, now }, stored]
        const told = events.map((event) => transitionOf(cell.name, event, event.at))
        const record: Stored = {
          snapshot: Snapshot.snapshot(state, now, now),
          writer,
          transitions: [...met.transitions, ...told].slice(-remembered)
        }
        return [{ result, record, dropped, now }, record]
      }
      return this.bounded(cell.name, write).pipe(
        Effect.tap(({ dropped, now, record }) => {
          const answered = cell.now(clock)
          this.time.note(asked, answered, now)
          cell.adopt(record, local.parted, dropped, answered, this.time.at(answered))
          return reach.answered()
        }),
        Effect.tapError((error) =>
          Effect.zipRight(
            reach.failed(error),
            Effect.sync(() => cell.part(clock))
          )
        ),
        Effect.ensuring(Effect.sync(() => void cell.touched++)),
        Effect.map(({ result }) => result)
      )
    })
  }
}
