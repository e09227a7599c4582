import { readFileSync } from "node:fs"
import * as Trace from "@switchgear/core/Trace"
import { cockatiel } from "../peers/cockatiel.js"
import { effect4 } from "../peers/effect4.js"
import { guard } from "../peers/guard.js"
import { mollitia } from "../peers/mollitia.js"
import { opossum } from "../peers/opossum.js"
import { judge, type Verdict } from "./judge.js"
import type { Peer } from "./peer.js"
import { machine } from "./reference.js"

/** Everyone the traces are put to, ours as the control first. */
export const peers: ReadonlyArray<Peer> = [guard, cockatiel, opossum, mollitia, effect4]

/** How a library did. */
export interface Result {
  readonly peer: Peer
  readonly version: string
  readonly verdicts: ReadonlyArray<Verdict>
}

export interface Survey {
  readonly traces: ReadonlyArray<Trace.Trace>
  /** Our machine, asked every key of every trace. */
  readonly own: {
    readonly version: string
    readonly mismatches: ReadonlyArray<Trace.Mismatch>
    readonly passed: number
  }
  readonly results: ReadonlyArray<Result>
}

const read = (path: string): unknown => JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"))

/** The traces that are published with `@switchgear/testing`. */
export const readTraces = (): ReadonlyArray<Trace.Trace> => {
  const decoded = Trace.decode(read("../../../testing/traces/breaker.json"))
  if (decoded._tag === "Failure") throw new Error(JSON.stringify(decoded.faults))
  return decoded.value
}

const versionOf = (dependency: string): string => {
  const manifest = read("../../package.json")
  const pinned = (manifest as { readonly dependencies: Readonly<Record<string, string>> }).dependencies[dependency]
  if (pinned === undefined) throw new Error(`${dependency} is no dependency`)
  return pinned.slice(pinned.lastIndexOf("@") + 1)
}

/** Puts every trace to everyone, one after the other. */
export const survey = async (): Promise<Survey> => {
  const traces = readTraces()
  const replays = traces.map((trace) => Trace.run(machine, trace))
  const results: Array<Result> = []
  for (const peer of peers) {
    const verdicts: Array<Verdict> = []
    for (const trace of traces) verdicts.push(await judge(trace, peer))
    results.push({ peer, version: versionOf(peer.dependency), verdicts })
  }
  return {
    traces,
    own: {
      version: versionOf("@switchgear/core"),
      mismatches: replays.flatMap((replay) => replay.mismatches),
      passed: replays.filter((replay) => replay.mismatches.length === 0).length
    },
    results
  }
}
