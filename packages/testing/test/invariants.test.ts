import * as Policy from "@switchgear/core/Policy"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Arbitraries from "../src/Arbitraries.js"
import * as Invariants from "../src/Invariants.js"
import * as Machines from "../src/Machines.js"

const numRuns = Number(process.env["INVARIANT_RUNS"] ?? 500)

describe("every run of the machine", () => {
  for (const invariant of Object.values(Invariants.invariants)) {
    it(`${invariant.rule}: ${invariant.name}`, () => {
      fc.assert(
        fc.property(Arbitraries.scenario(), ({ policy, steps }) => {
          const run = Invariants.record(Machines.real, Policy.make(policy), steps)
          run.moments.forEach((last, index) => {
            const broken = invariant.check({ ...run, moments: run.moments.slice(0, index + 1) }, last)
            if (broken !== null) throw new Error(`step ${index}: ${broken}`)
          })
        }),
        { numRuns }
      )
    })
  }

  it("T1: shifting all times changes nothing but the times", () => {
    fc.assert(
      fc.property(Arbitraries.scenario(), fc.integer({ min: -100_000, max: 100_000 }), ({ policy, steps }, times) => {
        expect(Invariants.shiftInvariance(Machines.real, Policy.make(policy), steps, times)).toBeNull()
      }),
      { numRuns }
    )
  })
})
