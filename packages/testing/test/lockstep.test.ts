import * as Policy from "@switchgear/core/Policy"
import * as fc from "fast-check"
import { expect, it } from "vitest"
import * as Arbitraries from "../src/Arbitraries.js"
import * as Invariants from "../src/Invariants.js"
import { fillDefaults } from "../src/internal/naive/policy.js"
import * as LockStep from "../src/LockStep.js"
import * as Machines from "../src/Machines.js"

const numRuns = Number(process.env["LOCKSTEP_RUNS"] ?? 3000)

const decoded = (input: unknown): Policy.Policy => {
  const result = Policy.decode(input)
  if (result._tag === "Success") return result.policy
  throw new Error(result.faults.map(({ message, path }) => `${path}: ${message}`).join("\n"))
}

it("V: a valid policy decodes to what its defaults say", () => {
  fc.assert(
    fc.property(Arbitraries.policy, (input) => {
      expect(decoded(input)).toEqual(fillDefaults(input))
    }),
    { numRuns }
  )
})

it("V: every fault of a policy is named", () => {
  fc.assert(
    fc.property(Arbitraries.invalidPolicy, ({ input, paths }) => {
      const result = Policy.decode(input)
      expect(result._tag === "Failure" ? result.faults.map((fault) => fault.path) : []).toEqual(
        expect.arrayContaining([...paths])
      )
    }),
    { numRuns }
  )
})

it("the machine and the naive machine answer alike, whatever happens", { timeout: 3_600_000 }, () => {
  fc.assert(
    fc.property(Arbitraries.scenario(), ({ policy, steps }) => {
      const difference = LockStep.firstDifference(Machines.real, Machines.naive, decoded(policy), steps)
      if (difference !== null) throw new Error(JSON.stringify(difference))
    }),
    { numRuns }
  )
})

it("R1, C3: a latency or retryAfter that is no number of ms counts as not given, on both", () => {
  const odd = fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -5)
  fc.assert(
    fc.property(Arbitraries.scenario(), odd, odd, ({ policy, steps }, latency, retryAfter) => {
      const strange = steps.map((step) => {
        if (step.do === "failure") return { ...step, latency, retryAfter }
        return step.do === "success" ? { ...step, latency } : step
      })
      const plain = steps.map((step) => {
        if (step.do !== "failure" && step.do !== "success") return step
        const { latency: _latency, ...rest } = step
        if (rest.do === "success") return rest
        const { retryAfter: _retryAfter, ...failure } = rest
        return failure
      })
      const given = decoded(policy)
      expect(LockStep.firstDifference(Machines.real, Machines.naive, given, strange)).toBeNull()
      const views = (played: typeof steps) =>
        Invariants.record(Machines.real, given, played).moments.map((moment) => moment.taken.view)
      expect(views(strange)).toEqual(views(plain))
    }),
    { numRuns: Math.min(numRuns, 500) }
  )
})

it("S9: under another policy nothing trips by restoring, a cooldown keeps what is left, and the era goes on", () => {
  fc.assert(
    fc.property(Arbitraries.scenario(), Arbitraries.policy, fc.nat(60), ({ policy, steps }, other, elapsed) => {
      const last = Invariants.record(Machines.real, decoded(policy), steps).moments.at(-1)
      if (last === undefined) return
      const next = decoded(other)
      const at = Math.max(last.taken.now, last.after.at)
      const restored = Machines.real.restart(next, last.after, at, elapsed, at)
      expect(restored.era).toBe(last.after.era + 1)
      const view = Machines.real.observe(next, restored, at)
      const { forced, state, until } = last.taken.view
      if (state === "Closed" || state === "Degraded") expect(["Closed", "Degraded"]).toContain(view.state)
      else if (state === "HalfOpen") expect(view.state).toBe("HalfOpen")
      else if (forced && until === undefined) expect(view).toMatchObject({ state: "Open", forced })
      else if (until !== undefined && until - elapsed > at) expect(view).toMatchObject({ state: "Open", forced })
      else expect(view.state).toBe("HalfOpen")
      if (view.until !== undefined && until !== undefined)
        expect(view.until - at).toBeLessThanOrEqual(until - at - elapsed)
      // and it goes on under the new policy as any other state does
      const run: Invariants.Run = { machine: Machines.real, policy: next, moments: [] }
      const taken = { next: { state: restored, permits: new Map() }, now: at, events: [], view }
      const moment = {
        step: { at, do: "restart" as const, elapsed },
        before: last.after,
        after: restored,
        now: at,
        taken
      }
      for (const name of [
        "snapshotsRoundTrip",
        "theViewTellsWhatACallerGets",
        "noNaNAnywhere",
        "statesAreJson",
        "silenceOnlyHeals"
      ]) {
        expect(Invariants.invariants[name]?.check(run, moment) ?? null, name).toBeNull()
      }
    }),
    { numRuns }
  )
})
