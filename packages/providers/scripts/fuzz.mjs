// The fuzz properties of the tests, for as many runs as one likes: `node packages/providers/scripts/fuzz.mjs [runs] [seed]`.
// A failing run prints its seed and path; the same seed repeats it.
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"

const [runs = "50000", seed] = process.argv.slice(2)
if (!/^[1-9]\d*$/.test(runs) || (seed !== undefined && !/^-?\d+$/.test(seed))) {
  process.stderr.write("usage: fuzz.mjs [runs] [seed]\n")
  process.exit(2)
}

const root = fileURLToPath(new URL("../../../", import.meta.url))
const result = spawnSync(
  process.execPath,
  [
    "node_modules/vitest/vitest.mjs",
    "run",
    "--project",
    "providers",
    "--testTimeout=0",
    "packages/providers/test/fuzz.test.ts"
  ],
  {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, FUZZ_RUNS: runs, ...(seed !== undefined && { FUZZ_SEED: seed }) }
  }
)
process.exit(result.status ?? 1)
