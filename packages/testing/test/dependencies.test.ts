import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { type Manifest, type Package, unused } from "./dependencies.js"

const root = fileURLToPath(new URL("../../", import.meta.url))

const manifestIn = (folder: string): Manifest => JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))

/** A package of `node_modules`; some do not export their manifest, so it is read and not resolved. */
const installed = (name: string): Manifest | undefined => {
  const folder = join(root, "../node_modules", name)
  return existsSync(join(folder, "package.json")) ? manifestIn(folder) : undefined
}

const texts = (folder: string): ReadonlyArray<string> =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile() && /\.[cm]?[jt]sx?$/.test(entry.name))
        .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"))
    : []

const house: ReadonlyArray<Package> = readdirSync(root)
  .map((name) => join(root, name))
  .filter((folder) => existsSync(join(folder, "package.json")))
  .map((folder) => ({
    manifest: manifestIn(folder),
    published: [...texts(join(folder, "src")), ...texts(join(folder, "bin"))],
    beside: [...texts(join(folder, "test")), ...texts(join(folder, "scripts"))]
  }))

describe("the packages", () => {
  it("declare no dependency that they never import", () => {
    expect(unused(house, installed)).toEqual([])
  })
})

const none = (): undefined => undefined

/** A package that publishes one text and tests it with another. */
const made = (manifest: Omit<Manifest, "name">, published: string, beside = ""): Package => ({
  manifest: { name: "made-up", ...manifest },
  published: [published],
  beside: [beside]
})

describe("the check of dependencies", () => {
  it.each([
    ["imported", made({ dependencies: { yaml: "1" } }, 'import { parse } from "yaml"')],
    ["imported by a subpath", made({ peerDependencies: { effect: "1" } }, 'import * as E from "effect/Effect"')],
    ["of a scope", made({ dependencies: { "@a/b": "1" } }, 'export * from "@a/b/C"')],
    ["imported late", made({ dependencies: { yaml: "1" } }, 'const late = () => import("yaml")')],
    ["imported for its types", made({ dependencies: { yaml: "1" } }, 'import type { Node } from "yaml"')],
    ["for tests, in a test", made({ devDependencies: { yaml: "1" } }, "", 'import "yaml"')]
  ])("lets pass what is %s", (_, one) => {
    expect(unused([one], none)).toEqual([])
  })

  it.each([
    ["a dependency", made({ dependencies: { yaml: "1" } }, "")],
    ["a dependency that only a test imports", made({ dependencies: { yaml: "1" } }, "", 'import "yaml"')],
    ["a dependency that a comment names", made({ dependencies: { yaml: "1" } }, '// import "yaml"')],
    ["a dependency whose name another's begins with", made({ dependencies: { yaml: "1" } }, 'import "yaml-ast"')],
    ["an optional dependency", made({ optionalDependencies: { yaml: "1" } }, "")],
    ["a peer", made({ peerDependencies: { yaml: "1" } }, "")],
    ["a development dependency", made({ devDependencies: { yaml: "1" } }, "")]
  ])("finds %s that nothing imports", (_, one) => {
    expect(unused([one], none)).toHaveLength(1)
  })

  it("lets pass what another requires as its peer, and finds what another only may use", () => {
    const one = made({ dependencies: { other: "1" }, peerDependencies: { sql: "1", pg: "1" } }, 'import "other"')
    const other: Manifest = {
      name: "other",
      peerDependencies: { sql: "1", pg: "1" },
      peerDependenciesMeta: { pg: { optional: true } }
    }
    const expected = ["made-up declares pg as a peer and never imports it"]
    expect(unused([one], (name) => (name === "other" ? other : undefined))).toEqual(expected)
    expect(unused([one, { manifest: other, published: ['import "sql"; import "pg"'], beside: [] }], none)).toEqual(
      expected
    )
  })
})
