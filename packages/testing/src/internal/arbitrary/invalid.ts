import * as fc from "fast-check"
import type { PolicyInput } from "./policy.js"

type Path = ReadonlyArray<string>

/** What is put where, and the path that the refusal must then name. */
interface Fault {
  readonly path: Path
  readonly value: unknown
  readonly named: string
}

const isFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** A copy of `input` with `value` at `path`; objects on the way are made where they are missing. */
const put = (input: unknown, path: Path, value: unknown): unknown => {
  const [key, ...rest] = path
  if (key === undefined) return value
  const fields = isFields(input) ? input : {}
  const inner = Object.hasOwn(fields, key) ? fields[key] : undefined
  return { ...fields, [key]: put(inner, rest, value) }
}

const count = [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "3", null, 2 ** 53]
const duration = [0, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, "soon", "Infinity", true]
const rate = [0, -0.1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "0.5"]
const positiveZero = (values: ReadonlyArray<unknown>): ReadonlyArray<unknown> => values.filter((value) => value !== 0)

const at = (path: Path, values: ReadonlyArray<unknown>): ReadonlyArray<Fault> =>
  values.map((value) => ({ path, value, named: path.join(".") }))

const consecutiveFaults = (path: Path): ReadonlyArray<ReadonlyArray<Fault>> => [
  at([...path, "failureThreshold"], count),
  at([...path, "onSuccess"], ["never", 3, null]),
  [{ path: [...path, "onSuccess"], value: { decayBy: 0 }, named: [...path, "onSuccess", "decayBy"].join(".") }]
]

const rollingFaults = (path: Path): ReadonlyArray<ReadonlyArray<Fault>> => [
  // whether a window is a multiple cannot be told without a period
  [...at([...path, "window"], [...duration, 10_007, "3 days 1 milli"]), ...at([...path, "bucketPeriod"], duration)],
  at([...path, "minSamples"], count),
  at([...path, "failureRateThreshold"], rate),
  at([...path, "slowCallDuration"], duration),
  at([...path, "slowCallRateThreshold"], rate)
]

/** Faults by place; at most one of each place is put into a policy. */
const places = (input: PolicyInput): ReadonlyArray<ReadonlyArray<Fault>> => [
  ...(input.trip._tag === "Consecutive"
    ? // D1: the order can be told only from a trip threshold that is one
      [[...consecutiveFaults(["trip"]).flat(), ...at(["degradation", "threshold"], [input.trip.failureThreshold])]]
    : input.trip._tag === "Rolling"
      ? rollingFaults(["trip"])
      : [...consecutiveFaults(["trip", "consecutive"]), ...rollingFaults(["trip", "rolling"])]),
  at(["cooldown", "base"], duration),
  at(["cooldown", "multiplier"], [0.5, -1, Number.NaN, Number.POSITIVE_INFINITY, "2"]),
  at(["cooldown", "maxMultiplier"], [0.5, -1, Number.NaN, Number.POSITIVE_INFINITY, "2"]),
  at(["cooldown", "graceOpenings"], positiveZero(count)),
  at(["cooldown", "jitter"], [-0.1, 1.1, Number.NaN, "1"]),
  at(["cooldown", "honorRetryAfter"], ["yes", 1, null]),
  at(["cooldown", "maxRetryAfter"], duration),
  at(["cooldown", "resetAfter"], positiveZero(duration)),
  at(["cooldown", "basis"], [1]),
  at(["cooldownByKind", "server_error"], positiveZero(duration)),
  at(["kindThresholds", "server_error", "threshold"], count),
  at(["kindThresholds", "overloaded", "window"], duration),
  at(["kindThresholds", "saturated", "immediateOpen"], ["yes", 1]),
  at(["kindThresholds", "network_error", "treshold"], [1]),
  at(["halfOpen", "maxProbes"], count),
  at(["halfOpen", "successThreshold"], count),
  at(["halfOpen", "probeTimeout"], duration),
  at(["halfOpen", "probes"], [1]),
  at(["outcomes", "server_error"], ["fail", 1, null]),
  at(["ignoredAs"], ["failure", 1, null]),
  at(["tripp"], [{}]),
  // D1: no legal count or rate at all, whatever the trip's
  at(["degradation", "threshold"], input.trip._tag === "Consecutive" ? count : rate)
]

/** Places that cannot both be judged: the one is read in the light of the other. */
const overlap = (one: Path, other: Path): boolean => {
  const [shorter, longer] = one.length < other.length ? [one, other] : [other, one]
  return shorter.every((key, index) => longer[index] === key)
}

/** A valid policy with one to three faults in different places, and the paths that must be named. */
export const spoil = (
  policy: fc.Arbitrary<PolicyInput>
): fc.Arbitrary<{ readonly input: unknown; readonly paths: ReadonlyArray<string> }> =>
  fc
    .record({
      policy,
      picks: fc.array(fc.tuple(fc.nat(), fc.nat()), { minLength: 1, maxLength: 3 })
    })
    .map(({ picks, policy }) => {
      const all = places(policy)
      let input: unknown = policy
      const made = new Map<number, Fault>()
      for (const [pick, which] of picks) {
        const place = pick % all.length
        const faults = all[place] ?? []
        const fault = faults[which % faults.length]
        if (fault === undefined || made.has(place)) continue
        if ([...made.values()].some((earlier) => overlap(earlier.path, fault.path))) continue
        made.set(place, fault)
        input = put(input, fault.path, fault.value)
      }
      return { input, paths: [...made.values()].map((fault) => fault.named) }
    })
