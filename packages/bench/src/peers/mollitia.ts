import type * as Policy from "@switchgear/core/Policy"
import { Circuit, SlidingCountBreaker, SlidingTimeBreaker, type SlidingWindowBreaker } from "mollitia"
import { CallFailed, type Live, type Loss, type Peer, type Seen } from "../conformance/peer.js"
import type { FakeTime } from "./fakeTime.js"
import { justBelow, lossOf, takenAs, throws, tripOf, windowed } from "./policies.js"

/** Its half-open state ends after this many answers, so that one number has to serve for both of ours. */
const permitted = ({ halfOpen }: Policy.Policy): number => Math.max(halfOpen.maxProbes, halfOpen.successThreshold)

const moduleOf = (policy: Policy.Policy): SlidingWindowBreaker | undefined => {
  const { trip } = policy
  const common = {
    openStateDelay: policy.cooldown.base,
    permittedNumberOfCallsInHalfOpenState: permitted(policy),
    onError: (error: unknown) => error instanceof CallFailed && takenAs(policy, error) === "failure"
  }
  switch (trip._tag) {
    case "Consecutive":
      return new SlidingCountBreaker({
        ...common,
        slidingWindowSize: trip.failureThreshold,
        minimumNumberOfCalls: trip.failureThreshold,
        failureRateThreshold: justBelow(1) * 100
      })
    case "Rolling":
      return new SlidingTimeBreaker({
        ...common,
        slidingWindowSize: trip.window,
        minimumNumberOfCalls: trip.minSamples,
        failureRateThreshold: trip.failureRateThreshold === 1 ? justBelow(1) * 100 : trip.failureRateThreshold * 100,
        ...(trip.slowCallDuration === undefined || trip.slowCallRateThreshold === undefined
          ? {}
          : {
              slowCallDurationThreshold: trip.slowCallDuration - 1,
              slowCallRateThreshold:
                trip.slowCallRateThreshold === 1 ? justBelow(1) * 100 : trip.slowCallRateThreshold * 100
            })
      })
    case "AnyOf":
      return undefined
  }
}

const start = (policy: Policy.Policy, time: FakeTime): Live => {
  time.install()
  const breaker = moduleOf(policy)
  if (breaker === undefined) throw new Error("no module for this rule")
  const circuit = new Circuit({
    func: (body: () => Promise<unknown>) => body(),
    options: { modules: [breaker] }
  })
  return {
    call: (body) => circuit.execute(body),
    seen: (): Seen => {
      switch (String(breaker.state)) {
        case "opened":
          return { state: "Open", until: time.toTrace(breaker.stateTimestamp + policy.cooldown.base) }
        case "half-opened":
          return { state: "HalfOpen" }
        default:
          return { state: "Closed" }
      }
    },
    act: (step) => {
      if (step.do === "reset") void breaker.close()
    },
    close: () => circuit.dispose()
  }
}

/**
 * mollitia 0.1: a `Circuit` with a `SlidingCountBreaker` or a `SlidingTimeBreaker`. It half-opens by a timer and reads
 * `Date`; both are faked.
 */
export const mollitia: Peer = {
  name: "mollitia",
  dependency: "mollitia",
  mapping: [
    "Time: `Date` and all timers are faked; a delay that does not fit 32 bits fires after 1 ms, as Node's do.",
    "A consecutive rule is a `SlidingCountBreaker` whose window and minimum are n calls and whose rate is all of them. A rolling rule is a `SlidingTimeBreaker`; it keeps each call's time instead of buckets, and no more than 1 000 calls.",
    "Its rates switch themselves off at 100: a threshold of 1 is given as 100 less 1e-7. A call is slow when it takes longer (`>`) than its threshold: it is given one ms less.",
    "What the policy ignores is an error for which its `onError` says false, which it counts as a success. It has no third outcome for a caller who leaves.",
    "`permittedNumberOfCallsInHalfOpenState` is the larger of `maxProbes` and `successThreshold`: it closes, or opens, when that many have answered.",
    "`until` is its `stateTimestamp` plus `openStateDelay`. `reset` is `close()`. Its state outlives a process only with an addon over Redis, so restarts are not put to it."
  ],
  lacks: (step, before) => {
    if (step.at < before) return "a deadline by the clock (a timer does not feel it step back)"
    switch (step.do) {
      case "acquire":
      case "success":
      case "failure":
      case "ignored":
      case "observe":
      case "reset":
        return "latency" in step && step.latency !== undefined ? "a latency other than the time elapsed" : undefined
      case "restart":
        return "a restart without Redis"
      case "forceOpen":
        return "holding it open"
      case "forceClosed":
        return "forcing it closed"
      case "auto":
        return "giving control back"
      case "released":
        return "an outcome that is neither success nor failure"
      case "tail":
        return "a permit for the rest of a stream"
    }
  },
  fit: (policy) => {
    const { trip } = policy
    if (trip._tag === "AnyOf") return "two trip rules at once"
    const probes = permitted(policy)
    const losses: Array<Loss> = [
      lossOf.degradation,
      lossOf.leases,
      {
        what: "other numbers of probes at a time and of successes to close",
        without: (given) => ({
          ...given,
          halfOpen: { ...given.halfOpen, maxProbes: probes, successThreshold: probes }
        })
      },
      lossOf.kinds,
      lossOf.kindCooldowns,
      lossOf.jitter,
      lossOf.resetAfter,
      lossOf.hints,
      lossOf.escalation,
      lossOf.ignoredIsNeutral,
      lossOf.decay
    ]
    if (trip._tag === "Rolling") {
      losses.push(windowed("buckets", trip.window, Math.max(1, trip.window / 1000)))
    }
    return { losses, start: (time) => start(policy, time) }
  },
  refuses: (policy, path) => {
    const trip = tripOf(policy)
    if (trip === undefined) return undefined
    if (path === "trip.failureThreshold") {
      const size = Number(trip["failureThreshold"])
      return throws(() => new SlidingCountBreaker({ slidingWindowSize: size, minimumNumberOfCalls: size }))
    }
    if (path === "trip.failureRateThreshold") {
      const rate = Number(trip["failureRateThreshold"]) * 100
      return throws(() => new SlidingTimeBreaker({ failureRateThreshold: rate }))
    }
    return undefined
  },
  tells: (field) => field === "permit" || field === "state" || field === "until",
  dialects: { "success-completing-minimum-trips": "only a failure, or a slow success, can open it" }
}
