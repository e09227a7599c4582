import * as ParseResult from "effect/ParseResult"

export interface Fault {
  readonly path: string
  readonly message: string
}

const literals = /^Expected ("[^"]*"(?: \| "[^"]*")*), actual (.*)$/s

/** What the schema's formatter says of every member of a union, as one sentence that says what to write. */
export const faultsOf = (error: ParseResult.ParseError): ReadonlyArray<Fault> => {
  const choices = new Map<string, { readonly names: Set<string>; readonly actual: string }>()
  const faults: Array<Fault> = []
  const add = (path: string, message: string) => {
    if (!faults.some((fault) => fault.path === path && fault.message === message)) faults.push({ path, message })
  }
  const issues = ParseResult.ArrayFormatter.formatErrorSync(error).map((issue) => ({
    ...issue,
    path: issue.path.map(String).join(".")
  }))
  for (const { _tag, message, path } of issues) {
    if (_tag === "Missing") add(path, "is missing")
    else if (_tag === "Unexpected") add(path, "is no key here: take it out, or mend its spelling")
    // an optional field's other member
    else if (message.startsWith("Expected undefined")) continue
    else {
      const [, names = "", actual = ""] = literals.exec(message) ?? []
      if (names === "") {
        add(path, message.split("\n")[0] ?? message)
        continue
      }
      const known = choices.get(path)
      const all = known ?? { names: new Set<string>(), actual }
      for (const [, name = ""] of names.matchAll(/"([^"]*)"/g)) all.names.add(name)
      if (known === undefined) {
        choices.set(path, all)
        faults.push({ path, message: "" })
      }
    }
  }
  const said = faults.map((fault) => {
    const choice = fault.message === "" ? choices.get(fault.path) : undefined
    if (choice === undefined) return fault
    return { path: fault.path, message: `must be one of ${[...choice.names].join(", ")}, got ${choice.actual}` }
  })
  // what another member of a union would have been says nothing where one member says more
  const more = ({ path }: Fault) =>
    said.some(
      (other) => !other.message.startsWith("Expected") && (other.path === path || other.path.startsWith(`${path}.`))
    )
  return said.filter((fault) => !fault.message.startsWith("Expected") || !more(fault))
}
