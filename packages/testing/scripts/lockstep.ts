import * as Policy from "@switchgear/core/Policy"
import * as fc from "fast-check"
import * as Arbitraries from "../src/Arbitraries.js"
import * as LockStep from "../src/LockStep.js"
import * as Machines from "../src/Machines.js"

const numRuns = Number(process.argv[2] ?? 100_000)
const seed = process.argv[3] === undefined ? undefined : Number(process.argv[3])
let steps = 0
const details = fc.check(
  fc.property(Arbitraries.scenario({ maxLength: 40 }), (scenario) => {
    steps += scenario.steps.length
    return (
      LockStep.firstDifference(Machines.real, Machines.naive, Policy.make(scenario.policy), scenario.steps) === null
    )
  }),
  { numRuns, ...(seed === undefined ? {} : { seed }) }
)
console.log(`seed ${details.seed}: ${details.numRuns} sequences, ${steps} steps`)
if (details.failed) {
  process.exitCode = 1
  for (const scenario of details.counterexample ?? []) {
    console.log(LockStep.firstDifference(Machines.real, Machines.naive, Policy.make(scenario.policy), scenario.steps))
    console.log(JSON.stringify({ id: `seed ${details.seed}, path ${details.counterexamplePath}`, ...scenario }))
  }
  if (details.errorInstance !== null) console.log(details.errorInstance)
}
