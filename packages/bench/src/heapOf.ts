/** Prints the bytes of heap that an entry takes. Runs in a process of its own, with `--expose-gc`. */
import { entriesOf, fills } from "./entries.js"

const name = process.argv[2] ?? ""
const fill = fills[name]
const collect = globalThis.gc
if (fill === undefined || collect === undefined) throw new Error("usage: node --expose-gc heapOf.js NAME")

const used = (): number => {
  for (let turn = 0; turn < 4; turn++) collect()
  return process.memoryUsage().heapUsed
}

// code and shapes are loaded before they could be counted
let kept: unknown = fill(100)
kept = undefined
const before = used()
const entries = entriesOf(name)
kept = fill(entries)
const bytes = (used() - before) / entries
process.stdout.write(JSON.stringify({ bytes, entries, kept: kept !== undefined }))
process.exit(0)
