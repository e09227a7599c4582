// Bundles the command, so that it starts in a fraction of the time that loading its modules one by one takes.
// What went into the last bundle is noted beside it; nothing is done while none of that has changed.
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"

const root = fileURLToPath(new URL("../../../", import.meta.url))
const entry = "packages/switchgear/dist/internal/main.js"
const out = `${root}packages/switchgear/dist/bundle`
const note = `${out}/inputs.json`

/** A file as it is now; another size or time of change means another file. */
const print = (path) => {
  const file = statSync(`${root}${path}`, { throwIfNoEntry: false })
  return file === undefined ? "gone" : `${file.size}:${file.mtimeMs}`
}

const current = () => {
  if (!existsSync(note)) return false
  const { inputs, outputs } = JSON.parse(readFileSync(note, "utf8"))
  return (
    Object.entries(inputs).every(([path, was]) => print(path) === was) &&
    outputs.every((name) => existsSync(`${out}/${name}`))
  )
}

/** Two runs at once must not leave a half-written file: each is written aside and put in place whole. */
const put = (path, contents) => {
  const aside = `${path}.${process.pid}`
  writeFileSync(aside, contents)
  renameSync(aside, path)
}

export const bundle = async () => {
  if (current()) return
  const { build } = await import("esbuild")
  const self = "packages/switchgear/scripts/bundle.mjs"
  const result = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    outdir: out,
    bundle: true,
    splitting: true,
    format: "esm",
    platform: "node",
    target: "node20",
    metafile: true,
    write: false,
    logLevel: "warning",
    legalComments: "none",
    // They find their own native parts beside them; and one that the driver asks for and does without.
    external: ["@libsql/client", "libsql", "pg-native"],
    // Packages in the older module format ask for Node's own modules by `require`.
    banner: {
      js: 'import { createRequire as __createRequire } from "node:module"; const require = __createRequire(import.meta.url);'
    }
  })
  mkdirSync(out, { recursive: true })
  const names = result.outputFiles.map((file) => file.path.slice(out.length + 1))
  for (const file of result.outputFiles) put(file.path, file.contents)
  const inputs = Object.fromEntries([self, ...Object.keys(result.metafile.inputs)].map((path) => [path, print(path)]))
  put(note, JSON.stringify({ inputs, outputs: names }))
  for (const name of readdirSync(out)) {
    const old = Date.now() - statSync(`${out}/${name}`).mtimeMs > 60_000
    if (old && name !== "inputs.json" && !names.includes(name)) rmSync(`${out}/${name}`, { force: true })
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await bundle()
