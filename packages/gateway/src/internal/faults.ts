/** Where something stands in a configuration file; both count from 1. */
export interface Place {
  readonly path: string
  readonly line: number
  readonly column: number
}

/** One thing wrong with a configuration: where it is, what it is, how to mend it. */
export interface Fault {
  /** Keys joined by dots, items in brackets (`providers[0].apiKey`), or the name of an environment variable. */
  readonly path: string
  readonly message: string
  /** Absent for a fault of the environment. */
  readonly line?: number
  readonly column?: number
}

/** What one reading of a configuration knows and finds. */
export interface Reading {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly faults: Array<Fault>
  /** Names introduced, by sort (`provider`, `model`). */
  readonly declared: Array<Named>
  /** Names mentioned that something must introduce. */
  readonly mentioned: Array<Named>
}

export interface Named {
  readonly sort: "provider" | "model"
  readonly name: string
  readonly place: Place
}

/** In the order in which a person meets them in the file; the environment's come last. */
export const inOrder = (faults: ReadonlyArray<Fault>): ReadonlyArray<Fault> =>
  [...faults].sort((a, b) => (a.line ?? Infinity) - (b.line ?? Infinity) || (a.column ?? 0) - (b.column ?? 0))

export const renderFault = (fault: Fault): string =>
  fault.line === undefined
    ? `${fault.path}: ${fault.message}`
    : `line ${fault.line}${fault.path === "" ? "" : `, ${fault.path}`}: ${fault.message}`

/** The names, as a person would list them. */
export const list = (names: ReadonlyArray<string>): string => (names.length === 0 ? "none" : names.join(", "))
