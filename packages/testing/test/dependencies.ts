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

/** What a package cannot do without a consumer bringing it along. */
const requiredPeers = ({ peerDependencies = {}, peerDependenciesMeta = {} }: Manifest): ReadonlyArray<string> =>
  Object.keys(peerDependencies).filter((name) => peerDependenciesMeta[name]?.optional !== true)

/**
 * Every dependency that is declared and never imported, in words. One that another declared one requires as its peer is
 * there for that one's sake.
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
    const forOthers = new Set(
      declared.flatMap((name) => {
        const other = house.get(name) ?? installed(name)
        return other === undefined ? [] : requiredPeers(other)
      })
    )
    const inPublished = imported(published)
    const anywhere = imported([...published, ...beside])
    const idle = (names: Names | undefined, used: ReadonlySet<string>, as: string): ReadonlyArray<string> =>
      Object.keys(names ?? {})
        .filter((name) => !used.has(name) && !forOthers.has(name))
        .map((name) => `${manifest.name} declares ${name} as ${as} and never imports it`)
    return [
      ...idle(manifest.dependencies, inPublished, "a dependency"),
      ...idle(manifest.optionalDependencies, inPublished, "an optional dependency"),
      ...idle(manifest.peerDependencies, inPublished, "a peer"),
      ...idle(manifest.devDependencies, anywhere, "a development dependency")
    ]
  })
}
