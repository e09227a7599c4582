import type * as Policy from "@switchgear/core/Policy"
import {
  CircuitState,
  ConsecutiveBreaker,
  circuitBreaker,
  DelegateBackoff,
  type FailureReason,
  handleWhen,
  type IBreaker,
  SamplingBreaker
} from "cockatiel"
import {
  CallFailed,
  CallIgnored,
  CallReleased,
  type Live,
  type Loss,
  type Peer,
  type Seen
} from "../conformance/peer.js"
import type { FakeTime } from "./fakeTime.js"
import { factorOf, justBelow, lossOf, takenAs, throws, tripOf, windowed } from "./policies.js"

const samplingWindow = (window: number): { readonly period: number; readonly count: number } => {
  const count = Math.max(5, Math.ceil(window / 1000))
  return { period: Math.round(window / count), count }
}

const breakerOf = (policy: Policy.Policy): IBreaker | undefined => {
  const { trip } = policy
  switch (trip._tag) {
    case "Consecutive":
      return new ConsecutiveBreaker(trip.failureThreshold)
    case "Rolling":
      return new SamplingBreaker({
        threshold: justBelow(trip.failureRateThreshold),
        duration: trip.window,
        // a hair less, because the product of its division is compared with a count
        minimumRps: (trip.minSamples - 1e-6) / (trip.window / 1000)
      })
    case "AnyOf":
      return undefined
  }
}

const start = (policy: Policy.Policy, time: FakeTime): Live => {
  time.install()
  let duration = 0
  const halfOpenAfter = new DelegateBackoff<{ readonly attempt: number; readonly result: FailureReason<unknown> }>(
    ({ attempt, result }) => {
      const failed = "error" in result && result.error instanceof CallFailed ? result.error : undefined
      const base = (failed === undefined ? undefined : policy.cooldownByKind[failed.kind]) ?? policy.cooldown.base
      const hint = policy.cooldown.honorRetryAfter ? (failed?.retryAfter ?? 0) : 0
      duration = Math.max(base * factorOf(policy, attempt), Math.min(hint, policy.cooldown.maxRetryAfter))
      return duration
    }
  )
  const counted = handleWhen((error) =>
    error instanceof CallFailed
      ? takenAs(policy, error) === "failure"
      : !(error instanceof CallIgnored || error instanceof CallReleased)
  )
  const make = (initialState?: unknown) => {
    const breaker = breakerOf(policy)
    if (breaker === undefined) throw new Error("no breaker for this rule")
    return circuitBreaker(counted, {
      halfOpenAfter,
      breaker,
      ...(initialState === undefined ? {} : { initialState })
    })
  }
  let circuit = make()
  let isolated: { readonly dispose: () => void } | undefined
  const openedAt = (): number => {
    const { ownState } = circuit.toJSON() as { readonly ownState: { readonly openedAt?: number } }
    return ownState.openedAt ?? 0
  }
  return {
    call: (body, signal) => circuit.execute(body, signal),
    seen: (): Seen => {
      switch (circuit.state) {
        case CircuitState.Closed:
          return { state: "Closed" }
        case CircuitState.Isolated:
          return { state: "Open", until: null }
        case CircuitState.HalfOpen:
          return { state: "HalfOpen" }
        case CircuitState.Open: {
          const until = openedAt() + duration
          return time.now() < until ? { state: "Open", until: time.toTrace(until) } : { state: "HalfOpen" }
        }
      }
    },
    act: (step) => {
      if (step.do === "forceOpen") isolated ??= circuit.isolate()
      else if (step.do === "reset") isolated?.dispose()
      else if (step.do === "restart") circuit = make(JSON.parse(JSON.stringify(circuit.toJSON())))
    },
    close: () => {}
  }
}

/**
 * cockatiel 3: `circuitBreaker(handleWhen(...), { halfOpenAfter, breaker })`, with `ConsecutiveBreaker` and
 * `SamplingBreaker`. It reads `Date.now`, which is faked; it has no timers.
 */
export const cockatiel: Peer = {
  name: "cockatiel",
  dependency: "cockatiel",
  mapping: [
    "Time: it reads `Date.now`, which the adapter sets.",
    "A consecutive rule is a `ConsecutiveBreaker`. A rolling rule is a `SamplingBreaker` over the same window; its `minimumRps` is `minSamples` per second of the window. It divides the window into five parts, or one a second, whatever `bucketPeriod` says.",
    "Its rate asks for more than the threshold (`>`) where the traces ask for at least it (`>=`): it is given the threshold less 1e-9.",
    "Cooldowns are a `DelegateBackoff`, so that a multiplier, a grace, a cooldown by kind and the Retry-After of the call that trips are within its reach.",
    "What the policy ignores is an error that its `handleWhen` does not handle; a caller who leaves aborts the signal of `execute` and its call rejects with an `AbortError`, which is not handled either.",
    "`forceOpen` without an end is `isolate()`, `reset` after it is `dispose()`. A restart is `toJSON` and `initialState`.",
    "Its `state` stays Open past the deadline until the next call: that is read as HalfOpen, since the next call is a probe. `until` is the `openedAt` of `toJSON` plus the last delay it took from its backoff.",
    "While a probe runs, other callers wait for its end: they are taken as refused now, and leave."
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
      case "forceOpen":
        return step.for === undefined ? undefined : "forcing it open for a while"
      case "reset":
        return undefined
      case "restart":
        return step.elapsed === undefined && step.resumeAt === undefined ? undefined : "a restart on another clock"
      case "forceClosed":
        return "forcing it closed"
      case "auto":
        return "giving control back without closing it"
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
      lossOf.jitter,
      lossOf.resetAfter,
      lossOf.ignoredIsSuccess,
      lossOf.decay,
      lossOf.slow
    ]
    if (trip._tag === "Rolling") {
      const { count, period } = samplingWindow(trip.window)
      losses.push(windowed("buckets of a chosen length", period * count, period))
    }
    return { losses, start: (time) => start(policy, time) }
  },
  refuses: (policy, path) => {
    const trip = tripOf(policy)
    if (trip === undefined) return undefined
    if (path === "trip.failureThreshold") {
      return throws(() => new ConsecutiveBreaker(Number(trip["failureThreshold"])))
    }
    if (path === "trip.failureRateThreshold") {
      return throws(
        () => new SamplingBreaker({ threshold: Number(trip["failureRateThreshold"]), duration: Number(trip["window"]) })
      )
    }
    return undefined
  },
  tells: (field) => field === "permit" || field === "state" || field === "until",
  dialects: {
    "probe-ignored-frees-slot":
      'an error that its policy does not handle closes a half-open circuit (a comment says: "for our purposes it\'s a success")',
    "success-completing-minimum-trips": "only a failure can open it (`IBreaker.success` returns nothing)",
    "hint-of-an-earlier-failure-still-counts": "its backoff is shown the failure that trips, and no other"
  }
}
