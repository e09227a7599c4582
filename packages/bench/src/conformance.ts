/**
 * Puts the published traces to every peer and writes `docs/conformance.md`. With `--print` it goes to the terminal instead.
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { page } from "./conformance/page.js"
import { survey } from "./conformance/survey.js"

const outcome = await survey()
const text = page(outcome)
if (process.argv.includes("--print")) process.stdout.write(text)
else {
  const docs = new URL("../../../docs/", import.meta.url)
  mkdirSync(docs, { recursive: true })
  writeFileSync(new URL("conformance.md", docs), text)
  process.stdout.write(
    `docs/conformance.md: ${outcome.own.passed} of ${outcome.traces.length} traces passed by our machine\n`
  )
}
if (outcome.own.mismatches.length > 0) process.exitCode = 1
