import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { aimed, fills } from "./entries.js"
import type { Aim, Subject } from "./report.js"

const bytesOf = (name: string): { readonly bytes: number; readonly entries: number } => {
  const script = fileURLToPath(new URL("./heapOf.js", import.meta.url))
  const { status, stderr, stdout } = spawnSync(process.execPath, ["--expose-gc", script, name], { encoding: "utf8" })
  if (status !== 0) throw new Error(`${name}: ${stderr}`)
  return JSON.parse(stdout)
}

/** What a breaker takes of the heap, its name and its place in the registry included. */
export const heap: Subject = {
  name: "heap",
  run: async () => {
    const rows: Array<ReadonlyArray<string>> = []
    const aims: Array<Aim> = []
    for (const name of Object.keys(fills)) {
      const { bytes, entries } = bytesOf(name)
      rows.push([name, bytes.toFixed(0), String(entries)])
      if (name === aimed) aims.push({ what: `heap an entry: ${name}`, value: bytes, atMost: 800, unit: " bytes" })
    }
    return { tables: [{ title: "Heap an entry", columns: ["", "bytes", "entries"], rows }], aims }
  }
}
