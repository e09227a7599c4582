import { isRecord, Reader, show } from "./decode.js"
import { takenByKind } from "./kinds.js"
import type {
  ConsecutiveRule,
  Cooldown,
  Degradation,
  HalfOpenRule,
  KindThreshold,
  OnSuccess,
  RollingRule,
  Taken,
  Trip
} from "./policyModel.js"

const consecutiveKeys = ["failureThreshold", "onSuccess"]
const rollingKeys = [
  "window",
  "bucketPeriod",
  "minSamples",
  "failureRateThreshold",
  "slowCallDuration",
  "slowCallRateThreshold"
]
const maxBuckets = 1_000

const onSuccess = (reader: Reader): OnSuccess | undefined => {
  const value = reader.get("onSuccess")
  if (value === undefined || value === "reset") return "reset"
  if (typeof value !== "object") {
    reader.fault("onSuccess", `must be "reset" or { decayBy: N }, not ${show(value)}`)
    return undefined
  }
  const decayBy = reader.object("onSuccess", ["decayBy"])?.count("decayBy", undefined)
  return decayBy === undefined ? undefined : { decayBy }
}

const consecutive = (reader: Reader): ConsecutiveRule | undefined => {
  const failureThreshold = reader.count("failureThreshold", undefined)
  const after = onSuccess(reader)
  return failureThreshold === undefined || after === undefined ? undefined : { failureThreshold, onSuccess: after }
}

/** The nearest whole multiple of the period that is a legal window. */
const nearestWindow = (window: number, period: number): number =>
  Math.min(Math.max(1, Math.round(window / period)), maxBuckets) * period

const slowRule = (
  reader: Reader
): { readonly slowCallDuration: number; readonly slowCallRateThreshold: number } | "none" | undefined => {
  const hasDuration = reader.has("slowCallDuration")
  const hasRate = reader.has("slowCallRateThreshold")
  if (!hasDuration && !hasRate) return "none"
  const slowCallDuration = hasDuration ? reader.ms("slowCallDuration", undefined) : undefined
  const slowCallRateThreshold = hasRate ? reader.rate("slowCallRateThreshold") : undefined
  if (!hasRate) reader.fault("slowCallRateThreshold", "is missing; slowCallDuration means nothing without it")
  if (!hasDuration) reader.fault("slowCallDuration", "is missing; slowCallRateThreshold means nothing without it")
  return slowCallDuration === undefined || slowCallRateThreshold === undefined
    ? undefined
    : { slowCallDuration, slowCallRateThreshold }
}

const rolling = (reader: Reader): RollingRule | undefined => {
  const window = reader.ms("window", undefined)
  const bucketPeriod = reader.ms("bucketPeriod", undefined)
  const minSamples = reader.count("minSamples", undefined)
  const failureRateThreshold = reader.rate("failureRateThreshold")
  const slow = slowRule(reader)
  if (window !== undefined && bucketPeriod !== undefined) {
    const buckets = window / bucketPeriod
    if (window % bucketPeriod !== 0) {
      const nearest = nearestWindow(window, bucketPeriod)
      reader.fault(
        "window",
        `must be a whole multiple of bucketPeriod (${bucketPeriod} ms); the nearest is ${nearest} ms`
      )
    } else if (buckets > maxBuckets) {
      const period = Math.ceil(window / maxBuckets)
      reader.fault(
        "window",
        `must hold at most ${maxBuckets} buckets, not ${buckets}; take a bucketPeriod of at least ${period} ms`
      )
    }
  }
  if (
    window === undefined ||
    bucketPeriod === undefined ||
    minSamples === undefined ||
    failureRateThreshold === undefined ||
    slow === undefined
  ) {
    return undefined
  }
  const rule = { window, bucketPeriod, minSamples, failureRateThreshold }
  return slow === "none" ? rule : { ...rule, ...slow }
}

export const trip = (policy: Reader): Trip | undefined => {
  if (!policy.has("trip")) {
    policy.fault("trip", 'is missing; give { "_tag": "Consecutive", "failureThreshold": 5 }, a Rolling or an AnyOf')
    return undefined
  }
  const reader = policy.object("trip")
  const tag = reader?.oneOf("_tag", ["Consecutive", "Rolling", "AnyOf"])
  switch (tag) {
    case "Consecutive": {
      const rule = policy.object("trip", ["_tag", ...consecutiveKeys])
      const read = rule === undefined ? undefined : consecutive(rule)
      return read === undefined ? undefined : { _tag: "Consecutive", ...read }
    }
    case "Rolling": {
      const rule = policy.object("trip", ["_tag", ...rollingKeys])
      const read = rule === undefined ? undefined : rolling(rule)
      return read === undefined ? undefined : { _tag: "Rolling", ...read }
    }
    case "AnyOf": {
      const both = policy.object("trip", ["_tag", "consecutive", "rolling"])
      for (const key of ["consecutive", "rolling"]) {
        if (both !== undefined && !both.has(key)) both.fault(key, "is missing; AnyOf keeps both rules")
      }
      const first = both?.object("consecutive", consecutiveKeys)
      const second = both?.object("rolling", rollingKeys)
      const one = first === undefined ? undefined : consecutive(first)
      const two = second === undefined ? undefined : rolling(second)
      return one === undefined || two === undefined ? undefined : { _tag: "AnyOf", consecutive: one, rolling: two }
    }
    case undefined:
      return undefined
  }
}

/** What the trip rule says of the unit and the limit of a degradation, however faulty the rest of it is. */
const tripLevel = (policy: Reader): { readonly counts: boolean; readonly limit: unknown } | undefined => {
  const trip = policy.get("trip")
  if (!isRecord(trip)) return undefined
  switch (trip._tag) {
    case "Consecutive":
      return { counts: true, limit: trip.failureThreshold }
    case "Rolling":
      return { counts: false, limit: trip.failureRateThreshold }
    case "AnyOf":
      return { counts: false, limit: isRecord(trip.rolling) ? trip.rolling.failureRateThreshold : undefined }
    default:
      return undefined
  }
}

/** SEMANTICS D1: `0 <= recoverAt <= threshold < trip threshold`, in the trip rule's own unit. */
export const degradation = (policy: Reader): Degradation | undefined => {
  const reader = policy.object("degradation", ["threshold", "recoverAt"])
  const trip = tripLevel(policy)
  if (reader === undefined || trip === undefined) return undefined
  const { counts, limit } = trip
  const threshold = counts ? reader.count("threshold", undefined) : reader.rate("threshold")
  if (threshold === undefined) return undefined
  // Where the trip threshold has a fault of its own, the largest legal one bounds it.
  const below = typeof limit === "number" && limit > 0 ? limit : counts ? Number.POSITIVE_INFINITY : 1
  if (threshold >= below) reader.fault("threshold", `must be below the trip threshold ${below}, not ${threshold}`)
  const recoverAt = counts
    ? reader.count("recoverAt", threshold - 1, 0)
    : reader.number("recoverAt", threshold / 2, 0, 1)
  if (recoverAt === undefined) return undefined
  if (recoverAt > threshold) {
    reader.fault("recoverAt", `must be at most the degradation threshold ${threshold}, not ${recoverAt}`)
  }
  return { threshold, recoverAt }
}

export const cooldown = (policy: Reader): Cooldown | undefined => {
  const keys = [
    "base",
    "multiplier",
    "maxMultiplier",
    "graceOpenings",
    "jitter",
    "honorRetryAfter",
    "maxRetryAfter",
    "resetAfter"
  ]
  const reader = policy.has("cooldown") ? policy.object("cooldown", keys) : Reader.of({}, "cooldown", [])
  if (reader === undefined) return undefined
  const base = reader.ms("base", 30_000)
  const multiplier = reader.number("multiplier", 1, 1)
  const maxMultiplier = reader.number("maxMultiplier", 16, 1)
  const graceOpenings = reader.count("graceOpenings", 0, 0)
  const jitter = reader.number("jitter", 0, 0, 1)
  const honorRetryAfter = reader.flag("honorRetryAfter", false)
  const maxRetryAfter = reader.ms("maxRetryAfter", 3_600_000)
  const resetAfter = reader.ms("resetAfter", 0, 0)
  return base === undefined ||
    multiplier === undefined ||
    maxMultiplier === undefined ||
    graceOpenings === undefined ||
    jitter === undefined ||
    honorRetryAfter === undefined ||
    maxRetryAfter === undefined ||
    resetAfter === undefined
    ? undefined
    : { base, multiplier, maxMultiplier, graceOpenings, jitter, honorRetryAfter, maxRetryAfter, resetAfter }
}

export const halfOpen = (policy: Reader): HalfOpenRule | undefined => {
  const keys = ["maxProbes", "successThreshold", "probeTimeout"]
  const reader = policy.has("halfOpen") ? policy.object("halfOpen", keys) : Reader.of({}, "halfOpen", [])
  if (reader === undefined) return undefined
  const maxProbes = reader.count("maxProbes", 1)
  const successThreshold = reader.count("successThreshold", 1)
  const probeTimeout = reader.ms("probeTimeout", 120_000)
  return maxProbes === undefined || successThreshold === undefined || probeTimeout === undefined
    ? undefined
    : { maxProbes, successThreshold, probeTimeout }
}

const isStatus = (key: string): boolean => /^[1-5]\d\d$/.test(key)
const isClass = (key: string): boolean => /^[1-5]xx$/.test(key)

/** SEMANTICS P4. */
export const outcomes = (policy: Reader): Readonly<Record<string, Taken>> => {
  const reader = policy.object("outcomes")
  const entries: Array<[string, Taken]> = []
  for (const key of reader?.keys() ?? []) {
    if (key === "") reader?.fault(key, "names nothing; a key is a kind, a status or a class")
    else if (/^\d/.test(key) && !isStatus(key) && !isClass(key)) {
      reader?.fault(key, 'is no status from 100 to 599 and no class like "4xx"')
    }
    if (!reader?.has(key)) continue
    const as = reader.oneOf<Taken>(key, ["failure", "ignored", "success"])
    if (as !== undefined) entries.push([key, as])
  }
  return Object.fromEntries(entries)
}

/** Whether some failures of a kind can count. Where statuses or classes decide, nobody can tell (SEMANTICS V). */
const countable = (taken: Readonly<Record<string, Taken>>, kind: string): boolean =>
  Object.keys(taken).some((key) => isStatus(key) || isClass(key)) || takenByKind(taken, kind) === "failure"

const deadKind = (kind: string): string =>
  `can never apply: failures of kind ${JSON.stringify(kind)} are not counted; set outcomes[${JSON.stringify(kind)}] to "failure" or drop this`

const defaultThreshold = (rule: Trip): number =>
  rule._tag === "Consecutive"
    ? rule.failureThreshold
    : rule._tag === "AnyOf"
      ? rule.consecutive.failureThreshold
      : rule.minSamples

/** SEMANTICS P3. */
export const kindThresholds = (
  policy: Reader,
  rule: Trip | undefined,
  taken: Readonly<Record<string, Taken>>
): Readonly<Record<string, KindThreshold>> => {
  const all = policy.object("kindThresholds")
  const entries: Array<[string, KindThreshold]> = []
  for (const kind of all?.keys() ?? []) {
    if (!all?.has(kind)) continue
    if (kind === "") all.fault(kind, "names no kind")
    else if (!countable(taken, kind)) all.fault(kind, deadKind(kind))
    const reader = all.object(kind, ["threshold", "window", "immediateOpen"])
    if (reader === undefined) continue
    const immediateOpen = reader.flag("immediateOpen", false)
    const given = reader.has("threshold") ? reader.count("threshold", undefined) : undefined
    if (immediateOpen === true && given !== undefined && given > 1) {
      reader.fault("threshold", `must be 1 or left out beside immediateOpen, not ${given}`)
    }
    const threshold = given ?? (immediateOpen === true ? 1 : rule === undefined ? 1 : defaultThreshold(rule))
    const window = reader.has("window") ? reader.ms("window", undefined) : undefined
    if (immediateOpen === undefined) continue
    entries.push([kind, window === undefined ? { threshold, immediateOpen } : { threshold, window, immediateOpen }])
  }
  return Object.fromEntries(entries)
}

export const cooldownByKind = (
  policy: Reader,
  taken: Readonly<Record<string, Taken>>
): Readonly<Record<string, number>> => {
  const reader = policy.object("cooldownByKind")
  const entries: Array<[string, number]> = []
  for (const kind of reader?.keys() ?? []) {
    if (!reader?.has(kind)) continue
    if (kind === "") reader.fault(kind, "names no kind")
    else if (!countable(taken, kind)) reader.fault(kind, deadKind(kind))
    const ms = reader.ms(kind, undefined, 0)
    if (ms !== undefined) entries.push([kind, ms])
  }
  return Object.fromEntries(entries)
}
