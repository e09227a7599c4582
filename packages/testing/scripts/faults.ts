import * as Policy from "@switchgear/core/Policy"
import * as fc from "fast-check"
import * as Arbitraries from "../src/Arbitraries.js"
import * as Exhaustive from "../src/Exhaustive.js"
import * as LockStep from "../src/LockStep.js"
import * as Machines from "../src/Machines.js"

/** How many random sequences it took to find a difference, with the shortest one found; `null`: none was. */
export const bySequences = (
  numRuns: number,
  seed: number
): { readonly after: number; readonly trace: string } | null => {
  const details = fc.check(
    fc.property(
      Arbitraries.scenario(),
      ({ policy, steps }) =>
        LockStep.firstDifference(Machines.real, Machines.naive, Policy.make(policy), steps) === null
    ),
    { numRuns, seed }
  )
  return details.failed ? { after: details.numRuns, trace: JSON.stringify(details.counterexample?.[0] ?? null) } : null
}

/** How many histories it took to break something; `null`: none did. `less` actions than usual. */
export const byHistories = (less: number): { readonly after: number; readonly what: string } | null => {
  let before = 0
  for (const { alphabet, policy, starts } of Exhaustive.breakerCases()) {
    for (const { depth, prefix } of starts) {
      const found = Exhaustive.explore(Exhaustive.breaker(policy, alphabet, prefix), depth - less)
      before += found.histories
      if (found.violation !== null) return { after: before, what: found.violation.message }
    }
  }
  return null
}
