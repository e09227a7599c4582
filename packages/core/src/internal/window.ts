import { addKind, noKinds } from "./kinds.js"
import type { Bucket, KindCount, Sealed, Window } from "./model.js"
import type { RollingRule } from "./policyModel.js"

const emptyBucket = (index: number): Bucket => ({ index, samples: 0, failures: 0, slow: 0, kinds: noKinds })

export const bucketIndex = (bucketPeriod: number, now: number): number => Math.floor(now / bucketPeriod)

/** The oldest bucket that still counts at `index` (SEMANTICS P1). */
const oldest = (rule: RollingRule, index: number): number => index - (rule.window / rule.bucketPeriod - 1)

const seal = (buckets: ReadonlyArray<Bucket>): Sealed => {
  let samples = 0
  let failures = 0
  let slow = 0
  let kinds: ReadonlyArray<KindCount> = noKinds
  for (const bucket of buckets) {
    samples += bucket.samples
    failures += bucket.failures
    slow += bucket.slow
    for (const entry of bucket.kinds) kinds = addKind(kinds, entry.kind, entry.count)
  }
  return { buckets, samples, failures, slow, kinds }
}

export const emptyWindow = (rule: RollingRule, now: number): Window => fromBuckets(rule, [], now)

/** The window at `now` of these buckets, oldest first. */
export const fromBuckets = (rule: RollingRule, buckets: ReadonlyArray<Bucket>, now: number): Window => {
  const index = bucketIndex(rule.bucketPeriod, now)
  const first = oldest(rule, index)
  const kept = buckets.filter((bucket) => bucket.index >= first)
  const last = kept[kept.length - 1]
  return last?.index === index
    ? { bucketPeriod: rule.bucketPeriod, current: last, sealed: seal(kept.slice(0, -1)) }
    : { bucketPeriod: rule.bucketPeriod, current: emptyBucket(index), sealed: seal(kept) }
}

/** The buckets that hold something, oldest first. */
export const bucketsOf = (window: Window): ReadonlyArray<Bucket> =>
  window.current.samples > 0 ? [...window.sealed.buckets, window.current] : window.sealed.buckets

/**
 * The window as it counts at `now`: the current bucket sealed when its time is over, buckets that left it dropped.
 * The same object when nothing moved. Costs as much as there are buckets, however long the silence.
 */
export const roll = (rule: RollingRule, window: Window, now: number): Window =>
  now < (window.current.index + 1) * rule.bucketPeriod ? window : fromBuckets(rule, bucketsOf(window), now)

/** One more sample in the current bucket of a rolled window. `kind`: to be counted by itself. */
export const addSample = (window: Window, failed: boolean, slow: boolean, kind: string | null): Window => {
  const current = window.current
  return {
    bucketPeriod: window.bucketPeriod,
    current: {
      index: current.index,
      samples: current.samples + 1,
      failures: failed ? current.failures + 1 : current.failures,
      slow: slow ? current.slow + 1 : current.slow,
      kinds: kind === null ? current.kinds : addKind(current.kinds, kind, 1)
    },
    sealed: window.sealed
  }
}

export const samplesOf = (window: Window): number => window.sealed.samples + window.current.samples
export const failuresOf = (window: Window): number => window.sealed.failures + window.current.failures
export const slowOf = (window: Window): number => window.sealed.slow + window.current.slow
