import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type ParsedNode,
  parseDocument,
  visit
} from "yaml"
import type { Place, Reading } from "./faults.js"

/** A value of the file and where it stands. `node` is null where a key has no value. */
export interface Cursor {
  readonly file: YamlFile
  readonly node: Node | null
  readonly place: Place
}

/** An entry of a mapping: the key's own place is where an unknown key is reported. */
export interface Entry {
  readonly key: string
  readonly keyPlace: Place
  readonly value: Cursor
}

interface YamlFile {
  readonly document: Document.Parsed<ParsedNode, boolean>
  readonly lines: LineCounter
  readonly reading: Reading
}

/** The library's own messages quote the text around a fault, which may be a key; these do not. */
const syntax: Record<string, string> = {
  DUPLICATE_KEY: "this key stands twice in one mapping; keep one of them",
  TAB_AS_INDENT: "a tab is used as indentation; use spaces",
  BAD_INDENT: "the indentation does not fit the lines around it",
  BLOCK_IN_FLOW: "an indented block stands inside { } or [ ]",
  BAD_ALIAS: "an alias (*name) refers to no anchor (&name) before it",
  MISSING_CHAR: "a character is missing: a closing quote, bracket or brace, or a space after ':' or ','",
  UNEXPECTED_TOKEN: "this is not expected here; a bracket, brace or quote before it may be unclosed",
  BAD_SCALAR_START: "a plain text cannot start with this character; put it in quotes",
  BAD_DQ_ESCAPE: "an unknown escape in a double-quoted text; write \\\\ for a backslash",
  MULTIPLE_DOCS: "the file holds several documents (---); keep one",
  MULTILINE_IMPLICIT_KEY: "a key must stand on one line; a ':' may be missing on the line before",
  TAG_RESOLVE_FAILED: "a tag (!name) is not known here; remove it"
}

const placeOf = (file: YamlFile, node: Node | null, path: string, otherwise: Place): Place => {
  const offset = node?.range?.[0]
  if (offset === undefined) return { ...otherwise, path }
  const { line, col } = file.lines.linePos(offset)
  return { path, line, column: col }
}

/** Parses the text; what is wrong with it as YAML is added to the faults. */
export const open = (text: string, reading: Reading): Cursor | undefined => {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: "error" })
  const file: YamlFile = { document, lines, reading }
  for (const error of document.errors) {
    const { line, col } = lines.linePos(error.pos[0])
    const message = syntax[error.code] ?? "this is not valid YAML"
    reading.faults.push({ path: "", line, column: col, message })
  }
  visit(document, {
    Alias: (_, alias) => {
      if (alias.resolve(document) !== undefined) return
      const { line, col } = lines.linePos(alias.range?.[0] ?? 0)
      reading.faults.push({ path: "", line, column: col, message: syntax["BAD_ALIAS"] ?? "" })
    }
  })
  if (reading.faults.some((each) => each.path === "")) return undefined
  return at(file, document.contents, "", { path: "", line: 1, column: 1 })
}

const at = (file: YamlFile, node: Node | null, path: string, otherwise: Place): Cursor => ({
  file,
  node: isAlias(node) ? (node.resolve(file.document) ?? null) : node,
  place: placeOf(file, node, path, otherwise)
})

export const fault = (cursor: Cursor, message: string): undefined => {
  cursor.file.reading.faults.push({ ...cursor.place, message })
  return undefined
}

/** The entries of a mapping; undefined if it is none. */
export const entries = (cursor: Cursor): ReadonlyArray<Entry> | undefined => {
  if (!isMap(cursor.node)) return undefined
  const prefix = cursor.place.path === "" ? "" : `${cursor.place.path}.`
  return cursor.node.items.map((pair) => {
    const keyNode = isScalar(pair.key) ? pair.key : null
    const key = keyNode === null ? "" : String(keyNode.value)
    const keyPlace = placeOf(cursor.file, keyNode, prefix + key, cursor.place)
    return { key, keyPlace, value: at(cursor.file, pair.value as Node | null, prefix + key, keyPlace) }
  })
}

/** The items of a sequence; undefined if it is none. */
export const items = (cursor: Cursor): ReadonlyArray<Cursor> | undefined =>
  isSeq(cursor.node)
    ? cursor.node.items.map((node, i) =>
        at(cursor.file, node as Node | null, `${cursor.place.path}[${i}]`, cursor.place)
      )
    : undefined

/** A scalar's value; undefined if there is none, null for an empty one. */
export const scalar = (cursor: Cursor): unknown =>
  cursor.node === null ? null : isScalar(cursor.node) ? cursor.node.value : undefined

/** The whole value as plain data. Aliases that would multiply without bound are refused by the library. */
export const data = (cursor: Cursor): unknown => {
  if (cursor.node === null) return null
  try {
    return cursor.node.toJS(cursor.file.document, { maxAliasCount: 100 })
  } catch {
    return fault(cursor, "uses aliases that cannot be resolved, or too many of them")
  }
}

/** The place of what `keys` lead to below the cursor; where the file has nothing more, that of the nearest thing above it. */
export const below = (cursor: Cursor, keys: ReadonlyArray<string>): Place => {
  let here = cursor
  let place = cursor.place
  for (const [depth, key] of keys.entries()) {
    const entry = entries(here)?.find((each) => each.key === key)
    const item = items(here)?.[Number(key)]
    const next = entry?.value ?? item
    if (next === undefined)
      return { ...place, path: [place.path, ...keys.slice(depth)].filter((part) => part !== "").join(".") }
    here = next
    place = entry?.keyPlace ?? next.place
  }
  return place
}
