// Every sequence over a small alphabet: the breaker under policies of all trip modes, and the fallback walk.
// `node packages/testing/scripts/exhaustive.mjs [breaker|walk] [actions more than usual]`
import * as Exhaustive from "../src/Exhaustive.js"
import * as WalkInvariants from "../src/WalkInvariants.js"

const which = process.argv[2]
const deeper = Number(process.argv[3] ?? 0)

/** Explores a world, prints how many histories that were, and the history that broke something. */
const report = <S, A>(
  name: string,
  world: Exhaustive.World<S, A>,
  depth: number,
  written: (history: ReadonlyArray<A>) => unknown
): number => {
  const began = process.hrtime.bigint()
  const found = Exhaustive.explore(world, depth)
  const seconds = Number(process.hrtime.bigint() - began) / 1e9
  console.log(`${name}: ${found.histories} histories, ${seconds.toFixed(1)} s`)
  if (found.violation !== null) {
    console.log(found.violation.message)
    console.log(JSON.stringify(written(found.violation.history)))
    // With a fault planted on purpose, one history that finds it is enough.
    if (process.env.SWITCHGEAR_FAULT !== undefined) process.exit(1)
    process.exitCode = 1
  }
  return found.histories
}

if (which !== "walk") {
  let total = 0
  for (const { alphabet, name, policy, starts } of Exhaustive.breakerCases()) {
    for (const start of starts) {
      const depth = start.depth + deeper
      const world = Exhaustive.breaker(policy, alphabet, start.prefix)
      total += report(`${name}; ${start.name}, ${depth} actions`, world, depth, (history) => ({
        id: name,
        policy,
        steps: [...start.prefix, ...history]
      }))
    }
  }
  console.log(`breaker: ${total} histories`)
}

if (which !== "breaker") {
  let total = 0
  for (const { events, name, plan } of WalkInvariants.exhaustiveCases()) {
    // longer than any walk: a primary, four hops, a last resort and one event after the end
    const depth = 7 + deeper
    const world = WalkInvariants.world(plan, events)
    total += report(`walk, ${name}`, world, depth, (history) => ({ plan, events: history }))
  }
  console.log(`walk: ${total} histories`)
}
