import type * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

/** A call with limits. Times are in ms on the wheel's own scale. */
export interface Timed {
  /** When the present phase (connect, first output, idle) is over. */
  readonly phaseDue: number
  /** When the whole call is. */
  readonly totalDue: number
  readonly expire: (now: number) => void
}

/**
 * One coarse timer for all calls of a provider. A call costs one set entry, a chunk one addition; nothing is scheduled
 * per call, and nothing at all while no call is in flight.
 *
 * It counts its own ticks instead of reading a clock: a pause of the process or a jump of the clock ends no call, a limit
 * is never early, and it is late by two ticks at most.
 */
export class Wheel {
  /** ms of ticks so far. */
  private now = 0
  private ticking = false
  private closed = false
  private readonly live = new Set<Timed>()
  private readonly sleep: Effect.Effect<void>

  constructor(
    clock: Clock.Clock,
    /** ms */
    readonly tick: number
  ) {
    this.sleep = clock.sleep(Duration.millis(tick))
  }

  /** The time at which something that may take `millis` from now is over. The tick in progress is not counted. */
  due(millis: number): number {
    return this.now + this.tick + millis
  }

  add(call: Timed): void {
    this.live.add(call)
    if (!this.ticking) this.schedule()
  }

  delete(call: Timed): void {
    this.live.delete(call)
  }

  /** No call is timed any more. */
  close(): void {
    this.closed = true
    this.live.clear()
  }

  private schedule(): void {
    this.ticking = true
    Effect.runFork(Effect.map(this.sleep, this.turn))
  }

  private readonly turn = (): void => {
    this.ticking = false
    this.now += this.tick
    for (const call of this.live) {
      if (call.phaseDue <= this.now || call.totalDue <= this.now) call.expire(this.now)
    }
    if (this.live.size > 0 && !this.closed) this.schedule()
  }
}

/** A twentieth of the shortest limit, within 5 and 100 ms. */
export const tickFor = (limits: ReadonlyArray<number>): number =>
  Math.max(5, Math.min(100, Math.floor(Math.min(...limits) / 20)))
