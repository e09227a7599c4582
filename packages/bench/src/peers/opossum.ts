import type * as Policy from "@switchgear/core/Policy"
import CircuitBreaker from "opossum"
import { CallFailed, type Live, type Loss, type Peer, type Seen } from "../conformance/peer.js"
import type { FakeTime } from "./fakeTime.js"
import { justBelow, lossOf, takenAs, throws, tripOf } from "./policies.js"

/** The trip rule in its options; it has a rate over a window, and nothing else. */
const rollingOf = (policy: Policy.Policy) => {
  const { trip } = policy
  switch (trip._tag) {
    case "Consecutive":
      return trip.failureThreshold === 1 ? { percentage: 0, minSamples: 1, window: 10_000, buckets: 10 } : undefined
    case "Rolling":
      return {
        percentage: justBelow(trip.failureRateThreshold) * 100,
        minSamples: trip.minSamples,
        window: trip.window,
        buckets: trip.window / trip.bucketPeriod
      }
    case "AnyOf":
      return undefined
  }
}

const start = (policy: Policy.Policy, time: FakeTime): Live => {
  time.install()
  const rolling = rollingOf(policy)
  if (rolling === undefined) throw new Error("no options for this rule")
  const options: CircuitBreaker.Options = {
    timeout: false,
    errorThresholdPercentage: rolling.percentage,
    volumeThreshold: rolling.minSamples,
    rollingCountTimeout: rolling.window,
    rollingCountBuckets: rolling.buckets,
    resetTimeout: policy.cooldown.base,
    rollingPercentilesEnabled: false,
    enableSnapshots: false,
    errorFilter: (error: unknown) => !(error instanceof CallFailed && takenAs(policy, error) === "failure")
  }
  let openedAt = 0
  const make = (saved?: ReturnType<CircuitBreaker["toJSON"]>) => {
    const given =
      saved === undefined
        ? {}
        : { state: saved.state, status: CircuitBreaker.newStatus({ ...options, stats: saved.status }) }
    const breaker = new CircuitBreaker((body: () => Promise<unknown>) => body(), { ...options, ...given })
    breaker.on("open", () => {
      openedAt = time.now()
    })
    return breaker
  }
  let circuit = make()
  return {
    call: (body) => circuit.fire(body),
    seen: (): Seen => {
      if (circuit.opened) {
        return { state: "Open", until: time.toTrace(openedAt + policy.cooldown.base) }
      }
      return { state: circuit.halfOpen ? "HalfOpen" : "Closed" }
    },
    act: (step) => {
      if (step.do === "restart") {
        const saved: ReturnType<CircuitBreaker["toJSON"]> = JSON.parse(JSON.stringify(circuit.toJSON()))
        circuit.shutdown()
        circuit = make(saved)
      } else if (step.do === "reset") circuit.close()
    },
    close: () => circuit.shutdown()
  }
}

/**
 * opossum 9: `new CircuitBreaker(action, options).fire()`. It counts in buckets that an interval rotates and half-opens by
 * a timer, all faked together with `Date`.
 */
export const opossum: Peer = {
  name: "opossum",
  dependency: "opossum",
  mapping: [
    "Time: `Date` and all timers are faked; a delay that does not fit 32 bits fires after 1 ms, as Node's do.",
    "A rolling rule is `errorThresholdPercentage`, `volumeThreshold` (`minSamples`), `rollingCountTimeout` (`window`) and `rollingCountBuckets`. `timeout` is off, for the traces report timeouts themselves.",
    "It has no consecutive rule. A threshold of one failure is a percentage of 0 and a volume of 1; a higher one it cannot express.",
    "Its rate asks for more than the threshold (`>`): it is given the threshold less 1e-9.",
    "What the policy ignores is an error that its `errorFilter` filters, which it counts as a success. It has no third outcome for a caller who leaves.",
    "`until` is the time of its `open` event plus `resetTimeout`. `reset` is `close()`. A restart is `toJSON`, then `state` of its constructor and `newStatus`.",
    "`open()` and `disable()` are no forced states: the one ends by its timer, the other does not end an Open."
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
        return step.elapsed === undefined && step.resumeAt === undefined ? undefined : "a restart on another clock"
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
    if (policy.trip._tag === "AnyOf") return "two trip rules at once"
    if (rollingOf(policy) === undefined) return "more than one failure in a row"
    const losses: Array<Loss> = [
      lossOf.degradation,
      lossOf.leases,
      lossOf.oneProbe,
      lossOf.oneSuccess,
      lossOf.kinds,
      lossOf.kindCooldowns,
      lossOf.jitter,
      lossOf.resetAfter,
      lossOf.hints,
      lossOf.escalation,
      lossOf.ignoredIsNeutral,
      lossOf.slow
    ]
    return { losses, start: (time) => start(policy, time) }
  },
  refuses: (policy, path) => {
    const trip = tripOf(policy)
    if (trip === undefined) return undefined
    const make = (options: CircuitBreaker.Options) =>
      throws(() => new CircuitBreaker(async () => {}, { enableSnapshots: false, ...options }).shutdown())
    if (path === "trip.failureRateThreshold") {
      return make({ errorThresholdPercentage: Number(trip["failureRateThreshold"]) * 100 })
    }
    return undefined
  },
  tells: (field) => field === "permit" || field === "state" || field === "until",
  dialects: {
    "in-flight-and-rejected-are-not-samples":
      'its rate is failures by fires, and every call fires (README, "Calculating errorThresholdPercentage")',
    "success-completing-minimum-trips": "only a failure can open it"
  }
}
