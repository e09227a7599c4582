// The machine and the naive machine on random sequences: `node packages/testing/scripts/lockstep.mjs [sequences]`.
import { run } from "./run.mjs"

await run("scripts/lockstep.ts")
