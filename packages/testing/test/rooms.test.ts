import { existsSync, readdirSync, readFileSync } from "node:fs"
import { join, relative, sep } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { allowed, type Package, violations } from "./rooms.js"

const root = fileURLToPath(new URL("../../", import.meta.url))

const sources = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /\.[cm]?tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))

const house: ReadonlyArray<Package> = readdirSync(root)
  .filter((room) => existsSync(join(root, room, "package.json")))
  .map((room) => {
    const src = join(root, room, "src")
    return {
      room,
      manifest: JSON.parse(readFileSync(join(root, room, "package.json"), "utf8")),
      files: Object.fromEntries(
        sources(src).map((path) => [relative(src, path).split(sep).join("/"), readFileSync(path, "utf8")])
      )
    }
  })

describe("the house", () => {
  it("imports only what the table of rooms allows, in no circle, and declares it", () => {
    expect(violations(house)).toEqual([])
  })
})

/** A package of the house, made up. */
const room = (name: string, files: Package["files"], dependencies: ReadonlyArray<string> = []): Package => ({
  room: name,
  manifest: {
    name: name === "switchgear" ? name : `@switchgear/${name}`,
    dependencies: Object.fromEntries(dependencies.map((dependency) => [dependency, "1"]))
  },
  files
})

describe("the check of the rooms", () => {
  it("opens the doors of a room's neighbours, and theirs", () => {
    expect([...allowed("breaker")].sort()).toEqual(["core", "failures"])
    expect([...allowed("testing")].sort()).toEqual(["breaker", "clock", "core", "failures", "providers", "routing"])
    expect(allowed("switchgear").has("testing")).toBe(false)
  })

  it("finds nothing in a clean house", () => {
    expect(
      violations([
        room("core", { "A.ts": 'export * from "./internal/a.js"', "internal/a.ts": "" }),
        room(
          "breaker",
          { "B.ts": 'import type * as A from "@switchgear/core/A"\nimport * as E from "effect/Effect"' },
          ["@switchgear/core", "effect"]
        )
      ])
    ).toEqual([])
  })

  it.each([
    ["core imports effect", room("core", { "A.ts": 'import * as E from "effect/Effect"' })],
    ["core imports node", room("core", { "A.ts": 'import "node:fs"' })],
    ["core imports dynamically", room("core", { "A.ts": 'const a = () => import("node:fs")' })],
    ["core exports from failures", room("core", { "A.ts": 'export type { B } from "@switchgear/failures/B"' })],
    ["core names a type in place", room("core", { "A.ts": 'export type B = import("@switchgear/failures/B").B' })],
    ["core depends on something", room("core", {}, ["effect"])],
    [
      "a room imports one below it",
      room("breaker", { "A.ts": 'import "@switchgear/routing"' }, ["@switchgear/routing"])
    ],
    ["a room depends on one below it", room("breaker", {}, ["@switchgear/routing"])],
    ["an import is undeclared", room("breaker", { "A.ts": 'import "@switchgear/core/A"' })],
    ["a foreign import is undeclared", room("clock", { "A.ts": 'import "effect/Clock"' })],
    [
      "an import of another's inside",
      room("breaker", { "A.ts": 'import "@switchgear/core/internal/a"' }, ["@switchgear/core"])
    ],
    ["a relative import leaves the package", room("breaker", { "A.ts": 'import "../../core/src/A.js"' })],
    ["a package imports itself by name", room("clock", { "A.ts": 'import "@switchgear/clock/B"' })],
    ["a circle", room("core", { "A.ts": 'import "./B.js"', "B.ts": 'import "./A.js"' })],
    [
      "a circle of types",
      room("core", { "A.ts": 'import type { B } from "./B.js"', "B.ts": 'export type * from "./A.js"' })
    ],
    ["a circle of one", room("core", { "A.ts": 'import "./A.js"' })],
    ["a room without a row", room("cellar", {})],
    ["a wrong name", { ...room("core", {}), manifest: { name: "@switchgear/kernel" } }]
  ])("refuses: %s", (_, one) => {
    expect(violations([one])).not.toEqual([])
  })

  it("refuses a circle between packages", () => {
    const one = room("breaker", { "A.ts": 'import "@switchgear/core/B"' }, ["@switchgear/core"])
    const other = room("core", { "B.ts": 'import "@switchgear/breaker/A"' })
    expect(violations([one, other]).filter((line) => line.startsWith("a circle"))).toHaveLength(1)
  })
})
