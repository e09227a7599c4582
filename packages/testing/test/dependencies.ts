import { externalName, importsOf } from "./rooms.js"

type Names = Readonly<Record<string, string>>

export interface Manifest {
  readonly name: string
  readonly dependencies?: Names
  readonly devDependencies?: Names
  readonly optionalDependencies?: Names
  readonly peerDependencies?: Names
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean }>>
}

export interface Package {
  readonly manifest: Manifest
  /** The texts that are published: what a consumer's `dependencies` and peers are for. */
  readonly published: ReadonlyArray<string>
  /** Those of its tests and scripts. */
  readonly beside: ReadonlyArray<string>
}

const imported = (texts: ReadonlyArray<string>): ReadonlySet<string> =>
  new Set(texts.flatMap(importsOf).map(externalName))

const required = ({ peerDependencies = {}, peerDependenciesMeta = {} }: Manifest): ReadonlyArray<string> =>
  Object.keys(peerDependencies).filter((name) => peerDependenciesMeta[name]?.optional !== true)

/**
 * Every dependency that is declared and never imported, in words. What is a peer of another declared one, or of one that
 * it brings along, may be there for that one's sake: to bring an optional peer along is how one chooses it, to ask it of
 * one's own consumer is not.
 *
 * @param installed The manifest of a package from elsewhere.
 */
export const unused = (
  packages: ReadonlyArray<Package>,
  installed: (name: string) => Manifest | undefined
): ReadonlyArray<string> => {
  const house = new Map(packages.map(({ manifest }) => [manifest.name, manifest]))
  return packages.flatMap(({ beside, manifest, published }) => {
    const shipped = { ...manifest.dependencies, ...manifest.optionalDependencies, ...manifest.peerDependencies }
    const declared = [...Object.keys(shipped), ...Object.keys(manifest.devDependencies ?? {})]
    const others = new Set<Manifest>()
    const bring = (name: string): void => {
      const other = house.get(name) ?? installed(name)
      if (other === undefined || others.has(other)) return
      others.add(other)
      for (const next of Object.keys(other.dependencies ?? {})) bring(next)
    }
    for (const name of declared) bring(name)
    const asked = new Set([...others].flatMap(({ peerDependencies = {} }) => Object.keys(peerDependencies)))
    const needed = new Set([...others].flatMap(required))
    const inPublished = imported(published)
    const anywhere = imported([...published, ...beside])
    const idle = (
      names: Names | undefined,
      used: ReadonlySet<string>,
      as: string,
      forOthers = asked
    ): ReadonlyArray<string> =>
      Object.keys(names ?? {})
        .filter((name) => !used.has(name) && !forOthers.has(name))
        .map((name) => `${manifest.name} declares ${name} as ${as} and never imports it`)
    return [
      ...idle(manifest.dependencies, inPublished, "a dependency"),
      ...idle(manifest.optionalDependencies, inPublished, "an optional dependency"),
      ...idle(manifest.peerDependencies, inPublished, "a peer", needed),
      ...idle(manifest.devDependencies, anywhere, "a development dependency")
    ]
  })
}
