import * as Policy from "@switchgear/core/Policy"
import type { Reading } from "./faults.js"
import { didYouMean } from "./suggest.js"

const prefix = "SWITCHGEAR_PROVIDER_"

/** Which part of a policy a variable overrides. */
type Part = "consecutive" | "rolling" | "cooldown"

interface Knob {
  readonly variable: string
  readonly part: Part
  readonly field: string
  readonly read: (text: string) => number | undefined
  readonly wants: string
}

const decimal = (text: string): number => (/^\d+(\.\d+)?$/.test(text.trim()) ? Number(text) : Number.NaN)

const count = (text: string): number | undefined => {
  const value = decimal(text)
  return Number.isSafeInteger(value) && value > 0 ? value : undefined
}

const seconds = (text: string): number | undefined => {
  // Seconds with up to three decimals are whole ms; the product of doubles may be off by less than one.
  const value = decimal(text)
  const ms = Math.round(value * 1000)
  return Number.isSafeInteger(ms) && ms > 0 && Math.abs(ms - value * 1000) < 1e-6 * Math.max(1, ms) ? ms : undefined
}

const rate = (text: string): number | undefined => {
  const value = decimal(text)
  return value > 0 && value <= 1 ? value : undefined
}

const wantsCount = "must be a whole number of at least 1"
const wantsSeconds = "must be a number of seconds above 0, to the millisecond"
const knob = (name: string, part: Part, field: string, read: Knob["read"], wants: string): Knob => ({
  variable: `${prefix}CIRCUIT_BREAKER_${name}`,
  part,
  field,
  read,
  wants
})

const knobs: ReadonlyArray<Knob> = [
  knob("FAILURES", "consecutive", "failureThreshold", count, wantsCount),
  knob("WINDOW_SECONDS", "rolling", "window", seconds, wantsSeconds),
  knob("BUCKET_PERIOD_SECONDS", "rolling", "bucketPeriod", seconds, wantsSeconds),
  knob("MIN_SAMPLES", "rolling", "minSamples", count, wantsCount),
  knob("FAILURE_RATE", "rolling", "failureRateThreshold", rate, "must be a rate above 0 and at most 1"),
  knob("COOLDOWN_SECONDS", "cooldown", "base", seconds, wantsSeconds)
]

const maxDepthVariable = `${prefix}FALLBACK_MAX_DEPTH`

/** What the environment sets over the file: only values that were given and are good. */
export interface Overrides {
  readonly maxDepth: number | undefined
  readonly set: ReadonlyArray<{ readonly knob: Knob; readonly value: number }>
}

/** Reads the variables; a bad value, an empty one included, is a fault and never becomes a default. */
export const overrides = (reading: Reading): Overrides => {
  const set: Array<{ knob: Knob; value: number }> = []
  for (const knob of knobs) {
    const value = read(reading, knob.variable, knob.read, knob.wants)
    if (value !== undefined) set.push({ knob, value })
  }
  const maxDepth = read(reading, maxDepthVariable, (text) => within(count(text)), "must be a whole number from 1 to 8")
  refuseUnknown(reading)
  return { maxDepth, set }
}

const within = (depth: number | undefined): number | undefined =>
  depth !== undefined && depth <= 8 ? depth : undefined

const read = (reading: Reading, variable: string, parse: Knob["read"], wants: string): number | undefined => {
  const text = reading.env[variable]
  if (text === undefined) return undefined
  const value = parse(text)
  if (value === undefined) {
    const given = text.trim() === "" ? "is empty" : `is ${JSON.stringify(text.slice(0, 40))}`
    reading.faults.push({ path: variable, message: `${given}; it ${wants}, or unset it to use the file's value` })
  }
  return value
}

/** A misspelt knob would be ignored in silence, and its owner would think it set. */
const refuseUnknown = (reading: Reading): void => {
  const known = [...knobs.map((each) => each.variable), maxDepthVariable]
  for (const name of Object.keys(reading.env)) {
    const ours = name.startsWith(`${prefix}CIRCUIT_BREAKER_`) || name.startsWith(`${prefix}FALLBACK_`)
    if (ours && !known.includes(name)) {
      reading.faults.push({ path: name, message: `is no setting of the gateway${didYouMean(name, known)}; unset it` })
    }
  }
}

/** The policy of one provider under the environment; the combination is checked as a whole. */
export const override = (
  reading: Reading,
  overrides: Overrides,
  provider: string,
  policy: Policy.Policy
): Policy.Policy | undefined => {
  const applied = overrides.set.filter(({ knob }) => knob.part === "cooldown" || ruleOf(policy.trip, knob.part))
  if (applied.length === 0) return policy
  const patch = (part: Part) =>
    Object.fromEntries(applied.filter((each) => each.knob.part === part).map((each) => [each.knob.field, each.value]))
  const { trip } = policy
  const patched =
    trip._tag === "AnyOf"
      ? {
          ...trip,
          consecutive: { ...trip.consecutive, ...patch("consecutive") },
          rolling: { ...trip.rolling, ...patch("rolling") }
        }
      : { ...trip, ...patch(trip._tag === "Rolling" ? "rolling" : "consecutive") }
  const result = Policy.decode({ ...policy, trip: patched, cooldown: { ...policy.cooldown, ...patch("cooldown") } })
  if (result._tag === "Success") return result.policy
  for (const { path, message } of result.faults) {
    const names = responsible(
      path,
      applied.map(({ knob }) => knob)
    ).join(" and ")
    reading.faults.push({ path: names, message: `with the policy of provider "${provider}", ${path}: ${message}` })
  }
  return undefined
}

const ruleOf = (trip: Policy.Trip, part: Part): boolean =>
  trip._tag === "AnyOf" || (trip._tag === "Rolling" ? part === "rolling" : part === "consecutive")

/** The variables to look at for a fault: window and bucket period are only right together. */
const responsible = (path: string, applied: ReadonlyArray<Knob>): ReadonlyArray<string> => {
  const field = path.split(".").at(-1)
  const together = field === "window" || field === "bucketPeriod" ? ["window", "bucketPeriod"] : [field]
  const named = knobs.filter(
    (knob) => together.includes(knob.field) && path.startsWith(knob.part === "cooldown" ? "cooldown" : "trip")
  )
  return (named.length > 0 ? named : applied).map((knob) => knob.variable)
}
