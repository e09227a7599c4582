import { isBuiltin } from "node:module"
import { dirname, join, normalize } from "node:path/posix"
import ts from "typescript"

/** The rooms of the house, in the order of the table, and whose doors each may use directly. */
export const table: Readonly<Record<string, ReadonlyArray<string>>> = {
  core: [],
  failures: [],
  clock: [],
  breaker: ["core", "failures"],
  ai: ["breaker"],
  providers: ["core", "failures"],
  routing: ["breaker", "providers"],
  store: ["breaker", "routing"],
  gateway: ["routing", "store"],
  simulator: ["routing", "clock"],
  testing: ["breaker", "routing", "clock"],
  switchgear: ["gateway", "simulator"]
}

/** Packages that import nothing at all, not even `node:`. */
const bare = ["core", "failures"]

/** Packages that may import any. */
const free = ["bench"]

export interface Manifest {
  readonly name: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

export interface Package {
  /** The folder's name. */
  readonly room: string
  readonly manifest: Manifest
  /** Sources by their path under `src`. */
  readonly files: Readonly<Record<string, string>>
}

/** A room, those it may use, and those that these use: what one may import one may also name the types of. */
export const allowed = (room: string): ReadonlySet<string> => {
  const rooms = new Set<string>()
  const open = (name: string): void => {
    for (const next of table[name] ?? []) {
      rooms.add(next)
      open(next)
    }
  }
  open(room)
  return rooms
}

/** What a source imports: statically, dynamically, as types, or to export it again. */
export const importsOf = (text: string): ReadonlyArray<string> =>
  ts.preProcessFile(text, true, true).importedFiles.map((file) => file.fileName)

const nameOf = (room: string): string => (room === "switchgear" ? room : `@switchgear/${room}`)

const roomOf = (specifier: string): { readonly room: string; readonly path: string } | undefined => {
  const [scope, name, ...rest] = specifier.split("/")
  if (scope === "@switchgear" && name !== undefined) return { room: name, path: rest.join("/") }
  return scope === "switchgear"
    ? { room: scope, path: [name, ...rest].filter((part) => part !== undefined).join("/") }
    : undefined
}

/** The package that a specifier names. */
export const externalName = (specifier: string): string =>
  specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/")

/** Groups of files that import each other in a circle, each as its files in order. */
export const circles = (graph: ReadonlyMap<string, ReadonlyArray<string>>): ReadonlyArray<ReadonlyArray<string>> => {
  const found: Array<ReadonlyArray<string>> = []
  const done = new Set<string>()
  const path: Array<string> = []
  const visit = (file: string): void => {
    const begins = path.indexOf(file)
    if (begins >= 0) {
      found.push([...path.slice(begins), file])
      return
    }
    if (done.has(file)) return
    path.push(file)
    for (const next of graph.get(file) ?? []) visit(next)
    path.pop()
    done.add(file)
  }
  for (const file of graph.keys()) visit(file)
  return found
}

/** Every import and dependency that the table does not allow, in words. */
export const violations = (packages: ReadonlyArray<Package>): ReadonlyArray<string> => {
  const wrong: Array<string> = []
  const graph = new Map<string, Array<string>>()
  for (const { files, manifest, room } of packages) {
    const rooms = allowed(room)
    const ruled = !free.includes(room)
    const declared = {
      ...manifest.dependencies,
      ...manifest.peerDependencies,
      ...manifest.optionalDependencies
    }
    if (manifest.name !== nameOf(room)) wrong.push(`${room} is named ${manifest.name}`)
    if (ruled && !Object.hasOwn(table, room)) wrong.push(`${room} has no row in the table`)
    for (const name of Object.keys(declared)) {
      const other = roomOf(name)
      if (bare.includes(room)) wrong.push(`${room} depends on ${name}`)
      else if (ruled && other !== undefined && !rooms.has(other.room)) wrong.push(`${room} depends on ${name}`)
    }
    for (const [path, text] of Object.entries(files)) {
      const file = `${room}/src/${path}`
      const edges: Array<string> = []
      graph.set(file, edges)
      for (const specifier of importsOf(text)) {
        if (specifier.startsWith(".")) {
          const target = normalize(join(dirname(file), specifier))
          if (!target.startsWith(`${room}/src/`)) wrong.push(`${file} imports ${specifier}, outside its package`)
          edges.push(target.replace(/\.js$/, ".ts"))
          continue
        }
        const other = roomOf(specifier)
        if (other !== undefined) edges.push(`${other.room}/src/${other.path === "" ? "index" : other.path}.ts`)
        if (bare.includes(room)) wrong.push(`${file} imports ${specifier}`)
        else if (other !== undefined) {
          if (other.room === room) wrong.push(`${file} imports its own package as ${specifier}`)
          else if (ruled && !rooms.has(other.room)) wrong.push(`${file} imports ${specifier}`)
          else if (!Object.hasOwn(declared, nameOf(other.room))) wrong.push(`${file} imports ${specifier}, undeclared`)
          if (other.path.split("/").includes("internal"))
            wrong.push(`${file} imports the inside of another: ${specifier}`)
        } else if (!isBuiltin(specifier) && !Object.hasOwn(declared, externalName(specifier))) {
          wrong.push(`${file} imports ${specifier}, undeclared`)
        }
      }
    }
  }
  return [...wrong, ...circles(graph).map((circle) => `a circle: ${circle.join(" -> ")}`)]
}
