import type { Fault, Settings } from "./walkModel.js"
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

const isRecord = (input: unknown): input is Readonly<Record<string, unknown>> =>
  typeof input === "object" && input !== null && !Array.isArray(input)

/** A value as a message shows it; never long, never throwing. */
const show = (input: unknown): string => {
  if (typeof input === "string") return JSON.stringify(input.length > 40 ? `${input.slice(0, 40)}…` : input)
  if (typeof input === "number" || typeof input === "boolean" || input === null) return String(input)
  return Array.isArray(input) ? "a list" : `a value of type ${typeof input}`
}

/** Reads the keys of a record one by one and collects what is wrong with them. */
class Reader {
  readonly faults: Array<Fault> = []
  constructor(readonly input: Readonly<Record<string, unknown>>) {}

  fault(path: string, message: string): void {
    this.faults.push({ path, message })
  }

  value(key: string): unknown {
    return Object.hasOwn(this.input, key) ? this.input[key] : undefined
  }

  oneOf<A extends string>(key: string, allowed: ReadonlyArray<A>, otherwise: A): A {
    const value = this.value(key)
    if (value === undefined) return otherwise
    const found = allowed.find((one) => one === value)
    if (found !== undefined) return found
    this.fault(key, `must be one of ${allowed.join(", ")}, got ${show(value)}`)
    return otherwise
  }

  flag(key: string, otherwise: boolean): boolean {
    const value = this.value(key)
    if (value === undefined || typeof value === "boolean") return value ?? otherwise
    this.fault(key, `must be true or false, got ${show(value)}`)
    return otherwise
  }

  number(key: string, fits: (value: number) => boolean, what: string, otherwise: number): number {
    const value = this.value(key)
    if (value === undefined) return otherwise
    if (typeof value === "number" && fits(value)) return value
    this.fault(key, `must be ${what}, got ${show(value)}`)
    return otherwise
  }

  triggers(key: string, otherwise: ReadonlyArray<string>): ReadonlyArray<string> {
    const value = this.value(key)
    if (value === undefined) return otherwise
    if (!Array.isArray(value)) {
      this.fault(
        key,
        `must be a list of kinds, statuses and classes such as ["timeout", 503, "5xx"], got ${show(value)}`
      )
      return otherwise
    }
    const found: Array<string> = []
    for (const [index, entry] of (value as ReadonlyArray<unknown>).entries()) {
      const name = typeof entry === "number" ? String(entry) : entry
      if (typeof name === "string" && (kinds.includes(name) || /^[1-5](\d\d|xx)$/.test(name))) {
        if (!found.includes(name)) found.push(name)
      } else if (name === "cancelled") {
        this.fault(`${key}.${index}`, "must not be cancelled: a caller who left is never answered by another target")
      } else {
        const fix = `must be a kind (${kinds.join(", ")}), a status such as 503 or a class such as "5xx"`
        this.fault(`${key}.${index}`, `${fix}, got ${show(entry)}`)
      }
    }
    return found
  }
}

export const decodeSettings = (input: unknown): Result<Settings> => {
  if (input !== undefined && !isRecord(input)) {
    const message = `must be an object of fallback settings (${keys.join(", ")}), got ${show(input)}`
    return { _tag: "Failure", faults: [{ path: "", message }] }
  }
  const reader = new Reader(input ?? {})
  for (const key of Object.keys(reader.input)) {
    if (!keys.includes(key)) reader.fault(key, `is not a fallback setting: remove it, or use one of ${keys.join(", ")}`)
  }
  const preset = reader.oneOf("preset", [...presets.keys()], "recommended")
  const base = presets.get(preset) ?? recommended_
  const settings: Omit<Settings, symbol> = {
    on: reader.triggers("on", base.on),
    never: reader.triggers("never", base.never),
    maxDepth: reader.number(
      "maxDepth",
      (value) => Number.isSafeInteger(value) && value >= 1,
      "a whole number of hops, at least 1 (for no fallback leave the chains empty)",
      base.maxDepth
    ),
    depthCounts: reader.oneOf("depthCounts", ["attempts", "listed"], base.depthCounts),
    surface: reader.oneOf("surface", ["primary", "last", "exhausted"], base.surface),
    reorderByHealth: reader.flag("reorderByHealth", base.reorderByHealth),
    preferHealthyState: reader.flag("preferHealthyState", base.preferHealthyState),
    lastResort: reader.oneOf("lastResort", ["none", "soonest"], base.lastResort),
    budget: reader.number(
      "budget",
      (value) => value >= 0 && value <= 1,
      "a share of first attempts from 0 to 1, where 1 is off",
      base.budget
    )
  }
  const both = reader.value("on") === undefined ? undefined : settings.on.find((name) => settings.never.includes(name))
  if (both !== undefined) reader.fault("on", `names ${both}, which is in never too: remove it from one of them`)
  if (reader.faults.length > 0) return { _tag: "Failure", faults: reader.faults }
  return { _tag: "Success", value: settings as Settings }
}

export const decodeChain_ = (input: unknown): Result<ReadonlyArray<string>> => {
  if (!Array.isArray(input)) {
    return { _tag: "Failure", faults: [{ path: "", message: `must be a list of model names, got ${show(input)}` }] }
  }
  const faults: Array<Fault> = []
  if (input.length > maxChain) {
    const message = `holds ${input.length} entries: shorten it to the ${maxChain} that matter most`
    faults.push({ path: "", message })
  }
  const names: Array<string> = []
  for (const [index, entry] of (input as ReadonlyArray<unknown>).entries()) {
    if (typeof entry !== "string") {
      faults.push({ path: String(index), message: `must be a model's name, got ${show(entry)}` })
      continue
    }
    const name = entry.trim()
    if (name !== "" && !names.includes(name)) names.push(name)
  }
  return faults.length > 0 ? { _tag: "Failure", faults } : { _tag: "Success", value: names }
}
