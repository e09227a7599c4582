// Every sequence over a small alphabet, for policies of all trip modes: `node packages/testing/scripts/exhaustive.mjs`.
// An argument adds that many actions to each depth.
import * as Exhaustive from "../src/Exhaustive.js"

const deeper = Number(process.argv[2] ?? 0)
let total = 0
for (const { alphabet, name, policy, starts } of Exhaustive.breakerCases()) {
  for (const start of starts) {
    const began = process.hrtime.bigint()
    const depth = start.depth + deeper
    const found = Exhaustive.explore(Exhaustive.breaker(policy, alphabet, start.prefix), depth)
    const seconds = Number(process.hrtime.bigint() - began) / 1e9
    total += found.histories
    console.log(`${name}; ${start.name}, ${depth} actions: ${found.histories} histories, ${seconds.toFixed(1)} s`)
    if (found.violation === null) continue
    console.log(found.violation.message)
    console.log(JSON.stringify({ id: name, policy, steps: [...start.prefix, ...found.violation.history] }))
    process.exitCode = 1
  }
}
console.log(`${total} histories`)
