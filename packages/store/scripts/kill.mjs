// `npm run kill [kills]`: a process under load is killed 200 times over SQLite and over Redis, and goes on each time.
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"

const { status } = spawnSync("npx", ["vitest", "run", "--project", "store", "kill"], {
  cwd: fileURLToPath(new URL("../../../", import.meta.url)),
  env: { ...process.env, SWITCHGEAR_KILLS: process.argv[2] ?? "200" },
  stdio: "inherit"
})
process.exit(status ?? 1)
