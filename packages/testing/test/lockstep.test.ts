import * as Policy from "@switchgear/core/Policy"
import * as fc from "fast-check"
import { expect, it } from "vitest"
import * as Arbitraries from "../src/Arbitraries.js"
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
