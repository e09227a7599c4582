import type * as Breaker from "@switchgear/core/Breaker"
import * as Snapshot from "@switchgear/core/Snapshot"
import type { Clock } from "effect/Clock"
import * as Effect from "effect/Effect"
import type { Stored } from "../CircuitBreakerStore.js"
import type { Transition } from "../Transition.js"
import { Cell, remembered } from "./cell.js"
import { counts, type Local, type Parted, transitionOf } from "./meeting.js"
import type { Remote } from "./remote.js"
import type { Settings } from "./settings.js"

type Tag = Breaker.State["_tag"]

/** SEMANTICS D1, D2: a move within an era, which is this process's own affair. */
const isOwn = ({ reason }: Breaker.Event): boolean => reason.rule === "D1" || reason.rule === "D2"

type Restore = <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>

/** What a breaker asks of those it is shared with: `Remote`, for each of them. */
export interface Others {
  /** Whether the store is. */
  readonly away: boolean
  /** Whether every call is refused. */
  readonly barred: boolean
  /** ms */
  readonly pollInterval: number
  /** There is something to tell. */
  note(cell: SharedCell): void
  acquire(cell: SharedCell, clock: Clock, restore: Restore): Effect.Effect<Breaker.Admission>
  report(
    cell: SharedCell,
    permit: Breaker.Permit,
    outcome: Breaker.Outcome,
    clock: Clock
  ): Effect.Effect<Breaker.Reported>
  command(cell: SharedCell, command: Breaker.Command, clock: Clock): Effect.Effect<void>
  restore(cell: SharedCell, from: Snapshot.Snapshot, clock: Clock): Effect.Effect<void>
}

/**
 * A breaker that several processes share. While it counts it is a plain cell: nothing is asked. Otherwise its state is a
 * copy of the store's on this process's clock, good enough to refuse by; what more there is to decide is decided there.
 */
export class SharedCell extends Cell {
  /** One exchange at a time, so that what is read last is what is newest. */
  readonly line = Effect.unsafeMakeSemaphore(1)
  /** Exchanges begun and ended. */
  touched = 0
  parted: Parted | undefined = undefined
  /** The era of the record that was read last. */
  private known = 0
  /** When the era began. */
  private since: number
  /** What was announced last. */
  private shown: Tag = "Closed"
  private shownEra = 0
  /** Probes that this process gave out by itself and that no longer count are of an earlier branch. */
  private branch = 0
  private readonly branches = new WeakMap<Breaker.Permit, number>()
  private readonly asked: Remote

  constructor(
    name: string,
    settings: Settings,
    now: number,
    private readonly others: Others
  ) {
    super(name, settings, now)
    this.since = this.state.since
    this.asked = {
      acquire: (clock, restore) => others.acquire(this, clock, restore),
      report: (permit, outcome, clock) => others.report(this, permit, outcome, clock),
      command: (command, clock) => others.command(this, command, clock),
      restore: (snapshot, clock) => others.restore(this, snapshot, clock)
    }
  }

  override get remote(): Remote {
    return this.asked
  }

  override get holdsNothing(): boolean {
    return !this.others.barred && super.holdsNothing
  }

  override acquire(now: number, clock: Clock): Breaker.Admission {
    if (this.others.barred) return this.bar()
    const admission = super.acquire(now, clock)
    if (admission._tag === "Admitted" && admission.permit.probe !== undefined) this.give(admission.permit)
    return admission
  }

  override refuse(now: number): Breaker.Rejected | undefined {
    return this.others.barred ? this.bar() : super.refuse(now)
  }

  /** A probe whose lease is in the store. */
  granted(permit: Breaker.Permit): Breaker.Admission {
    this.admitted++
    this.give(permit)
    return { _tag: "Admitted", permit }
  }

  refused(rejected: Breaker.Rejected): Breaker.Rejected {
    this.rejected++
    return rejected
  }

  reported(outcome: Breaker.Outcome): void {
    this.count(outcome)
  }

  isCurrent(permit: Breaker.Permit): boolean {
    return this.branches.get(permit) === this.branch
  }

  local(at: number, writer: string): Local {
    const { known, name, parted, since, state } = this
    return { name, writer, state, at, since, known, parted }
  }

  /** The store is away, so what it was to be told is announced. */
  part(clock: Clock): void {
    const { parted } = this
    if (parted === undefined || parted.apart) return
    this.parted = { ...parted, apart: true }
    this.publish(this.transitionsOf(parted.events, this.now(clock), clock))
  }

  /** Goes on from the record as it was made. */
  begin({ snapshot, transitions }: Stored, at: number, store: number): void {
    this.take(snapshot, at, store)
    this.history = transitions.length === 0 ? undefined : [...transitions]
    this.shown = this.state._tag
    this.shownEra = snapshot.era
  }

  /** What an exchange said. `parted`: what this process had told it; what it did since is still to be told. */
  adopt(record: Stored | undefined, parted: Parted | undefined, dropped: boolean, at: number, store: number): void {
    if (this.parted !== parted) return
    this.parted = undefined
    if (dropped) this.branch++
    if (record === undefined) return
    const { snapshot } = record
    if (snapshot.era === this.state.era && counts(this.state._tag) && counts(snapshot.state._tag)) {
      this.known = snapshot.era
      return
    }
    this.take(snapshot, at, store)
    this.tell(record)
  }

  /** What the record says, where there is nothing to tell. Whether that is so. */
  follow(record: Stored | undefined, at: number, store: number): boolean {
    if (this.parted !== undefined) return false
    if (record === undefined) return counts(this.state._tag)
    if (record.snapshot.era < this.known) return false
    this.adopt(record, undefined, false, at, store)
    return true
  }

  protected override announce(events: ReadonlyArray<Breaker.Event>, now: number, clock: Clock): void {
    for (const event of events) {
      if (isOwn(event)) {
        this.publish(this.transitionsOf([event], now, clock))
        continue
      }
      const apart = this.parted?.apart ?? this.others.away
      this.parted = { apart, events: [...(this.parted?.events ?? []), event].slice(-remembered) }
      this.since = event.at
      if (apart) this.publish(this.transitionsOf([event], now, clock))
      else this.others.note(this)
    }
  }

  /** A chain without a gap, whatever was missed. */
  protected override publish(transitions: ReadonlyArray<Transition>): void {
    if (transitions.length === 0) return
    super.publish(
      transitions.map((transition) => {
        const from = this.shown
        this.shown = transition.to
        this.shownEra = transition.era
        return transition.from === from ? transition : { ...transition, from }
      })
    )
  }

  private transitionsOf(events: ReadonlyArray<Breaker.Event>, now: number, clock: Clock): ReadonlyArray<Transition> {
    const wall = clock.unsafeCurrentTimeMillis()
    return events.map((event) => transitionOf(this.name, event, wall - Math.max(0, now - event.at)))
  }

  private give(permit: Breaker.Permit): void {
    this.branches.set(permit, this.branch)
  }

  private bar(): Breaker.Rejected {
    this.rejected++
    return { _tag: "Rejected", retryAfter: this.others.pollInterval }
  }

  private take(snapshot: Snapshot.Snapshot, at: number, store: number): void {
    this.state = Snapshot.resume(this.policy, snapshot, at, store, this.state)
    this.since = this.state.since
    this.known = snapshot.era
  }

  private tell({ snapshot, transitions }: Stored): void {
    this.publish(transitions.filter(({ era }) => era > this.shownEra))
    const to = snapshot.state._tag
    const last = transitions[transitions.length - 1]
    if (this.shown !== to && last !== undefined) {
      this.publish([{ breaker: this.name, from: this.shown, to, at: last.at, era: snapshot.era, reason: last.reason }])
    }
  }
}
