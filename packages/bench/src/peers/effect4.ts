import type * as Policy from "@switchgear/core/Policy"
import * as Clock from "effect4/Clock"
import * as Context from "effect4/Context"
import * as Duration from "effect4/Duration"
import * as Effect from "effect4/Effect"
import * as Exit from "effect4/Exit"
import * as CircuitBreaker from "effect4/persistence/CircuitBreaker"
import * as Schedule from "effect4/Schedule"
import * as Scope from "effect4/Scope"
import { CallFailed, type Live, type Loss, type Peer, type Seen } from "../conformance/peer.js"
import type { FakeTime } from "./fakeTime.js"
import { factorOf, lossOf, takenAs, throws, tripOf, windowed } from "./policies.js"

const key = "trace"

const tripPolicyOf = (policy: Policy.Policy): CircuitBreaker.TripPolicy | undefined => {
  const { trip } = policy
  switch (trip._tag) {
    case "Consecutive":
      return CircuitBreaker.consecutive(trip.failureThreshold)
    case "Rolling":
      return CircuitBreaker.rate({
        threshold: trip.failureRateThreshold,
        minimumCalls: trip.minSamples,
        size: Math.max(10_000, trip.minSamples)
      })
    case "AnyOf":
      return undefined
  }
}

const clockOf = (time: FakeTime): Clock.Clock => {
  const millis = () => time.now()
  const nanos = () => BigInt(time.now()) * 1_000_000n
  return {
    currentTimeMillisUnsafe: millis,
    currentTimeMillis: Effect.sync(millis),
    currentTimeNanosUnsafe: nanos,
    currentTimeNanos: Effect.sync(nanos),
    monotonicTimeNanosUnsafe: nanos,
    monotonicTimeNanos: Effect.sync(nanos),
    sleep: () => Effect.never
  }
}

const openDurationOf = (policy: Policy.Policy): Duration.Input | Schedule.Schedule<unknown, number> => {
  if (policy.cooldown.multiplier === 1) return Duration.millis(policy.cooldown.base)
  return Schedule.forever.pipe(
    Schedule.modifyDelay(({ attempt }) =>
      Effect.succeed(Duration.millis(policy.cooldown.base * factorOf(policy, attempt)))
    )
  )
}

const start = (policy: Policy.Policy, time: FakeTime): Live => {
  const scope = Effect.runSync(Scope.make())
  const services = Context.make(Clock.Clock, clockOf(time))
  const tripPolicy = tripPolicyOf(policy)
  if (tripPolicy === undefined) throw new Error("no trip policy for this rule")
  const breaker = Effect.runSync(
    CircuitBreaker.make({
      tripPolicy,
      openDuration: openDurationOf(policy),
      maxOpenDuration: Duration.millis(policy.cooldown.maxRetryAfter)
    }).pipe(
      Scope.provide(scope),
      Effect.provide(CircuitBreaker.layerStoreMemory({ idleTimeToLive: Duration.infinity })),
      Effect.provideContext(services)
    )
  )
  const outcomeOf = (error: unknown): CircuitBreaker.Outcome => {
    if (!(error instanceof CallFailed)) return CircuitBreaker.ignored
    const taken = takenAs(policy, error)
    if (taken !== "failure") return taken === "success" ? CircuitBreaker.success : CircuitBreaker.ignored
    return error.retryAfter !== undefined && policy.cooldown.honorRetryAfter
      ? CircuitBreaker.failure({ retryAfter: Duration.millis(error.retryAfter) })
      : CircuitBreaker.failure()
  }
  const ignored = policy.ignoredAs === "success" ? CircuitBreaker.success : CircuitBreaker.ignored
  return {
    call: (body, signal) =>
      Effect.tryPromise({ try: body, catch: (error) => error }).pipe(
        breaker.execute({
          key,
          classify: (exit) => {
            if (Exit.isSuccess(exit)) return CircuitBreaker.success
            const error = exit.cause.reasons.find((reason) => reason._tag === "Fail")
            const outcome = outcomeOf(error?.error)
            return outcome._tag === "Ignored" ? ignored : outcome
          }
        }),
        Effect.provideContext(services),
        (call) => Effect.runPromise(call, { signal })
      ),
    seen: async (): Promise<Seen> => {
      const state = await Effect.runPromise(breaker.state(key).pipe(Effect.provideContext(services)))
      switch (state._tag) {
        case "Closed":
          return { state: "Closed", retryAfter: 0 }
        case "HalfOpen":
          return state.probing ? { state: "HalfOpen" } : { state: "HalfOpen", retryAfter: 0 }
        case "Open": {
          const retryAfter = Duration.toMillis(state.retryAfter)
          return retryAfter === 0
            ? { state: "HalfOpen", retryAfter }
            : { state: "Open", retryAfter, until: time.toTrace(time.now() + retryAfter) }
        }
      }
    },
    act: () => {},
    close: () => Effect.runSync(Scope.close(scope, Exit.void))
  }
}

/**
 * Effect 4's `effect/persistence/CircuitBreaker` over `layerStoreMemory`, one key a trace. Its time is the `Clock` service,
 * which the adapter gives.
 */
export const effect4: Peer = {
  name: "effect 4 `CircuitBreaker`",
  dependency: "effect4",
  mapping: [
    "Time: a `Clock` of the adapter's.",
    "A consecutive rule is `consecutive(n)`. It has no window of time: a rolling rule is put to it as a `rate` over the last 10 000 calls, if the trace holds without a window too.",
    "Cooldowns are its `openDuration`: a duration, or a `Schedule` where the policy has a multiplier. The Retry-After of the call that trips is the `retryAfter` of its outcome, with `maxOpenDuration`.",
    "`classify` says what the policy ignores. A caller who leaves interrupts the call.",
    "`idleTimeToLive` of its store is infinite, so that silence forgets nothing.",
    "It says Open with a `retryAfter` of 0 past the deadline, until the next call: that is read as HalfOpen. `until` is the time plus `retryAfter`.",
    "Its state outlives a process only in Redis, so restarts are not put to it."
  ],
  lacks: (step) => {
    switch (step.do) {
      case "acquire":
      case "success":
      case "failure":
      case "ignored":
      case "released":
      case "observe":
        return "latency" in step && step.latency !== undefined ? "a latency other than the time elapsed" : undefined
      case "restart":
        return "a restart without Redis"
      case "forceOpen":
      case "forceClosed":
      case "auto":
      case "reset":
        return "manual control"
      case "tail":
        return "a permit for the rest of a stream"
    }
  },
  fit: (policy) => {
    const { trip } = policy
    if (trip._tag === "AnyOf") return "two trip rules at once"
    const losses: Array<Loss> = [
      lossOf.degradation,
      lossOf.leases,
      lossOf.oneProbe,
      lossOf.oneSuccess,
      lossOf.kinds,
      lossOf.kindCooldowns,
      lossOf.jitter,
      {
        what: "openings that a recovery forgets at once (its count lasts until it was closed as long as it was last open)",
        without: (given) => ({ ...given, cooldown: { ...given.cooldown, resetAfter: Number.MAX_SAFE_INTEGER } })
      },
      lossOf.decay,
      lossOf.slow
    ]
    if (trip._tag === "Rolling") {
      const day = 86_400_000
      losses.push(windowed("a window of time", 100 * day, day))
    }
    return { losses, start: (time) => start(policy, time) }
  },
  refuses: (policy, path) => {
    const trip = tripOf(policy)
    if (trip === undefined) return undefined
    if (path === "trip.failureThreshold")
      return throws(() => CircuitBreaker.consecutive(Number(trip["failureThreshold"])))
    if (path === "trip.failureRateThreshold") {
      return throws(() => CircuitBreaker.rate({ threshold: Number(trip["failureRateThreshold"]) }))
    }
    return undefined
  },
  tells: (field, state) => field === "permit" || field === "state" || state !== "HalfOpen",
  dialects: {
    "hint-of-an-earlier-failure-still-counts": "the hint of a failure is taken if that failure opens it"
  }
}
