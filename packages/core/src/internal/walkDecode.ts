import { type Fault, Reader, show } from "./decode.js"
import type { Settings } from "./walkModel.js"
import { ibex_, nrLlm_, recommended_ } from "./walkPresets.js"

export type Result<A> =
  | { readonly _tag: "Success"; readonly value: A }
  | { readonly _tag: "Failure"; readonly faults: ReadonlyArray<Fault> }

const presets: ReadonlyMap<string, Settings> = new Map([
  ["recommended", recommended_],
  ["ibex", ibex_],
  ["nrLlm", nrLlm_]
])

const kinds: ReadonlyArray<string> = [
  "rate_limit",
  "quota_exhausted",
  "overloaded",
  "server_error",
  "timeout",
  "network_error",
  "auth",
  "model_unavailable",
  "context_length",
  "content_filter",
  "client_fault",
  "circuit_open",
  "saturated",
  "unknown"
]

const keys: ReadonlyArray<string> = [
  "preset",
  "on",
  "never",
  "maxDepth",
  "depthCounts",
  "surface",
  "reorderByHealth",
  "preferHealthyState",
  "lastResort",
  "budget"
]

/** The longest chain (ROUTING F2). */
export const maxChain = 8

/** Kinds, statuses and classes by their names, each once. */
const triggers = (reader: Reader, key: string, fallback: ReadonlyArray<string>): ReadonlyArray<string> => {
  const value = reader.get(key)
  if (value === undefined) return fallback
  if (!Array.isArray(value)) {
    reader.fault(
      key,
      `must be a list of kinds, statuses and classes such as ["timeout", 503, "5xx"], not ${show(value)}`
    )
    return fallback
  }
  const found: Array<string> = []
  for (const [index, entry] of (value as ReadonlyArray<unknown>).entries()) {
    const name = typeof entry === "number" ? String(entry) : entry
    if (typeof name === "string" && (kinds.includes(name) || /^[1-5](\d\d|xx)$/.test(name))) {
      if (!found.includes(name)) found.push(name)
    } else if (name === "cancelled") {
      reader.fault(`${key}.${index}`, "must not be cancelled: a caller who left is never answered by another target")
    } else {
      const fix = `must be a kind (${kinds.join(", ")}), a status such as 503 or a class such as "5xx"`
      reader.fault(`${key}.${index}`, `${fix}, not ${show(entry)}`)
    }
  }
  return found
}

export const decodeSettings = (input: unknown): Result<Settings> => {
  const faults: Array<Fault> = []
  const reader = Reader.of(input === undefined ? {} : input, "", faults, keys)
  if (reader === undefined) return { _tag: "Failure", faults }
  const base = presets.get(reader.oneOf("preset", [...presets.keys()], "recommended") ?? "") ?? recommended_
  const hops = "a whole number of hops, at least 1 (for no fallback leave the chains empty)"
  const share = "a share of first attempts from 0 to 1, where 1 is off"
  const settings: Omit<Settings, symbol> = {
    on: triggers(reader, "on", base.on),
    never: triggers(reader, "never", base.never),
    maxDepth: reader.count("maxDepth", base.maxDepth, 1, hops) ?? base.maxDepth,
    depthCounts: reader.oneOf("depthCounts", ["attempts", "listed"], base.depthCounts) ?? base.depthCounts,
    surface: reader.oneOf("surface", ["primary", "last", "exhausted"], base.surface) ?? base.surface,
    reorderByHealth: reader.flag("reorderByHealth", base.reorderByHealth) ?? base.reorderByHealth,
    preferHealthyState: reader.flag("preferHealthyState", base.preferHealthyState) ?? base.preferHealthyState,
    lastResort: reader.oneOf("lastResort", ["none", "soonest"], base.lastResort) ?? base.lastResort,
    budget: reader.number("budget", base.budget, 0, 1, share) ?? base.budget
  }
  const both = reader.has("on") ? settings.on.find((name) => settings.never.includes(name)) : undefined
  if (both !== undefined) reader.fault("on", `names ${both}, which is in never too: remove it from one of them`)
  return faults.length > 0 ? { _tag: "Failure", faults } : { _tag: "Success", value: settings as Settings }
}

export const decodeChain_ = (input: unknown): Result<ReadonlyArray<string>> => {
  if (!Array.isArray(input)) {
    return { _tag: "Failure", faults: [{ path: "", message: `must be a list of model names, not ${show(input)}` }] }
  }
  const faults: Array<Fault> = []
  if (input.length > maxChain) {
    const message = `holds ${input.length} entries: shorten it to the ${maxChain} that matter most`
    faults.push({ path: "", message })
  }
  const names: Array<string> = []
  for (const [index, entry] of (input as ReadonlyArray<unknown>).entries()) {
    if (typeof entry !== "string") {
      faults.push({ path: String(index), message: `must be a model's name, not ${show(entry)}` })
      continue
    }
    const name = entry.trim()
    if (name !== "" && !names.includes(name)) names.push(name)
  }
  return faults.length > 0 ? { _tag: "Failure", faults } : { _tag: "Success", value: names }
}
