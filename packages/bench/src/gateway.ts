/**
 * `npm run bench:gateway`: a plain pass-through, the gateway and Portkey's in turn, over loopback, each in a process of
 * its own, the load in another. Names of contestants as arguments run those only; `--seconds N` is the time of one
 * measurement (default 2), `--rounds N` how often each is taken (default 3). Medians are printed, with the aims beside
 * them; a missed aim fails nothing, because wall-clock time is no test.
 */
import { cpus } from "node:os"
import { parseArgs } from "node:util"
import { type Child, usage } from "./gateway/child.js"
import * as Contestants from "./gateway/contestants.js"
import type { Load, Order } from "./gateway/load.js"
import { type Aim, render, renderAim, type Table } from "./report.js"

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: "string", default: "2" }, rounds: { type: "string", default: "3" } }
})

interface Setting {
  readonly stream: boolean
  readonly connections: number
}

interface Measured extends Load {
  /** us of processor time per request. */
  readonly cpu: number
}

const settings: ReadonlyArray<Setting> = [
  { stream: false, connections: 1 },
  { stream: false, connections: 10 },
  { stream: false, connections: 50 },
  { stream: true, connections: 10 }
]

const median = (values: ReadonlyArray<number>): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN

const keyOf = (name: string, { connections, stream }: Setting): string => `${name} ${stream} ${connections}`

const measure = async (load: Child, contestant: Contestants.Contestant, setting: Setting, millis: number) => {
  const { child, headers } = contestant
  const pid = child.process.pid ?? 0
  const order: Order = { origin: `http://127.0.0.1:${child.port}`, headers, millis, ...setting }
  const before = usage(pid).cpu
  load.process.stdin?.write(`${JSON.stringify(order)}\n`)
  const found: Load = JSON.parse(await load.line())
  return { ...found, cpu: ((usage(pid).cpu - before) * 1000) / Math.max(1, found.done) }
}

/** Until what is measured is compiled code: as a server's is after its first minute. */
const warm = async (load: Child, contestant: Contestants.Contestant): Promise<void> => {
  for (const [stream, enough] of [
    [false, 15_000],
    [true, 3_000]
  ] as const) {
    if (stream && !contestant.streams) continue
    let done = 0
    for (let times = 0; times < 10 && done < enough; times++) {
      done += (await measure(load, contestant, { stream, connections: 50 }, 2000)).done
    }
  }
}

const table = (
  title: string,
  stream: boolean,
  contestants: ReadonlyArray<Contestants.Contestant>,
  results: ReadonlyMap<string, ReadonlyArray<Measured>>
): Table => ({
  title,
  columns: ["", "connections", "per second", "p50 ms", "p99 ms", "first output ms", "CPU us each", "failed"],
  rows: settings
    .filter((setting) => setting.stream === stream)
    .flatMap((setting) =>
      contestants.flatMap(({ name }) => {
        const all = results.get(keyOf(name, setting))
        if (all === undefined) return []
        const of = (field: (one: Measured) => number, digits: number) => median(all.map(field)).toFixed(digits)
        return [
          [
            name,
            String(setting.connections),
            of(({ done, seconds }) => done / seconds, 0),
            of(({ p50 }) => p50, 2),
            of(({ p99 }) => p99, 2),
            of(({ firstOutput }) => firstOutput, 2),
            of(({ cpu }) => cpu, 0),
            String(all.reduce((sum, { failed }) => sum + failed, 0))
          ]
        ]
      })
    )
})

await Contestants.withFolder(async (folder) => {
  const upstream = await Contestants.upstream()
  const load = await Contestants.loader()
  const makers: Readonly<Record<string, () => Promise<Contestants.Contestant>>> = {
    "pass-through": () => Contestants.passthrough(upstream.port),
    switchgear: () => Contestants.switchgear(upstream.port, folder),
    portkey: () => Contestants.portkey(upstream.port, folder)
  }
  const contestants: Array<Contestants.Contestant> = []
  try {
    for (const [name, make] of Object.entries(makers)) {
      if (positionals.length > 0 && !positionals.includes(name)) continue
      contestants.push(await make())
    }
    const millis = Number(values.seconds) * 1000
    const idle = new Map(contestants.map(({ child, name }) => [name, usage(child.process.pid ?? 0).memory]))
    const taking = settings.flatMap((setting) =>
      contestants.filter(({ streams }) => streams || !setting.stream).map((contestant) => ({ contestant, setting }))
    )
    for (const contestant of contestants) await warm(load, contestant)
    const results = new Map<string, Array<Measured>>()
    for (let round = 0; round < Number(values.rounds); round++) {
      for (const { contestant, setting } of taking) {
        const key = keyOf(contestant.name, setting)
        results.set(key, [...(results.get(key) ?? []), await measure(load, contestant, setting, millis)])
      }
    }
    const processors = cpus()
    process.stdout.write(
      `node ${process.version}, ${processors.length} x ${processors[0]?.model ?? "unknown"}; medians of ${values.rounds} alternating rounds of ${values.seconds} s\n\n`
    )
    process.stdout.write(`${render(table("JSON", false, contestants, results))}\n`)
    process.stdout.write(`${render(table("Streams of 33 events", true, contestants, results))}\n`)
    const memory = contestants.map(({ child, name }) => [
      name,
      (idle.get(name) ?? 0).toFixed(0),
      usage(child.process.pid ?? 0).most.toFixed(0)
    ])
    process.stdout.write(`${render({ title: "Memory", columns: ["", "idle MiB", "at most MiB"], rows: memory })}\n`)
    process.stdout.write(`Aims\n${aims(results).map(renderAim).join("\n")}\n`)
  } finally {
    for (const child of [...contestants.map(({ child }) => child), load, upstream]) await child.stop()
  }
})

/** How much more than the gateway a contestant does: the aims are said as shares, and kept as their inverse. */
function aims(results: ReadonlyMap<string, ReadonlyArray<Measured>>): ReadonlyArray<Aim> {
  const at = (name: string, stream: boolean, field: (one: Measured) => number): number | undefined => {
    const all = results.get(keyOf(name, { stream, connections: 10 }))
    return all === undefined ? undefined : median(all.map(field))
  }
  const rate = ({ done, seconds }: Measured): number => done / seconds
  const cpu = (one: Measured): number => one.cpu
  const aim = (what: string, value: number | undefined, of: number | undefined, atMost: number): ReadonlyArray<Aim> =>
    value === undefined || of === undefined ? [] : [{ what, value: value / of, atMost, unit: "x" }]
  return [
    ...aim("JSON a second, pass-through to gateway", at("pass-through", false, rate), at("switchgear", false, rate), 2),
    ...aim("JSON a second, Portkey to gateway", at("portkey", false, rate), at("switchgear", false, rate), 0.2),
    ...aim(
      "streams a second, pass-through to gateway",
      at("pass-through", true, rate),
      at("switchgear", true, rate),
      2
    ),
    ...aim(
      "CPU per JSON answer, gateway to pass-through",
      at("switchgear", false, cpu),
      at("pass-through", false, cpu),
      2
    ),
    ...aim("CPU per stream, gateway to pass-through", at("switchgear", true, cpu), at("pass-through", true, cpu), 2)
  ]
}
