/**
 * `npm run memory`: a million calls over 10 000 breakers, with failures, openings, recoveries and subscribers who come and
 * go. The heap must return to where it was; exit 1 if it did not. Runs itself again with `--expose-gc`.
 */
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { type Report, rounds } from "./memoryRounds.js"

/** What the collector leaves lying about, and what the compiler learns late. */
const bound = 2 * 1024 * 1024

const mebibytes = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(2)} MiB`

const print = ({ calls, opened, recovered, rejected, subscribers, used }: Report, first: number): void => {
  process.stdout.write(
    `${[
      `${calls} calls`,
      `${rejected} rejected`,
      `${opened} openings`,
      `${recovered} recoveries`,
      `${subscribers} subscribers`,
      `heap ${mebibytes(used)} (${used >= first ? "+" : ""}${mebibytes(used - first)})`
    ].join(", ")}\n`
  )
}

if (globalThis.gc === undefined) {
  const self = fileURLToPath(import.meta.url)
  process.exit(spawnSync(process.execPath, ["--expose-gc", self], { stdio: "inherit" }).status ?? 1)
}

for (const shape of rounds) {
  process.stdout.write(`${shape.name}\n`)
  const reports = await shape.run(globalThis.gc)
  const [first] = reports
  if (first === undefined) throw new Error(`${shape.name}: nothing was measured`)
  for (const report of reports) print(report, first.used)
  const grown = Math.max(...reports.slice(1).map(({ used }) => used - first.used))
  const idle = reports.find(({ opened, recovered, rejected }) => opened === 0 || recovered === 0 || rejected === 0)
  if (idle !== undefined)
    throw new Error(`${shape.name}: a round without openings, recoveries or rejections proves nothing`)
  if (grown > bound) {
    process.exitCode = 1
    process.stdout.write(`GREW by ${mebibytes(grown)}, more than ${mebibytes(bound)}\n\n`)
  } else {
    process.stdout.write(`returned: at most ${mebibytes(grown)} over the first round (bound ${mebibytes(bound)})\n\n`)
  }
}
