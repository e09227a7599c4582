// Brings a clone to where its commands run: installs when the lock file changed, then builds and bundles what is stale.
// Plain Node, because it runs before anything is installed. Only errors go to stdout's reader; progress goes to stderr.
import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../../../", import.meta.url))
const stamp = `${root}node_modules/.switchgear-lock`
const lock = createHash("sha256")
  .update(readFileSync(`${root}package-lock.json`))
  .digest("hex")

const run = (command, args) => {
  const result = spawnSync(command, args, { cwd: root, stdio: ["ignore", 2, 2], shell: process.platform === "win32" })
  if (result.status !== 0) {
    process.stderr.write(`\n${command} ${args.join(" ")} failed${result.error ? `: ${result.error.message}` : ""}\n`)
    process.exit(result.status ?? 1)
  }
}

if (!existsSync(stamp) || readFileSync(stamp, "utf8") !== lock) {
  process.stderr.write("switchgear: installing dependencies (once)\n")
  run("npm", ["ci", "--no-audit", "--no-fund", "--loglevel=error"])
  writeFileSync(stamp, lock)
}
run(process.execPath, ["node_modules/typescript/bin/tsc", "-b"])
run(process.execPath, ["packages/switchgear/scripts/bundle.mjs"])
