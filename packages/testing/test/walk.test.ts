import * as Fallback from "@switchgear/core/Fallback"
import * as fc from "fast-check"
import { describe, it } from "vitest"
import * as Arbitraries from "../src/Arbitraries.js"
import * as WalkInvariants from "../src/WalkInvariants.js"

const numRuns = Number(process.env["INVARIANT_RUNS"] ?? 1000)

describe("every fallback walk", () => {
  for (const { check, name, rule } of Object.values(WalkInvariants.invariants)) {
    it(`${rule}: ${name}`, () => {
      fc.assert(
        fc.property(Arbitraries.walk, ({ events, plan }) => {
          const settings = Fallback.make(plan.settings)
          WalkInvariants.record({ ...plan, settings }, events).forEach((moment, index) => {
            const broken = check(moment)
            if (broken !== null) throw new Error(`step ${index}: ${broken}`)
          })
        }),
        { numRuns }
      )
    })
  }
})
