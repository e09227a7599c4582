import { readFileSync } from "node:fs"
import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
import * as Breaker from "@switchgear/core/Breaker"
import * as Policy from "@switchgear/core/Policy"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Random from "effect/Random"
import { assert, describe, it } from "vitest"
import { stateOf } from "./support/cell.js"

interface Step {
  readonly at: number
  readonly do: string
  readonly call?: string
  readonly kind?: string
  readonly status?: number
  readonly retryAfter?: number
  readonly latency?: number
  readonly rnd?: number
  readonly for?: number
  readonly expect?: Readonly<Record<string, unknown>>
}

interface Trace {
  readonly id: string
  readonly policy: unknown
  readonly steps?: ReadonlyArray<Step>
}

const traces: ReadonlyArray<Trace> = JSON.parse(
  readFileSync(new URL("../../testing/traces/breaker.json", import.meta.url), "utf8")
)

/** A clock that stands where a step says, backwards too. */
class StepClock implements Clock.Clock {
  readonly [Clock.ClockTypeId]: Clock.ClockTypeId = Clock.ClockTypeId
  at = 0
  unsafeCurrentTimeMillis = () => this.at
  unsafeCurrentTimeNanos = () => BigInt(this.at) * 1_000_000n
  currentTimeMillis = Effect.sync(this.unsafeCurrentTimeMillis)
  currentTimeNanos = Effect.sync(this.unsafeCurrentTimeNanos)
  sleep = () => Effect.never
}

const outcomeOf = (step: Step): Breaker.Outcome => {
  switch (step.do) {
    case "success":
      return Breaker.success(step.latency)
    case "failure":
      return Breaker.failure(step.kind ?? "unknown", step)
    default:
      return step.do === "ignored" ? Breaker.ignored : Breaker.released
  }
}

/** Runs a trace through the breaker of Effect and gives, for each step, what its expectation may name. */
const run = (policy: Policy.Policy, steps: ReadonlyArray<Step>) => {
  const clock = new StepClock()
  const { trip } = policy
  const period = trip._tag === "Consecutive" ? 1 : trip._tag === "AnyOf" ? trip.rolling.bucketPeriod : trip.bucketPeriod
  // The breaker's own time starts when it is made; whole buckets before the first step keep the trace's buckets.
  const origin = Math.floor((steps[0]?.at ?? 0) / period) * period
  clock.at = origin
  const permits = new Map<string, CircuitBreaker.Permit>()
  return Effect.gen(function* () {
    const breaker = yield* CircuitBreaker.make({ name: "traced", policy })
    const results: Array<Record<string, unknown>> = []
    for (const step of steps) {
      clock.at = step.do === "restart" ? Math.max(step.at, stateOf(breaker).at + origin) : step.at
      const result: Record<string, unknown> = {}
      switch (step.do) {
        case "acquire":
        case "tail": {
          const taken =
            step.do === "tail"
              ? yield* CircuitBreaker.tailPermit(breaker)
              : Either.getRight(yield* Effect.either(CircuitBreaker.unsafeAcquire(breaker)))
          result.permit = Option.isSome(taken)
          if (Option.isSome(taken)) permits.set(step.call ?? "", taken.value)
          break
        }
        case "success":
        case "failure":
        case "ignored":
        case "released": {
          const permit = permits.get(step.call ?? "")
          const random: Random.Random = { ...Random.fixed([0]), next: Effect.succeed(step.rnd ?? 0) }
          // What was refused has no permit to report on.
          result.applied =
            permit !== undefined &&
            (yield* Effect.withRandom(CircuitBreaker.report(permit, outcomeOf(step)), random)) === "Applied"
          break
        }
        case "forceOpen":
          yield* CircuitBreaker.forceOpen(breaker, step.for)
          break
        case "forceClosed":
          yield* CircuitBreaker.forceClosed(breaker)
          break
        case "auto":
          yield* CircuitBreaker.auto(breaker)
          break
        case "reset":
          yield* CircuitBreaker.reset(breaker)
          break
        case "restart":
          yield* CircuitBreaker.restore(breaker, yield* CircuitBreaker.snapshot(breaker))
          break
        default:
          assert.strictEqual(step.do, "observe")
      }
      const view = Breaker.observe(policy, stateOf(breaker), clock.at - origin)
      result.state = view.state
      result.retryAfter = view.retryAfter
      result.until = view.until === undefined ? undefined : view.until + origin
      results.push(result)
    }
    return results
  }).pipe(Effect.withClock(clock), Effect.runSync)
}

describe("the published traces through the breaker of Effect", () => {
  for (const trace of traces) {
    const decoded = Policy.decode(trace.policy)
    const { steps } = trace
    if (steps === undefined || decoded._tag === "Failure") continue
    it(trace.id, () => {
      const results = run(decoded.policy, steps)
      for (const [i, step] of steps.entries()) {
        for (const [key, expected] of Object.entries(step.expect ?? {})) {
          assert.deepStrictEqual(results[i]?.[key] ?? null, expected, `step ${i} (${step.do} at ${step.at}): ${key}`)
        }
      }
    })
  }
})
