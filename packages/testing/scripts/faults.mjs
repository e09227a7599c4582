// Puts one fault at a time into a source and tells after how much lock-step and the exhaustive check find it:
// `node packages/testing/scripts/faults.mjs [faults.json] [sequences] [actions less than usual]`
import { readFileSync } from "node:fs"
import { run } from "./run.mjs"

const [file = new URL("faults.json", import.meta.url), sequences = "20000", less = "1"] = process.argv.slice(2)
const faults = JSON.parse(readFileSync(file, "utf8"))
let missed = 0
for (const fault of faults) {
  const { byHistories, bySequences } = await run("scripts/faults.ts", fault)
  const random = bySequences(Number(sequences), 1)
  const exhaustive = byHistories(Number(less))
  if (random === null || exhaustive === null) missed++
  console.log(`${fault.name} (${fault.file})`)
  console.log(`  lock-step: ${random === null ? "NOT FOUND" : `after ${random.after} sequences, ${random.trace}`}`)
  console.log(
    `  exhaustive: ${exhaustive === null ? "NOT FOUND" : `after ${exhaustive.after} histories, ${exhaustive.what}`}`
  )
}
console.log(`${faults.length} faults, ${missed} of them missed by one or the other`)
if (missed > 0) process.exitCode = 1
