import { run } from "./run.mjs"

await run("scripts/exhaustive.ts")
