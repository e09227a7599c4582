import * as Breaker from "@switchgear/core/Breaker"
import * as Snapshot from "@switchgear/core/Snapshot"
import type { Clock } from "effect/Clock"
import type { Counters, Transition } from "../Transition.js"
import { type CircuitBreaker, TypeId } from "./model.js"
import type { Remote } from "./remote.js"
import type { Settings } from "./settings.js"
import { monotonicMillis } from "./time.js"

/** Transitions remembered per breaker. */
export const remembered = 20

/**
 * A breaker in this process: the machine's state in a plain variable. Steps are synchronous, hence atomic; no code of a
 * user runs between the reading of a state and the writing of the next.
 */
export class Cell implements CircuitBreaker {
  declare readonly [TypeId]: typeof TypeId
  state: Breaker.State
  admitted = 0
  rejected = 0
  succeeded = 0
  failed = 0
  ignored = 0
  released = 0
  transitions = 0
  history: Array<Transition> | undefined = undefined

  constructor(
    readonly name: string,
    readonly settings: Settings,
    now: number
  ) {
    this.state = Breaker.initial(settings.policy, now)
  }

  get policy() {
    return this.settings.policy
  }

  /** Who has to be asked where this process alone cannot say: set where others share the breaker. */
  get remote(): Remote | undefined {
    return undefined
  }

  now(clock: Clock): number {
    return monotonicMillis(clock) - this.settings.origin
  }

  /** Whether a permit given now holds nothing: its call may be interrupted without a report. */
  get holdsNothing(): boolean {
    const tag = this.state._tag
    return tag === "Closed" || tag === "Degraded" || tag === "ForcedClosed"
  }

  acquire(now: number, clock: Clock): Breaker.Admission {
    const [admission, state, events] = Breaker.acquire(this.settings.policy, this.state, now)
    if (admission._tag === "Admitted") {
      this.admitted++
      this.state = state
      if (events.length > 0) this.announce(events, now, clock)
    } else {
      this.rejected++
    }
    return admission
  }

  /** The refusal of a call made now, if it is refused. Nothing is taken: a call that may run has to `acquire`. */
  refuse(now: number): Breaker.Rejected | undefined {
    const [admission] = Breaker.acquire(this.settings.policy, this.state, now)
    if (admission._tag === "Admitted") return undefined
    this.rejected++
    return admission
  }

  /**
   * Reports an outcome. With jitter an opening needs a random number: asked without one, it changes nothing and answers
   * `undefined`, so that only calls that open a breaker read the random source.
   */
  report(
    permit: Breaker.Permit,
    outcome: Breaker.Outcome,
    clock: Clock,
    rnd: number | undefined
  ): Breaker.Reported | undefined {
    const now = this.now(clock)
    const { policy } = this.settings
    const [reported, state, events] = Breaker.report(policy, this.state, permit, outcome, now, rnd ?? 0)
    if (events.length > 0) {
      if (rnd === undefined && state._tag === "Open" && policy.cooldown.jitter > 0) return undefined
      this.state = state
      this.count(outcome)
      this.announce(events, now, clock)
      return reported
    }
    this.state = state
    this.count(outcome)
    return reported
  }

  command(command: Breaker.Command, clock: Clock): void {
    const now = this.now(clock)
    const [state, events] = Breaker.command(this.settings.policy, this.state, command, now)
    this.state = state
    if (events.length > 0) this.announce(events, now, clock)
  }

  restore(from: Snapshot.Snapshot, clock: Clock): void {
    const wall = clock.unsafeCurrentTimeMillis()
    this.state = Snapshot.restore(this.settings.policy, from, this.now(clock), wall, this.state)
  }

  counters(): Counters {
    const { admitted, failed, ignored, rejected, released, succeeded, transitions } = this
    return { admitted, rejected, succeeded, failed, ignored, released, transitions }
  }

  protected count(outcome: Breaker.Outcome): void {
    switch (outcome._tag) {
      case "Success":
        this.succeeded++
        return
      case "Failure":
        this.failed++
        return
      case "Ignored":
        this.ignored++
        return
      case "Released":
        this.released++
    }
  }

  /** SEMANTICS S3: after the new state is in place, in order. */
  protected announce(events: ReadonlyArray<Breaker.Event>, now: number, clock: Clock): void {
    const wall = clock.unsafeCurrentTimeMillis()
    this.publish(
      events.map(({ at, era, from, reason, to }) => ({
        breaker: this.name,
        from,
        to,
        at: wall - Math.max(0, now - at),
        era,
        reason
      }))
    )
  }

  protected publish(transitions: ReadonlyArray<Transition>): void {
    this.history ??= []
    this.history.push(...transitions)
    if (this.history.length > remembered) this.history.splice(0, this.history.length - remembered)
    this.transitions += transitions.length
    this.settings.deliver(this, transitions)
  }
}

Object.assign(Cell.prototype, { [TypeId]: TypeId })

/** The only breakers there are. */
export const cellOf = (breaker: CircuitBreaker): Cell => {
  if (breaker instanceof Cell) return breaker
  throw new TypeError("not a breaker made by CircuitBreaker.make or a CircuitBreakerRegistry")
}
