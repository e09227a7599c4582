/**
 * `npm run bench`: figures, with the aims beside them. Names of subjects as arguments run those only. A missed aim is
 * printed, and nothing fails: wall-clock time is no test.
 */
import { cpus } from "node:os"
import { calls } from "./calls.js"
import { growth } from "./growth.js"
import { heap } from "./heap.js"
import { pipeline } from "./pipeline.js"
import { registry } from "./registry.js"
import { type Aim, render, renderAim, type Subject } from "./report.js"
import { shared } from "./shared.js"
import { stores } from "./stores.js"

const subjects: ReadonlyArray<Subject> = [calls, growth, heap, pipeline, registry, shared, stores]

const asked = process.argv.slice(2)
const unknown = asked.filter((name) => !subjects.some((subject) => subject.name === name))
if (unknown.length > 0) {
  process.stderr.write(
    `no such subject: ${unknown.join(", ")}; there are ${subjects.map(({ name }) => name).join(", ")}\n`
  )
  process.exit(2)
}

const processors = cpus()
process.stdout.write(
  `node ${process.version}, ${processors.length} x ${processors[0]?.model ?? "unknown"}; processor time, medians of alternating rounds in one process\n\n`
)
const aims: Array<Aim> = []
for (const subject of subjects) {
  if (asked.length > 0 && !asked.includes(subject.name)) continue
  const found = await subject.run()
  for (const table of found.tables) process.stdout.write(`${render(table)}\n`)
  aims.push(...found.aims)
}
process.stdout.write(`Aims\n${aims.map(renderAim).join("\n")}\n`)
