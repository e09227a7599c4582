import { spawn } from "node:child_process"
import { closeSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as Effect from "effect/Effect"
import * as Random from "effect/Random"
import { build } from "esbuild"
import { assert } from "vitest"
import type { Line, Step } from "./line.js"

const packages = fileURLToPath(new URL("../../../", import.meta.url))
const cache = join(packages, "store", "node_modules", ".cache")

/** The process that is killed, from the sources, as one file: it starts in a fifth of the time. */
const bundle = async (): Promise<string> => {
  mkdirSync(cache, { recursive: true })
  const outfile = join(cache, `kill-${process.pid}.mjs`)
  await build({
    entryPoints: [fileURLToPath(new URL("./child.ts", import.meta.url))],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    external: ["@libsql/client", "ioredis", "pg"],
    banner: { js: `import { createRequire } from "node:module"; const require = createRequire(import.meta.url)` },
    plugins: [
      {
        name: "sources",
        setup: (plugin) =>
          plugin.onResolve({ filter: /^@switchgear\// }, ({ path }) => {
            const [, name = "", module = "index"] = path.split("/")
            return { path: join(packages, name, "src", `${module}.ts`) }
          })
      }
    ],
    logLevel: "error"
  })
  return outfile
}

const linesOf = (file: string): ReadonlyArray<Line> =>
  readFileSync(file, "utf8")
    .split("\n")
    // The last may have been cut off in the middle.
    .slice(0, -1)
    .map((line): Line => JSON.parse(line))

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** One life: from its start to SIGKILL, `ms` after it said that it was ready. */
const live = async (script: string, args: ReadonlyArray<string>, log: string, ms: number): Promise<void> => {
  const output = openSync(log, "w")
  const child = spawn(process.execPath, [script, ...args], { stdio: ["ignore", output, "pipe"] })
  let complaints = ""
  child.stderr?.on("data", (data) => {
    complaints += data
  })
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()))
  while (!linesOf(log).some(({ _tag }) => _tag === "Ready") && child.exitCode === null) await pause(10)
  await pause(ms)
  child.kill("SIGKILL")
  await ended
  closeSync(output)
  assert.strictEqual(child.signalCode, "SIGKILL", `it ended by itself: ${complaints}`)
}

type Found = Extract<Line, { readonly _tag: "Found" }>
type Announced = Extract<Line, { readonly _tag: "Announced" }>
type Count = Extract<Line, { readonly _tag: "Count" }>

const isFound = (line: Line): line is Found => line._tag === "Found"
const isAnnounced = (line: Line): line is Announced => line._tag === "Announced"
const isCount = (line: Line): line is Count => line._tag === "Count"

const is = (one: Step) => (other: Step) => one.era === other.era && one.to === other.to && one.from === other.from

/** What was lost, at the worst. */
export interface Report {
  kills: number
  announced: number
  /** Opens whose deadline could be compared. */
  deadlines: number
  /** ms between a deadline before and after. */
  drift: number
  /** Counters that could be compared, that is, of which something was lost. */
  counters: number
  /** ms between the first count that was lost and the kill. */
  lost: number
  /** ms in which the process did nothing at all, as the machine had others to serve. */
  stalled: number
  committed: ReadonlyArray<string>
  appended: ReadonlyArray<string>
}

const compare = (before: ReadonlyArray<Line>, after: ReadonlyArray<Line>, report: Report): void => {
  const counts = before.filter(isCount)
  const killed = counts.at(-1)?.at ?? 0
  const gap = counts.reduce(({ at, most }, count) => ({ at: count.at, most: Math.max(most, count.at - at) }), {
    at: counts[0]?.at ?? 0,
    most: 0
  }).most
  report.stalled = Math.max(report.stalled, gap)
  for (const found of after.filter(isFound)) {
    const { breaker } = found
    const of = <A extends { readonly breaker: string }>(lines: ReadonlyArray<A>) =>
      lines.filter((line) => line.breaker === breaker)
    const announced = of(before.filter(isAnnounced))
    report.announced += announced.length
    for (const step of announced.slice(-20)) {
      assert.isTrue(found.transitions.some(is(step)), `${breaker}: ${JSON.stringify(step)} was announced and is gone`)
    }
    const last = announced.at(-1)
    const start = of(before.filter(isFound)).at(-1)
    const state = last?.to ?? start?.state
    // What was written and not yet announced when the process ended is no loss.
    const known = last ?? start?.transitions.at(-1)
    const newest = found.transitions.at(-1)
    const moved = known === undefined ? newest !== undefined : newest === undefined || !is(known)(newest)
    if (!moved && state === "Open") {
      const until = last === undefined ? start?.until : last.until
      assert.notStrictEqual(found.state, "Closed", `${breaker}: Open became Closed`)
      if (until !== undefined && found.until !== undefined) {
        report.deadlines++
        const drift = Math.abs(found.until - until)
        report.drift = Math.max(report.drift, drift)
        assert.isAtMost(drift, 100, `${breaker}: its deadline moved`)
      } else if (until !== undefined) {
        assert.isAtMost(until, found.at + 100, `${breaker}: is Open no more, before its deadline`)
      }
    }
    const lost = of(counts).find(({ failures }) => failures > found.failures)
    if (lost === undefined) continue
    report.counters++
    report.lost = Math.max(report.lost, killed - lost.at)
    // A write is due each second; a process that stood still meanwhile was late for it.
    assert.isAtMost(killed - lost.at, 1_000 + 200 + 2 * gap, `${breaker}: counters of more than a second are gone`)
  }
}

/** Most die young; some live long enough for their counters to be written. */
const lifetime = Effect.flatMap(Random.next, (luck) =>
  luck < 0.7 ? Random.nextIntBetween(20, 300) : Random.nextIntBetween(300, 2_500)
)

/**
 * Starts a process on `place`, kills it, and starts the next on what it left, as often as asked. After each restart no
 * announced transition is missing, no Open has become Closed, deadlines stand, and at most a second of counters is gone.
 */
export const rounds = async (kind: "sqlite" | "redis", place: string, kills: number): Promise<Report> => {
  const script = await bundle()
  const folder = mkdtempSync(join(tmpdir(), "switchgear-kill-"))
  const report: Report = {
    kills: 0,
    announced: 0,
    deadlines: 0,
    drift: 0,
    counters: 0,
    lost: 0,
    stalled: 0,
    committed: [],
    appended: []
  }
  const committed: Array<string> = []
  const appended: Array<string> = []
  try {
    let before: ReadonlyArray<Line> = []
    // The last life is there to tell what the one before it left.
    for (let life = 0; life <= kills; life++) {
      const log = join(folder, `${life % 2}.log`)
      const ms = await Effect.runPromise(life === kills ? Effect.succeed(0) : lifetime)
      await live(script, [kind, place, String(life)], log, ms)
      const lines = linesOf(log)
      if (life > 0) compare(before, lines, report)
      before = lines
      for (const line of lines) {
        if (line._tag === "Committed") committed.push(line.key)
        if (line._tag === "Appended") appended.push(line.batch)
      }
      report.kills = life
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
    rmSync(script, { force: true })
  }
  return { ...report, committed, appended }
}

/** What a damaged file would have been moved to. */
export const setAside = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder).filter((name) => name.includes(".corrupt-") && statSync(join(folder, name)).isFile())

export const told = (kind: string, report: Report): string =>
  [
    `${kind}: ${report.kills} kills`,
    `${report.announced} announced transitions, none missing`,
    `${report.deadlines} deadlines, at most ${report.drift.toFixed(0)} ms moved`,
    `${report.counters} counters cut, at most ${report.lost.toFixed(0)} ms of them gone (the process stood still for up to ${report.stalled.toFixed(0)} ms)`,
    `${report.committed.length} answers and ${report.appended.length} batches acknowledged, all there`
  ].join("; ")

/** How many: a few in the tests, 200 in `npm run kill`. */
export const kills = Number(process.env["SWITCHGEAR_KILLS"] ?? 8)
