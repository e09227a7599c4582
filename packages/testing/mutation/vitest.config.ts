import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"
import { project } from "../../../vitest.shared.js"

const { resolve } = project("testing")

/** Most mutants fall to the traces or beside the naive machine, and the first test that fails ends a mutant's run. */
const first = ["Breaker.rules", "Breaker.traces", "lockstep", "invariants"]

class TellingFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    const rank = ({ moduleId }: TestSpecification) =>
      (first.findIndex((name) => moduleId.endsWith(`${name}.test.ts`)) + first.length + 1) % (first.length + 1)
    return [...files].sort((a, b) => rank(a) - rank(b))
  }
}

/**
 * The tests a mutant of `core` or `failures` meets: theirs, and those that put the machine beside the naive one. Each mutant
 * runs the ones that reach it, so the random ones make fewer runs than usual, from one seed, so that a score can be
 * reproduced.
 */
export default defineConfig({
  ...(resolve === undefined ? {} : { resolve }),
  test: {
    name: "mutation",
    root: fileURLToPath(new URL("../../../", import.meta.url)),
    include: [
      "packages/core/test/**/*.test.ts",
      "packages/failures/test/**/*.test.ts",
      "packages/testing/test/{invariants,lockstep,traces,walk}.test.ts"
    ],
    setupFiles: [fileURLToPath(new URL("setup.ts", import.meta.url))],
    env: {
      LOCKSTEP_RUNS: process.env["LOCKSTEP_RUNS"] ?? "200",
      INVARIANT_RUNS: process.env["INVARIANT_RUNS"] ?? "20"
    },
    sequence: { sequencer: TellingFirst },
    testTimeout: 60_000
  }
})
