import { existsSync, readdirSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import ts from "typescript"
import { describe, expect, it } from "vitest"

const root = fileURLToPath(new URL("../../", import.meta.url))

/** The packages that are published as libraries. */
const libraries = readdirSync(root).filter((name) => {
  if (!existsSync(`${root}${name}/package.json`)) return false
  const { private: hidden } = JSON.parse(readFileSync(`${root}${name}/package.json`, "utf8"))
  return hidden !== true && name !== "switchgear"
})

const modules = libraries.flatMap((name) =>
  readdirSync(`${root}${name}/src`)
    .filter((file) => file.endsWith(".ts") && file !== "index.ts")
    .map((file) => ({ name: `${name}/${file}`, path: `${root}${name}/src/${file}` }))
)

const program = ts.createProgram(
  modules.map((module) => module.path),
  {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    noEmit: true
  }
)
const checker = program.getTypeChecker()

/** A symbol's docs, its own and those of what it re-exports. */
const docsOf = (symbol: ts.Symbol): string => {
  const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
  const comments = new Set<string>()
  for (const declaration of [...(symbol.declarations ?? []), ...(target.declarations ?? [])]) {
    // A variable's docs stand before its statement.
    const node = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration
    const text = node.getSourceFile().text
    for (const range of ts.getLeadingCommentRanges(text, node.getFullStart()) ?? []) {
      const comment = text.slice(range.pos, range.end)
      if (comment.startsWith("/**")) comments.add(comment)
    }
  }
  return [...comments].join("\n")
}

const isValue = (symbol: ts.Symbol): boolean => {
  const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
  return (target.flags & ts.SymbolFlags.Value) !== 0
}

const words = (docs: string): string =>
  docs
    .replace(/```[\s\S]*?```/g, "")
    .replace(/^\s*\/?\*+\/?/gm, "")
    .replace(/@\w+.*$/gm, "")
    .replace(/\*\//g, "")
    .trim()

const lacking = (path: string): ReadonlyArray<string> => {
  const source = program.getSourceFile(path)
  const module = source === undefined ? undefined : checker.getSymbolAtLocation(source)
  if (module === undefined) return [`${path} is no module`]
  return checker.getExportsOfModule(module).flatMap((symbol) => {
    const docs = docsOf(symbol)
    const faults = [
      words(docs) === "" ? "a description" : "",
      /@since \d+\.\d+\.\d+/.test(docs) ? "" : "@since",
      new Set(docs.match(/@category .*/g) ?? []).size === 1 ? "" : "one @category",
      isValue(symbol) && !/@example/.test(docs) ? "an @example" : ""
    ].filter((fault) => fault !== "")
    return faults.length === 0 ? [] : [`${symbol.name} lacks ${faults.join(", ")}`]
  })
}

describe("every public export says what it is, since when, of what category, and shows its use", () => {
  for (const { name, path } of modules) it(name, () => expect(lacking(path)).toEqual([]))
})
