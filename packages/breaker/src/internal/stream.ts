import * as Breaker from "@switchgear/core/Breaker"
import type * as Cause from "effect/Cause"
import * as Channel from "effect/Channel"
import type * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Predicate } from "effect/Predicate"
import * as Stream from "effect/Stream"
import type { CircuitOpen } from "../CircuitOpen.js"
import type { Cell } from "./cell.js"
import { outcomeOf } from "./classify.js"
import { acquire, type HeldPermit, tailOf } from "./permit.js"
import type { Classify } from "./settings.js"

const nothing: Effect.Effect<unknown> = Effect.void

/** One run of a guarded stream, from its permit to its one report (two, when it was a probe; SEMANTICS R7). */
class Run<A, E> {
  private current: HeldPermit | undefined
  /** ms from the permit to the first output. */
  private latency: number | undefined = undefined

  constructor(
    private readonly permit: HeldPermit,
    private readonly startedAt: number,
    private readonly isOutput: Predicate<A>,
    private readonly classify: Classify<void, E>
  ) {
    this.current = permit
  }

  received(chunk: Chunk.Chunk<A>): Effect.Effect<unknown> {
    if (this.latency !== undefined) return nothing
    for (const element of chunk) {
      if (this.meaningful(element)) return this.firstOutput()
    }
    return nothing
  }

  ended(exit: Exit.Exit<void, E>): Effect.Effect<unknown> {
    const { current } = this
    if (current === undefined) return nothing
    return current.report(this.timed(outcomeOf(this.classify, exit, this.permit.clock)))
  }

  /**
   * The reader has gone before the end. What has given output was answered, so it was not cancelled before an answer
   * (SEMANTICS R1).
   */
  left(): Effect.Effect<unknown> {
    const { current } = this
    if (current === undefined) return nothing
    return current.report(this.latency === undefined ? Breaker.released : Breaker.success(this.latency))
  }

  /** A predicate that throws must not break the stream: what it cannot judge is output. */
  private meaningful(element: A): boolean {
    try {
      return this.isOutput(element)
    } catch {
      return true
    }
  }

  private firstOutput(): Effect.Effect<unknown> {
    const { cell, clock } = this.permit
    this.latency = Math.max(0, cell.now(clock) - this.startedAt)
    if (!this.permit.isProbe) return nothing
    return Effect.map(this.permit.report(Breaker.success(this.latency)), () => {
      this.current = tailOf(cell, clock)
    })
  }

  private timed(outcome: Breaker.Outcome): Breaker.Outcome {
    if (this.latency === undefined) return outcome
    if (outcome._tag !== "Success" && outcome._tag !== "Failure") return outcome
    return outcome.latency === undefined ? { ...outcome, latency: this.latency } : outcome
  }
}

const watch = <A, E>(run: Run<A, E>): Channel.Channel<Chunk.Chunk<A>, Chunk.Chunk<A>, E, E, unknown, unknown> => {
  const next: Channel.Channel<Chunk.Chunk<A>, Chunk.Chunk<A>, E, E, unknown, unknown> = Channel.readWithCause({
    onInput: (chunk: Chunk.Chunk<A>) => {
      const noted = run.received(chunk)
      const write = Channel.flatMap(Channel.write(chunk), () => next)
      return noted === nothing ? write : Channel.flatMap(Channel.fromEffect(noted), () => write)
    },
    onFailure: (cause: Cause.Cause<E>) =>
      Channel.flatMap(Channel.fromEffect(run.ended(Exit.failCause(cause))), () => Channel.failCause(cause)),
    onDone: (done: unknown) => Channel.as(Channel.fromEffect(run.ended(Exit.void)), done)
  })
  return next
}

export const guardStream = <A, E, R>(
  self: Stream.Stream<A, E, R>,
  cell: Cell,
  isOutput: Predicate<A>,
  classify: Classify<void, E>
): Stream.Stream<A, E | CircuitOpen, R> => {
  const start = Effect.map(acquire(cell), (permit) => {
    const startedAt = permit.permit?.at ?? cell.now(permit.clock)
    return new Run<A, E>(permit, startedAt, isOutput, classify)
  })
  return Stream.unwrapScoped(
    Effect.map(
      Effect.acquireRelease(start, (run) => run.left()),
      (run) => Stream.fromChannel(Channel.pipeTo(Stream.toChannel(self), watch(run)))
    )
  )
}
