import type * as AiError from "@effect/ai/AiError"
import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
import { type CircuitOpen, findOpen } from "@switchgear/breaker/CircuitOpen"
import type * as Fallback from "@switchgear/core/Fallback"
import * as FallbackBudget from "@switchgear/core/FallbackBudget"
import * as Walk from "@switchgear/core/Walk"
import * as Cause from "effect/Cause"
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { Attempt, Target } from "./attempt.js"
import { exhausted, openTo, refused } from "./faults.js"
import { meaning } from "./redact.js"

/** One target of a walk. */
export interface Place {
  readonly name: string
  readonly contextWindow: number | undefined
  readonly target: Target
}

/** Monotonic (SEMANTICS T5). */
const millis = Effect.clockWith((clock) => Effect.map(clock.currentTimeNanos, (nanos) => Number(nanos) / 1_000_000))

/** What all calls of one fallback model share. */
export class Plan {
  private readonly places: ReadonlyMap<string, Place>
  private budget = FallbackBudget.initial(0)

  constructor(
    private readonly primary: Place,
    private readonly chain: ReadonlyArray<Place>,
    readonly settings: Fallback.Settings
  ) {
    this.places = new Map([primary, ...chain].map((place) => [place.name, place]))
  }

  get(name: string): Target | undefined {
    return this.places.get(name)?.target
  }

  /** The first step of a call's walk, by the states of the breakers as they are now (ROUTING H4). */
  readonly start: Effect.Effect<Walk.Next> = Effect.flatMap(millis, (now) => {
    this.budget = FallbackBudget.first(this.budget, now)
    const targets: Effect.Effect<ReadonlyArray<Walk.Target>> = this.settings.preferHealthyState
      ? Effect.forEach(this.chain, stated)
      : Effect.succeed(this.chain)
    return Effect.map(targets, (chain) => Walk.start({ primary: this.primary, chain, settings: this.settings }))
  })

  /** ROUTING F13 */
  isOverBudget(next: Walk.Next): Effect.Effect<boolean> {
    return Effect.map(millis, (now) => next.hop && !FallbackBudget.admits(this.settings.budget, this.budget, now))
  }

  /** Counts a hop once it is really called. */
  count(next: Walk.Next): Effect.Effect<void> {
    return Effect.map(millis, (now) => {
      if (next.hop) this.budget = FallbackBudget.hop(this.budget, now)
    })
  }
}

const stated = ({ contextWindow, name, target }: Place): Effect.Effect<Walk.Target> =>
  Effect.map(CircuitBreaker.view(target.breaker), ({ state }) => ({ name, contextWindow, state }))

/** One call's walk: what happened so far, and the errors it had. */
export class Walking<E> {
  private readonly causes = new Map<number, Cause.Cause<E | AiError.AiError>>()
  private opens: ReadonlyArray<CircuitOpen> = []

  constructor(
    private readonly plan: Plan,
    private readonly method: string
  ) {}

  /**
   * The next step after a call that failed before its output; or the failure itself, when it ends the walk whatever the
   * settings say: the caller is gone (ROUTING F9), or what failed was his own.
   */
  failed(
    next: Walk.Next,
    cause: Cause.Cause<E | AiError.AiError | CircuitOpen>,
    { watch }: Attempt<unknown>
  ): Effect.Effect<Walk.Step, E | AiError.AiError> {
    const own = Cause.map(cause, openTo(this.method))
    if (Cause.isInterruptedOnly(cause) || watch.foreign) return Effect.failCause(own)
    this.causes.set(next.attempts.length, own)
    return Effect.map(Effect.clock, (clock) => Walk.step(next, this.event(next, cause, watch.answered, clock)))
  }

  private event(next: Walk.Next, cause: Cause.Cause<unknown>, answered: boolean, clock: Clock.Clock): Walk.Event {
    const error = Cause.failureOption(cause)
    if (Option.isNone(error)) return Walk.failed({ kind: "unknown" }, answered)
    const open = findOpen(error.value)
    if (open !== undefined && !answered) {
      this.opens = [...this.opens, open]
      return Walk.refused("circuit_open", { retryAfter: open.retryAfterMillis })
    }
    const target = this.plan.get(next.target.name)
    const failure = meaning(error.value, {
      secrets: target?.secrets ?? [],
      provider: target?.provider,
      now: clock.unsafeCurrentTimeMillis()
    })
    // A tool of the caller has run: to the walk, that is output (ROUTING F7).
    return Walk.failed(failure, answered)
  }

  /** What a walk that is over answers (ROUTING F6, F10). */
  answer({ answer }: Walk.Done): Effect.Effect<never, E | AiError.AiError> {
    switch (answer._tag) {
      case "Failed":
      case "Broken":
        return this.at(answer.index)
      case "Exhausted":
        return Effect.fail(
          exhausted(
            answer.indices.map((index) => Cause.squash(this.causes.get(index) ?? Cause.empty)),
            this.method
          )
        )
      case "Refused": {
        const [soonest] = [...this.opens].sort((a, b) => wait(a) - wait(b))
        return soonest === undefined ? this.impossible(answer._tag) : Effect.fail(refused(soonest, this.method))
      }
      default:
        return this.impossible(answer._tag)
    }
  }

  private at(index: number): Effect.Effect<never, E | AiError.AiError> {
    const cause = this.causes.get(index)
    return cause === undefined ? this.impossible("Failed") : Effect.failCause(cause)
  }

  private impossible(tag: string): Effect.Effect<never> {
    return Effect.dieMessage(`a walk over models cannot end with ${tag}`)
  }
}

const wait = (open: CircuitOpen): number => open.retryAfterMillis ?? Number.POSITIVE_INFINITY

/** For telemetry: who answered, how many were tried, and why the first could not (ROUTING T3). */
export const annotate = (attempts: ReadonlyArray<Walk.Attempt>): Effect.Effect<void> => {
  const served = attempts.find((one) => one.event._tag === "Served")
  const first = attempts[0]?.event
  const reason = first?._tag === "Failed" ? first.failure.kind : first?._tag === "Refused" ? first.kind : undefined
  return Effect.annotateCurrentSpan({
    "switchgear.attempts": attempts.length,
    ...(served === undefined ? {} : { "switchgear.target": served.target.name }),
    ...(reason === undefined ? {} : { "switchgear.failure_kind": reason })
  })
}
