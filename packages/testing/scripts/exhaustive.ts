import * as Exhaustive from "../src/Exhaustive.js"

const deeper = Number(process.argv[2] ?? 0)
let total = 0
for (const { alphabet, depth, name, policy } of Exhaustive.breakerCases()) {
  const began = process.hrtime.bigint()
  const { byLength, histories, violation } = Exhaustive.explore(Exhaustive.breaker(policy, alphabet), depth + deeper)
  const seconds = Number(process.hrtime.bigint() - began) / 1e9
  total += histories
  console.log(`${name}: ${histories} histories (${byLength.join(", ")}) in ${seconds.toFixed(1)} s`)
  if (violation !== null) {
    console.log(violation.message)
    console.log(JSON.stringify({ id: name, policy, steps: violation.history }))
    process.exitCode = 1
  }
}
console.log(`${total} histories`)
