/**
 * `npm run bench:simulator`: a million calls over two providers in one process. Prints calls a second, what memory they
 * take, and where the time goes by package, from a shorter run under the profiler. Another number of calls as argument.
 */
import { Session } from "node:inspector/promises"
import * as Scenario from "@switchgear/simulator/Scenario"
import * as Simulator from "@switchgear/simulator/Simulator"
import * as Effect from "effect/Effect"
import { type Aim, renderAim } from "./report.js"

const rate = 100

const scenario = (calls: number): Effect.Effect<Scenario.Scenario, Scenario.ScenarioError> => {
  const duration = Math.ceil((calls / rate) * 1_000)
  return Scenario.decode({
    name: "bench",
    description: "Two providers, the first of them down for a tenth of the time.",
    duration,
    arrivals: { kind: "constant", rate },
    providers: [
      {
        name: "openai",
        limits: { total: "30 seconds" },
        phases: [{ kind: "outage", from: Math.round(duration * 0.4), to: Math.round(duration * 0.5) }]
      },
      { name: "anthropic" }
    ],
    models: [
      { name: "gpt-4o", provider: "openai", fallbackChain: ["claude-sonnet-4-5"] },
      { name: "claude-sonnet-4-5", provider: "anthropic" }
    ],
    breakers: { policy: "hosted" },
    fallback: { budget: 1 }
  })
}

const mebi = (bytes: number): string => `${Math.round(bytes / 2 ** 20)} MiB`

/** Whose code a profile's node is in. */
const ownerOf = (url: string, name: string): string => {
  if (name === "(garbage collector)") return "garbage collector"
  const own = /packages\/([^/]+)\/dist/.exec(url)?.[1]
  if (own !== undefined) return own === "core" ? "core (the machine and the walk)" : own
  return /node_modules\/effect\//.test(url) ? "effect" : "node"
}

const shares = async (calls: number): Promise<ReadonlyArray<readonly [owner: string, share: number]>> => {
  const session = new Session()
  session.connect()
  await session.post("Profiler.enable")
  await session.post("Profiler.start")
  await Effect.runPromise(Effect.flatMap(scenario(calls), (it) => Simulator.run(it)))
  const { profile } = await session.post("Profiler.stop")
  session.disconnect()
  const owners = new Map(profile.nodes.map(({ callFrame, id }) => [id, ownerOf(callFrame.url, callFrame.functionName)]))
  const idle = new Set(profile.nodes.filter(({ callFrame }) => callFrame.functionName === "(idle)").map(({ id }) => id))
  const spent = new Map<string, number>()
  let total = 0
  for (const [index, id] of (profile.samples ?? []).entries()) {
    const delta = profile.timeDeltas?.[index] ?? 0
    if (idle.has(id)) continue
    const owner = owners.get(id) ?? "node"
    spent.set(owner, (spent.get(owner) ?? 0) + delta)
    total += delta
  }
  return Array.from(spent, ([owner, time]) => [owner, time / total] as const).sort((a, b) => b[1] - a[1])
}

const asked = Number(process.argv[2] ?? 1_000_000)
const calls = Number.isSafeInteger(asked) && asked > 0 ? asked : 1_000_000

// the compiler has made up its mind before the clock starts
await Effect.runPromise(Effect.flatMap(scenario(20_000), (it) => Simulator.run(it)))

let heap = 0
let resident = 0
/** MiB of heap in use at each tenth of the way. */
const trail: Array<number> = []
const look = (progress: number): void => {
  const { heapUsed, rss } = process.memoryUsage()
  heap = Math.max(heap, heapUsed)
  resident = Math.max(resident, rss)
  if (progress * 10 >= trail.length + 1) trail.push(Math.round(heapUsed / 2 ** 20))
}
const cpu = process.cpuUsage()
const begun = process.hrtime.bigint()
const report = await Effect.runPromise(Effect.flatMap(scenario(calls), (it) => Simulator.run(it, { onProgress: look })))
const seconds = Number(process.hrtime.bigint() - begun) / 1e9
const { system, user } = process.cpuUsage(cpu)
const busy = (system + user) / 1e6

process.stdout.write(`${report.calls} calls, ${Math.round(report.durationMs / 60_000)} virtual minutes, node ${process.version}

${Math.round(report.calls / seconds)} calls a second: ${seconds.toFixed(1)} s by the clock, ${busy.toFixed(1)} s of processor time, ${((busy / report.calls) * 1e6).toFixed(1)} us a call
${mebi(resident)} resident at most, ${mebi(heap)} of heap; heap in use at each tenth of the way, collected or not: ${trail.join(" ")} MiB

`)
process.stdout.write("share of the time by package, 100 000 calls under the profiler\n")
for (const [owner, share] of await shares(100_000)) {
  if (share >= 0.005) process.stdout.write(`${`${(share * 100).toFixed(1)} %`.padStart(8)}  ${owner}\n`)
}
const aims: ReadonlyArray<Aim> = [
  { what: "simulator: a million calls, by the clock", value: (seconds / report.calls) * 1e6, atMost: 60, unit: "s" }
]
process.stdout.write(`\nAims\n${aims.map(renderAim).join("\n")}\n`)
