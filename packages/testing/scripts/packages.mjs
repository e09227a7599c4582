// Packages as consumers meet them: packs every published package, installs the tarballs in an empty project, imports every
// export from JavaScript and from TypeScript under both module resolutions, lints the tarballs, and prints what `core` and
// `failures` weigh in a browser, each module by itself and all of them together.
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import { build } from "esbuild"

const root = fileURLToPath(new URL("../../../", import.meta.url))
const bin = (name) => join(root, "node_modules/.bin", name)
const json = (path) => JSON.parse(readFileSync(path, "utf8"))
const run = (command, args, cwd) => {
  try {
    return execFileSync(command, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] })
  } catch (error) {
    process.stderr.write(`${command} ${args.join(" ")}\n${error.stdout ?? ""}${error.stderr ?? ""}\n`)
    process.exit(1)
  }
}

const packages = readdirSync(join(root, "packages"))
  .map((folder) => ({
    folder: join(root, "packages", folder),
    ...json(join(root, "packages", folder, "package.json"))
  }))
  .filter((entry) => entry.private !== true)

const work = mkdtempSync(join(tmpdir(), "switchgear-packages-"))
process.on("exit", () => rmSync(work, { recursive: true, force: true }))
const app = join(work, "app")
mkdirSync(app)

/** The public modules of a package, as an importer names them. */
const modules = ({ folder, name }) =>
  readdirSync(join(folder, "src"))
    .filter((file) => file.endsWith(".ts"))
    .map((file) => (file === "index.ts" ? name : `${name}/${file.slice(0, -3)}`))
    // A module that runs a program is no library.
    .filter((path) => path !== "switchgear/main")

// What a package names in its `exports` is just these modules: none is left out here, none is listed that is not there.
for (const entry of packages) {
  const named = Object.keys(entry.exports ?? {}).filter((path) => !path.includes("*") && path !== "./package.json")
  const missing = named.map((path) => entry.name + path.slice(1)).filter((path) => !modules(entry).includes(path))
  const open = Object.keys(entry.exports ?? {}).includes("./*")
  const hidden = open ? [] : modules(entry).filter((path) => !named.includes(`.${path.slice(entry.name.length)}`))
  if (missing.length + hidden.length > 0) throw new Error(`${entry.name}: ${[...missing, ...hidden].join(", ")}`)
}

const tarballs = packages.map((entry) => {
  const [{ filename, files }] = JSON.parse(run("npm", ["pack", "--json", "--pack-destination", work], entry.folder))
  for (const needed of ["LICENSE", "README.md"]) {
    if (!files.some((file) => file.path === needed)) throw new Error(`${entry.name}: the tarball has no ${needed}`)
  }
  return join(work, filename)
})

// Peers a consumer brings along, at the versions this repository is tested with.
const locked = json(join(root, "package-lock.json")).packages
const peers = new Set(packages.flatMap((entry) => Object.keys(entry.peerDependencies ?? {})))
const dependencies = Object.fromEntries([...peers].map((peer) => [peer, locked[`node_modules/${peer}`].version]))
writeFileSync(
  join(app, "package.json"),
  JSON.stringify({
    name: "consumer",
    private: true,
    type: "module",
    dependencies: {
      ...dependencies,
      "@types/node": locked["node_modules/@types/node"].version,
      ...Object.fromEntries(packages.map((entry, index) => [entry.name, `file:${tarballs[index]}`]))
    }
  })
)
run("npm", ["install", "--no-audit", "--no-fund", "--prefer-offline", "--loglevel=error"], app)

const all = packages.flatMap(modules)
const files = (folder) => {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
/** One of the inner modules of each package that has some. */
const closed = packages.flatMap(({ folder, name }) =>
  files(join(folder, "dist/internal"))
    .filter((file) => file.endsWith(".js"))
    .slice(0, 1)
    .map((file) => `${name}/internal/${file.slice(0, -3)}`)
)
/** Modules that hold types alone: built, they have no code but for an empty export. */
const typesOnly = packages.flatMap((entry) =>
  modules(entry).filter((path) => {
    const built = join(entry.folder, "dist", `${path === entry.name ? "index" : path.slice(entry.name.length + 1)}.js`)
    return /^(?:\s|\/\*[\s\S]*?\*\/|\/\/.*|export \{\};)*$/.test(readFileSync(built, "utf8"))
  })
)
writeFileSync(
  join(app, "every.mjs"),
  `for (const path of ${JSON.stringify(all)}) {
  const found = await import(path)
  if (Object.keys(found).length === 0 && !${JSON.stringify(typesOnly)}.includes(path)) throw new Error(path + " exports nothing")
}
for (const path of ${JSON.stringify(closed)}) {
  const open = await import(path).then(() => true, (error) => error.code !== "ERR_PACKAGE_PATH_NOT_EXPORTED")
  if (open) throw new Error(path + " is closed to others, but can be imported")
}
process.exit(0)\n`
)
run(process.execPath, ["every.mjs"], app)
process.stdout.write(`${all.length} modules of ${packages.length} packages import from JavaScript\n`)

const source = all.map((path, index) => `import * as M${index} from "${path}"\nvoid M${index}`).join("\n")
writeFileSync(join(app, "every.ts"), `${source}\n`)
for (const [module, moduleResolution] of [
  ["node16", "node16"],
  ["esnext", "bundler"]
]) {
  const options = {
    module,
    moduleResolution,
    target: "es2022",
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: ["node"]
  }
  writeFileSync(join(app, "tsconfig.json"), JSON.stringify({ compilerOptions: options, files: ["every.ts"] }))
  run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", "."], app)
  process.stdout.write(`${all.length} modules import from TypeScript, moduleResolution ${moduleResolution}\n`)
}

for (const [index, entry] of packages.entries()) {
  run(bin("publint"), ["--strict", tarballs[index]], root)
  run(bin("attw"), [tarballs[index], "--profile", "esm-only", "--format", "ascii", "--no-emoji"], root)
  process.stdout.write(`${entry.name}: publint and attw have nothing to say\n`)
}

/** What a module and all it needs weigh, minified and gzipped. What a browser has not would fail here. */
const weigh = async (path) => {
  const result = await build({
    stdin: { contents: `export * from "${path}"`, resolveDir: app },
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    platform: "browser",
    target: "es2022",
    logLevel: "error"
  })
  return gzipSync(result.outputFiles[0].contents, { level: 9 }).length
}

const aims = { "@switchgear/core": 8_000, "@switchgear/failures": 10_000 }
for (const entry of packages) {
  const aim = aims[entry.name]
  if (aim === undefined) continue
  process.stdout.write(`${entry.name}, minified and gzipped, aim ${aim} bytes:\n`)
  for (const path of modules(entry)) {
    const bytes = await weigh(path)
    const name = path === entry.name ? "everything" : path.slice(entry.name.length + 1)
    process.stdout.write(`  ${name.padEnd(18)}${String(bytes).padStart(6)}${bytes > aim ? "  over the aim" : ""}\n`)
  }
}
