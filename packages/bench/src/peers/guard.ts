import * as Breaker from "@switchgear/core/Breaker"
import * as Guard from "@switchgear/core/Guard"
import * as Policy from "@switchgear/core/Policy"
import { CallFailed, CallIgnored, type Live, type Peer } from "../conformance/peer.js"
import type { FakeTime } from "./fakeTime.js"

const start = (policy: Policy.Policy, time: FakeTime): Live => {
  // the trace's own times: our machine takes any origin
  const now = () => time.toTrace(time.now())
  const guard = Guard.make({
    name: "trace",
    policy,
    now,
    random: () => 0,
    classifyError: (error) => {
      if (error instanceof CallFailed) return Breaker.failure(error.kind, error)
      return error instanceof CallIgnored ? Breaker.ignored : Breaker.released
    },
    classifyValue: (value) =>
      typeof value === "object" && value !== null && "latency" in value && typeof value.latency === "number"
        ? Breaker.success(value.latency)
        : Breaker.success()
  })
  return {
    call: (body, signal) => guard.run(body, { signal }),
    seen: () => {
      const { retryAfter = null, state, until = null } = guard.view()
      return { state, retryAfter, until }
    },
    act: (step) => {
      switch (step.do) {
        case "forceOpen":
          return guard.command(Breaker.forceOpen(step.for))
        case "forceClosed":
          return guard.command(Breaker.forceClosed)
        case "auto":
          return guard.command(Breaker.auto)
        case "reset":
          return guard.command(Breaker.reset)
        case "restart":
          return guard.restore(guard.snapshot(time.now()), time.now())
      }
    },
    close: () => {}
  }
}

/**
 * Our own machine around a promise, driven as the peers are. What it misses here the harness does wrong.
 */
export const guard: Peer = {
  name: "switchgear `Guard`",
  dependency: "@switchgear/core",
  mapping: [
    "The control of this page: our machine around a promise, driven by the same harness as the others. What a promise cannot say (a latency of a failure's own, a permit for the rest of a stream, the luck of jitter) is not asked of it here; the machine itself is asked everything.",
    "Time: the guard's own `now`."
  ],
  lacks: (step) => {
    if (step.do === "tail") return "a permit for the rest of a stream"
    if ("rnd" in step && step.rnd !== undefined && step.rnd > 0) return "a given luck of jitter"
    return undefined
  },
  fit: (policy) => ({ losses: [], start: (time) => start(policy, time) }),
  refuses: (policy, path) => {
    const decoded = Policy.decode(policy)
    return decoded._tag === "Failure" && decoded.faults.some((fault) => fault.path === path)
  },
  tells: () => true,
  dialects: {}
}
