/**
 * `npm run agreement`: whether the simulator tells the truth. Three scenarios of a minute are played in life, the gateway
 * and its upstreams on sockets, and in the simulator. The transitions must be the same, in order, and the time from each to
 * the next may differ by the tolerance (ms, another one as argument). Then the gateway's own telemetry is put through the same policy, which
 * must make them once more. Scenarios' names after the tolerance play those only.
 */
import { monitorEventLoopDelay } from "node:perf_hooks"
import * as Backtest from "@switchgear/simulator/Backtest"
import * as Script from "@switchgear/simulator/Script"
import * as Simulator from "@switchgear/simulator/Simulator"
import * as Effect from "effect/Effect"
import { live } from "./agreement/life.js"
import { all } from "./agreement/scenarios.js"

/** ms. Sockets, limits kept on a wheel of 100 ms and the machine's other work lie between life and the simulation. */
const tolerance = Number(process.argv[2] ?? 1_000)
const wanted = process.argv.slice(3)
const seed = 1

interface Step {
  readonly at: number
  readonly what: string
}

const seconds = (ms: number | undefined): string => (ms === undefined ? "-" : (ms / 1_000).toFixed(3))

/** Both side by side; whether they agree. */
const compare = (title: string, life: ReadonlyArray<Step>, other: ReadonlyArray<Step>): boolean => {
  let agree = life.length === other.length && life.length > 0
  const lines: Array<string> = []
  let before = 0
  for (let index = 0; index < Math.max(life.length, other.length); index++) {
    const [a, b] = [life[index], other[index]]
    const apart = a === undefined || b === undefined ? undefined : b.at - a.at
    const same = a?.what === b?.what && apart !== undefined && Math.abs(apart - before) <= tolerance
    agree &&= same
    before = apart ?? before
    lines.push(
      `  ${same ? " " : "!"} ${(a?.what ?? "nothing").padEnd(34)} ${seconds(a?.at).padStart(8)}  ${(b?.what === a?.what ? "" : (b?.what ?? "nothing")).padEnd(34)} ${seconds(b?.at).padStart(8)} ${seconds(apart).padStart(8)}`
    )
  }
  process.stdout.write(`  ${title}: ${agree ? "agrees" : "DISAGREES"}\n${lines.join("\n")}\n`)
  return agree
}

const step = (at: number, from: string, to: string, rule: string): Step => ({ at, what: `${from} to ${to} (${rule})` })

let agreed = true
process.stdout.write(
  `${tolerance} ms are tolerated at each step from one transition to the next; times in s: life, what it is compared with, how far apart\n`
)
for (const decoded of all) {
  const scenario = await Effect.runPromise(decoded)
  if (wanted.length > 0 && !wanted.includes(scenario.name)) continue
  const report = await Effect.runPromise(Simulator.run(scenario, { seed }))
  const delay = monitorEventLoopDelay({ resolution: 5 })
  delay.enable()
  const life = await Effect.runPromise(Effect.scoped(live(scenario, Script.make(scenario, seed))))
  delay.disable()
  const lived = life.breakers
    .filter(({ name }) => name === "openai")
    .flatMap(({ transitions }) => transitions)
    .map(({ at, from, reason, to }) => step(Date.parse(at) - life.startedAt, from, to, reason.rule))
  const simulated = report.transitions
    .filter(({ breaker }) => breaker === "openai")
    .map(({ at, from, reason, to }) => step(at, from, to, reason.rule))
  const statuses = Array.from(life.statuses, ([status, count]) => `${count} x ${status === 0 ? "left" : status}`)
  process.stdout.write(
    `\n${scenario.name}: ${scenario.description} In life: ${statuses.join(", ")}; the event loop was late by ${Math.round(delay.percentile(99) / 1e6)} ms (p99), ${Math.round(delay.max / 1e6)} ms at most.\n`
  )
  const one = compare("the simulation", lived, simulated)
  const { policy } = Simulator.ownPolicy(scenario)
  const log = await Effect.runPromise(Backtest.decode(life.telemetry))
  const replayed = policy === undefined ? undefined : Backtest.run(log, { name: "same", policy })
  const target = replayed?.targets.find((each) => each.target === "openai")
  const replay = (changes: ReadonlyArray<Backtest.Change> = []) =>
    changes
      .map(({ at, from, reason, to }) => step(at - life.startedAt, from, to, reason.rule))
      .filter(({ at }) => at <= scenario.duration)
  const two = compare("the backtest of its telemetry, at best", lived, replay(target?.best.changes))
  const three = compare("the backtest of its telemetry, at worst", lived, replay(target?.worst.changes))
  agreed = agreed && one && two && three
}
process.stdout.write(`\n${agreed ? "life agrees" : "life DISAGREES"}\n`)
process.exitCode = agreed ? 0 : 1
