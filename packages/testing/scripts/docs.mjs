// Writes the docs that come from the sources: docs/failures.md from the tables that decide, and the API's pages, as HTML,
// into reports/api. Fails on an export whose docs link to nothing. Needs a build.
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as Tables from "@switchgear/failures/Tables"
import * as TypeDoc from "typedoc"
import { extract } from "./examples.mjs"

const root = fileURLToPath(new URL("../../../", import.meta.url))
const packages = readdirSync(join(root, "packages"))
  .map((folder) => ({
    folder,
    manifest: JSON.parse(readFileSync(join(root, "packages", folder, "package.json"), "utf8"))
  }))
  .filter(({ manifest }) => manifest.private !== true)
const modules = packages.flatMap(({ folder }) =>
  readdirSync(join(root, "packages", folder, "src"))
    .filter((file) => file.endsWith(".ts") && file !== "index.ts" && file !== "main.ts")
    .map((file) => join(root, "packages", folder, "src", file))
)

writeFileSync(join(root, "docs/failures.md"), `${Tables.markdown()}\n`)
process.stdout.write(`docs/failures.md\n${extract().length} examples\n`)

const app = await TypeDoc.Application.bootstrap({
  name: "Switchgear",
  entryPoints: modules,
  tsconfig: join(root, "packages/testing/scripts/docs.tsconfig.json"),
  compilerOptions: {
    paths: Object.fromEntries(
      packages.map(({ folder, manifest }) => [`${manifest.name}/*`, [join(root, "packages", folder, "src/*.ts")]])
    )
  },
  out: join(root, "reports/api"),
  displayBasePath: join(root, "packages"),
  basePath: join(root, "packages"),
  readme: "none",
  disableSources: true,
  excludeExternals: true,
  excludePrivate: true,
  // The compiler has its own command; the docs are not where types are checked.
  skipErrorChecking: true,
  validation: { notExported: false, invalidLink: true, notDocumented: false },
  blockTags: [...TypeDoc.OptionDefaults.blockTags, "@category", "@since"],
  logLevel: "Warn"
})
const project = await app.convert()
if (project === undefined) process.exit(1)
app.validate(project)
if (app.logger.hasErrors() || app.logger.hasWarnings()) process.exit(1)
await app.generateOutputs(project)
process.stdout.write(`reports/api: ${modules.length} modules of ${packages.length} packages\n`)
