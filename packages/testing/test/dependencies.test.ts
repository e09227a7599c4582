import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { type Manifest, type Package, unused } from "./dependencies.js"

const root = fileURLToPath(new URL("../../", import.meta.url))

const manifestIn = (folder: string): Manifest => JSON.parse(readFileSync(join(folder, "package.json"), "utf8"))

/** Packages of `node_modules`, once each; some do not export their manifest, so it is read and not resolved. */
const read = new Map<string, Manifest | undefined>()
const installed = (name: string): Manifest | undefined => {
  if (!read.has(name)) {
    const folder = join(root, "../node_modules", name)
    read.set(name, existsSync(join(folder, "package.json")) ? manifestIn(folder) : undefined)
  }
  return read.get(name)
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

  describe("for the sake of another", () => {
    const other: Manifest = {
      name: "other",
      peerDependencies: { sql: "1", pg: "1" },
      peerDependenciesMeta: { pg: { optional: true } }
    }
    const elsewhere = (name: string): Manifest | undefined => (name === "other" ? other : undefined)
    const house: Package = { manifest: other, published: ['import "sql"; import "pg"'], beside: [] }

    it.each([
      ["of the house", [house], none],
      ["from elsewhere", [], elsewhere]
    ])("lets pass a peer that one %s requires, and finds one that it only may have", (_, more, installed) => {
      const peers = { sql: "1", pg: "1" }
      const one = made({ dependencies: { other: "1" }, peerDependencies: peers }, 'import "other"')
      expect(unused([one, ...more], installed)).toEqual(["made-up declares pg as a peer and never imports it"])
    })

    it("lets pass what is brought along for one", () => {
      const one = made({ dependencies: { other: "1", sql: "1", pg: "1" } }, 'import "other"')
      expect(unused([one], elsewhere)).toEqual([])
      expect(unused([made({ dependencies: { pg: "1" } }, "")], elsewhere)).toHaveLength(1)
    })

    it("lets pass what is brought along for one that another brings along", () => {
      const between: Manifest = { name: "between", dependencies: { other: "1" } }
      const one = made({ dependencies: { between: "1", pg: "1" } }, 'import "between"')
      expect(unused([one, { manifest: between, published: ['import "other"'], beside: [] }], elsewhere)).toEqual([])
    })
  })
})
