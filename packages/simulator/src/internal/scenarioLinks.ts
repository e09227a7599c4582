import type * as Schema from "effect/Schema"
import type { fields } from "./scenarioSchema.js"

type Fields = Schema.Schema.Type<Schema.Struct<typeof fields>>

interface Issue {
  readonly path: ReadonlyArray<string | number>
  readonly message: string
}

const list = (names: ReadonlyArray<string>): string => names.map((name) => `"${name}"`).join(", ")

/** What does not fit together, by its place. */
export const links = (scenario: Fields): ReadonlyArray<Issue> => {
  const { arrivals, duration, models, providers, traffic = [] } = scenario
  const faults: Array<Issue> = []
  const modelNames = models.map(({ name }) => name)
  const providerNames = providers.map(({ name }) => name)
  const known = (path: ReadonlyArray<string | number>, what: string, name: string, names: ReadonlyArray<string>) => {
    if (!names.includes(name)) faults.push({ path, message: `there is no ${what} "${name}"; there are ${list(names)}` })
  }
  const once = (path: string, names: ReadonlyArray<string>) => {
    for (const [index, name] of names.entries()) {
      if (names.indexOf(name) !== index) {
        faults.push({ path: [path, index, "name"], message: `a second "${name}": give it another name` })
      }
    }
  }
  once("providers", providerNames)
  once("models", modelNames)
  for (const [index, { fallbackChain, provider }] of models.entries()) {
    known(["models", index, "provider"], "provider", provider, providerNames)
    for (const [at, name] of fallbackChain.entries()) {
      known(["models", index, "fallbackChain", at], "model", name, modelNames)
    }
    if (fallbackChain.length > 8) {
      faults.push({
        path: ["models", index, "fallbackChain"],
        message: `holds ${fallbackChain.length} models: keep at most 8`
      })
    }
  }
  for (const [index, { model }] of traffic.entries()) known(["traffic", index, "model"], "model", model, modelNames)
  if (arrivals.kind === "log" && "calls" in arrivals) {
    for (const [index, call] of arrivals.calls.entries()) {
      if (typeof call !== "number" && call.model !== undefined) {
        known(["arrivals", "calls", index, "model"], "model", call.model, modelNames)
      }
    }
  }
  for (const [index, { hosts = [], name, phases }] of providers.entries()) {
    const upstreams = models.filter(({ provider }) => provider === name).map((model) => model.upstream ?? model.name)
    for (const [at, { from, only, to }] of phases.entries()) {
      const path = ["providers", index, "phases", at]
      if (to <= from) faults.push({ path: [...path, "to"], message: `must be after from (${from} ms), got ${to} ms` })
      if (from >= duration) {
        faults.push({ path: [...path, "from"], message: `is after the end of the run (${duration} ms)` })
      }
      if (only?.model !== undefined) known([...path, "only", "model"], "upstream model", only.model, upstreams)
      if (only?.host !== undefined) known([...path, "only", "host"], "host of this provider", only.host, hosts)
    }
  }
  return faults
}
