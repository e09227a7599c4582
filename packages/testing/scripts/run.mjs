// Runs a TypeScript entry straight from the sources, so that a check needs no build and a changed source is what runs.
import { readdirSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath, pathToFileURL } from "node:url"
import { build } from "esbuild"

const packages = fileURLToPath(new URL("../../", import.meta.url))

let bundles = 0

/** `@switchgear/P/X` is `packages/P/src/X.ts`. */
const sources = {
  name: "sources",
  setup(plugin) {
    plugin.onResolve({ filter: /^@switchgear\// }, ({ path }) => {
      const [, name, module = "index"] = path.split("/")
      return readdirSync(packages).includes(name) ? { path: join(packages, name, "src", `${module}.ts`) } : undefined
    })
  }
}

/** With a fault to plant (`faults.mjs`), the one file it is in is changed on its way. */
const planted = {
  name: "planted",
  setup(plugin) {
    if (process.env.SWITCHGEAR_FAULT === undefined) return
    const { file, find, replace } = JSON.parse(process.env.SWITCHGEAR_FAULT)
    plugin.onLoad({ filter: /\.ts$/ }, ({ path }) =>
      path === file ? { contents: readFileSync(path, "utf8").replace(find, () => replace), loader: "ts" } : undefined
    )
  }
}

/** Bundles `entry` beside the sources and imports it. */
export const run = async (entry) => {
  const outfile = join(packages, "testing", "node_modules", ".cache", `${process.pid}-${bundles++}.mjs`)
  try {
    await build({
      entryPoints: [join(packages, "testing", entry)],
      outfile,
      bundle: true,
      platform: "node",
      format: "esm",
      target: "node20",
      external: ["fast-check", "effect", "effect/*"],
      plugins: [sources, planted],
      logLevel: "error"
    })
    return await import(pathToFileURL(outfile).href)
  } finally {
    rmSync(outfile, { force: true })
  }
}
