import * as Fallback from "@switchgear/core/Fallback"
import * as Policy from "@switchgear/core/Policy"
import * as Cursor from "./cursor.js"
import type { Decoder } from "./decoder.js"
import { list } from "./faults.js"
import { didYouMean } from "./suggest.js"

/** What `core` finds wrong with plain data, each at its own line. */
const report = (
  at: Cursor.Cursor,
  faults: ReadonlyArray<{ readonly path: string; readonly message: string }>
): undefined => {
  for (const { path, message } of faults) {
    at.file.reading.faults.push({ ...Cursor.below(at, path === "" ? [] : path.split(".")), message })
  }
  return undefined
}

/** A preset's name, or a policy; each of its faults is reported at its own line (SEMANTICS V). */
export const policy: Decoder<Policy.Policy> = (at) => {
  const name = Cursor.scalar(at)
  if (typeof name === "string") return preset(at, name)
  if (Cursor.entries(at) === undefined) {
    return Cursor.fault(at, "must be the name of a preset or a policy with a trip rule")
  }
  const value = Cursor.data(at)
  if (value === undefined) return undefined
  const result = Policy.decode(value)
  return result._tag === "Success" ? result.policy : report(at, result.faults)
}

const preset = (at: Cursor.Cursor, name: string): Policy.Policy | undefined => {
  const presets: Readonly<Record<string, Policy.Policy>> = Policy.presets
  const names = Object.keys(presets)
  const found = Object.hasOwn(presets, name) ? presets[name] : undefined
  return found ?? Cursor.fault(at, `"${name}" is no preset${didYouMean(name, names)}; presets: ${list(names)}`)
}

/** The settings of the walk (ROUTING F); what they leave out is that of `preset`, unless they name another. */
export const fallback =
  (preset: keyof typeof Fallback.presets): Decoder<Fallback.Settings> =>
  (at) => {
    const value = Cursor.data(at)
    if (value === undefined) return undefined
    const given = typeof value === "object" && value !== null && !Array.isArray(value) ? { preset, ...value } : value
    const result = Fallback.decode(given)
    return result._tag === "Success" ? result.value : report(at, result.faults)
  }
