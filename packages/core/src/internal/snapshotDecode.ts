import type { Reader } from "./decode.js"
import { namedKinds } from "./kinds.js"
import type { Cause, Command, KindCount } from "./model.js"
import type { BucketSnapshot, CountersSnapshot, ProbesSnapshot, Snapshot, StateSnapshot } from "./snapshotModel.js"

const maxBuckets = 1_000
const maxEntries = 100_000

/** An object whose every field was read, or `undefined` with the faults noted. */
const whole = <A extends Record<string, unknown>>(
  fields: A
): { readonly [K in keyof A]: Exclude<A[K], undefined> } | undefined => {
  const isWhole = (given: A): given is A & { readonly [K in keyof A]: Exclude<A[K], undefined> } =>
    Object.values(given).every((value) => value !== undefined)
  return isWhole(fields) ? fields : undefined
}

const kindCount = (reader: Reader): KindCount | undefined =>
  whole({ kind: reader.text("kind"), count: reader.count("count", undefined) })

const kindCounts = (reader: Reader, key: string, most: number) => reader.list(key, most, kindCount)

const cause = (parent: Reader): Cause | undefined => {
  const reader = parent.object("cause")
  if (reader === undefined) {
    if (!parent.has("cause")) parent.fault("cause", "is missing; it says why the breaker opened")
    return undefined
  }
  const by = reader.oneOf("by", ["streak", "failureRate", "slowRate", "kind", "probe", "command"])
  const kindOrNull = () => reader.nullable("kind", (key) => reader.text(key))
  const count = (key: string) => reader.count(key, undefined, 0)
  switch (by) {
    case "streak":
      return whole({
        rule: "P1" as const,
        by,
        kind: kindOrNull(),
        failures: count("failures"),
        threshold: count("threshold")
      })
    case "failureRate":
      return whole({
        rule: "P1" as const,
        by,
        kind: kindOrNull(),
        failures: count("failures"),
        samples: count("samples"),
        threshold: reader.rate("threshold")
      })
    case "slowRate":
      return whole({
        rule: "P1" as const,
        by,
        kind: kindOrNull(),
        slow: count("slow"),
        samples: count("samples"),
        threshold: reader.rate("threshold")
      })
    case "kind":
      return whole({
        rule: "P3" as const,
        by,
        kind: reader.text("kind"),
        failures: count("failures"),
        threshold: count("threshold"),
        window: reader.nullable("window", (key) => reader.count(key, undefined))
      })
    case "probe":
      return whole({
        rule: "P5" as const,
        by,
        kind: reader.text("kind"),
        successes: count("successes"),
        successThreshold: count("successThreshold")
      })
    case "command":
      return whole({
        rule: "M1" as const,
        by,
        command: reader.oneOf<Command["_tag"]>("command", ["ForceOpen", "ForceClosed", "Auto", "Reset"])
      })
    case undefined:
      return undefined
  }
}

const oldestFirst = (
  reader: Reader,
  key: string,
  entries: ReadonlyArray<{ readonly age: number }> | undefined
): void => {
  const ordered = entries?.every((entry, index) => index === 0 || (entries[index - 1]?.age ?? 0) > entry.age)
  if (ordered === false) reader.fault(key, "must be in order, the oldest first, one for each age")
}

const times = (reader: Reader): CountersSnapshot["kindTimes"][number]["times"] | undefined => {
  const read = reader.list("times", maxEntries, (time) =>
    whole({ age: time.count("age", undefined, 0), count: time.count("count", undefined) })
  )
  oldestFirst(reader, "times", read)
  return read
}

const bucket = (reader: Reader): BucketSnapshot | undefined => {
  const read = whole({
    age: reader.count("age", undefined, 0),
    samples: reader.count("samples", undefined, 0),
    failures: reader.count("failures", undefined, 0),
    slow: reader.count("slow", undefined, 0),
    kinds: kindCounts(reader, "kinds", maxEntries)
  })
  if (read !== undefined) {
    if (read.failures > read.samples)
      reader.fault("failures", `must be at most the samples ${read.samples}, not ${read.failures}`)
    if (read.slow > read.samples) reader.fault("slow", `must be at most the samples ${read.samples}, not ${read.slow}`)
  }
  return read
}

const window = (parent: Reader, key: string): CountersSnapshot["window"] | undefined => {
  const reader = parent.object(key)
  if (reader === undefined) {
    if (!parent.has(key)) parent.fault(key, "is missing; give null where the policy keeps no window")
    return undefined
  }
  const buckets = reader.list("buckets", maxBuckets, bucket)
  oldestFirst(reader, "buckets", buckets)
  return whole({ bucketPeriod: reader.count("bucketPeriod", undefined), buckets })
}

const counters = (parent: Reader): CountersSnapshot | undefined => {
  const reader = parent.object("counters")
  if (reader === undefined) {
    if (!parent.has("counters")) parent.fault("counters", "is missing; a Closed or Degraded breaker has counters")
    return undefined
  }
  return whole({
    mode: reader.oneOf("mode", ["Consecutive", "Rolling", "AnyOf"] as const),
    streak: reader.count("streak", undefined, 0),
    window: reader.nullable("window", (key) => window(reader, key)),
    kinds: kindCounts(reader, "kinds", namedKinds),
    otherKinds: reader.count("otherKinds", undefined, 0),
    kindStreaks: kindCounts(reader, "kindStreaks", maxEntries),
    kindTimes: reader.list("kindTimes", maxEntries, (entry) =>
      whole({ kind: entry.text("kind"), times: times(entry) })
    ),
    latestKind: reader.nullable("latestKind", (key) => reader.text(key)),
    hint: reader.nullable("hint", (key) => reader.int(key))
  })
}

const probes = (parent: Reader): ProbesSnapshot | undefined => {
  const reader = parent.object("probes")
  if (reader === undefined) return undefined
  const read = whole({
    successes: reader.count("successes", undefined, 0),
    leases: reader.list("leases", maxEntries, (lease) =>
      whole({ id: lease.count("id", undefined, 0), remaining: lease.int("remaining") })
    ),
    next: reader.count("next", undefined, 0)
  })
  if (read !== undefined) {
    const ids = new Set(read.leases.map(({ id }) => id))
    if (ids.size < read.leases.length) reader.fault("leases", "must each have an id of their own")
    if (read.leases.some(({ id }) => id >= read.next)) {
      reader.fault("next", `must be above the id of every lease, not ${read.next}`)
    }
  }
  return read
}

const state = (parent: Reader | undefined): StateSnapshot | undefined => {
  const reader = parent?.object("state")
  if (reader === undefined) {
    if (parent?.has("state") === false) parent.fault("state", "is missing")
    return undefined
  }
  const tag = reader.oneOf("_tag", ["Closed", "Degraded", "Open", "HalfOpen", "ForcedOpen", "ForcedClosed"])
  const intOrNull = (key: string) => reader.nullable(key, (inner) => reader.int(inner))
  switch (tag) {
    case "Closed":
    case "Degraded":
      return whole({
        _tag: tag,
        recovered: reader.nullable("recovered", (key) => reader.count(key, undefined, 0)),
        counters: counters(reader)
      })
    case "Open":
      return whole({
        _tag: tag,
        remaining: reader.int("remaining"),
        cooldown: reader.count("cooldown", undefined, 0),
        cause: cause(reader)
      })
    case "HalfOpen":
      return reader.has("probes")
        ? whole({ _tag: tag, cause: cause(reader), probes: probes(reader) })
        : whole({ _tag: tag, cause: cause(reader) })
    case "ForcedOpen":
      return whole({ _tag: tag, remaining: intOrNull("remaining"), kept: intOrNull("kept") })
    case "ForcedClosed":
      return { _tag: tag }
    case undefined:
      return undefined
  }
}

export const readSnapshot = (reader: Reader | undefined): Snapshot | undefined => {
  if (reader === undefined) return undefined
  const version = reader.get("version")
  if (version !== 1) {
    reader.fault("version", "must be 1, the only version this release reads")
    return undefined
  }
  return whole({
    version: 1 as const,
    wall: reader.int("wall"),
    era: reader.count("era", undefined, 0),
    age: reader.count("age", undefined, 0),
    openings: reader.count("openings", undefined, 0),
    state: state(reader)
  })
}
