import { readdirSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { defineConfig, type ViteUserConfig } from "vitest/config"

const packages = fileURLToPath(new URL("./packages/", import.meta.url))
const names = readdirSync(packages, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map((entry) => entry.name)

/** Tests read the sources, so that they need no build and a mutant is what runs. */
const alias = names.flatMap((name) => {
  const scope = name === "switchgear" ? name : `@switchgear/${name}`
  return [
    { find: new RegExp(`^${scope}$`), replacement: `${packages}${name}/src/index.ts` },
    { find: new RegExp(`^${scope}/(.+)$`), replacement: `${packages}${name}/src/$1.ts` }
  ]
})

/** The test project of one package. */
export const project = (name: string): ViteUserConfig =>
  defineConfig({
    resolve: { alias },
    test: { name, root: `${packages}${name}`, include: ["test/**/*.test.ts"], testTimeout: 30_000 }
  })
