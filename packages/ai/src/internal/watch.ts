import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type { Insulation } from "./insulate.js"

/**
 * What a model was doing when a call of it failed. A call may run the caller's own code: the toolkit it was given, and its
 * tools. Those errors are nobody's health; and once a tool has run, no other model may run it again.
 */
export class Watch {
  /** A tool was started, so the model had answered. */
  answered = false
  /** What failed is the caller's. */
  foreign = false
  /** Tools that are running. */
  busy = 0

  constructor(
    private readonly insulation: Insulation,
    /** Runs when the model is known to have answered. */
    private readonly onAnswer: Effect.Effect<unknown> = Effect.void
  ) {}

  /** Options whose toolkit tells this watch what happens to it. */
  options<O extends object>(options: O): O {
    const toolkit: unknown = Reflect.get(options, "toolkit")
    if (!Predicate.isObject(toolkit)) return options
    const watched = Effect.isEffect(toolkit)
      ? Effect.map(this.own(toolkit), (resolved) => this.toolkit(resolved))
      : this.toolkit(toolkit)
    return { ...options, toolkit: watched }
  }

  private toolkit(toolkit: unknown): unknown {
    if (!Predicate.hasProperty(toolkit, "handle") || !Predicate.isFunction(toolkit.handle)) return toolkit
    const { handle } = toolkit
    return Object.create(toolkit, {
      handle: { value: (...args: ReadonlyArray<unknown>) => this.tool(handle.apply(toolkit, args)) }
    })
  }

  private tool<A, E, R>(run: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.suspend(() => {
      const first = !this.answered
      this.answered = true
      this.busy++
      const own = Effect.ensuring(
        this.own(run),
        Effect.sync(() => {
          this.busy--
        })
      )
      return first ? Effect.zipRight(this.onAnswer, own) : own
    })
  }

  private own<A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> {
    return Effect.tapErrorCause(this.insulation.outside(self), (cause) =>
      Effect.sync(() => {
        if (!Cause.isInterruptedOnly(cause)) this.foreign = true
      })
    )
  }
}
