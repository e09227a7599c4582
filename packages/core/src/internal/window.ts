import { addKind, noKinds } from "./kinds.js"
import type { Bucket, KindCount, Window } from "./model.js"
import type { RollingRule } from "./policyModel.js"

const emptyBucket = (index: number): Bucket => ({ index, samples: 0, failures: 0, slow: 0, kinds: noKinds })

export const bucketIndex = (bucketPeriod: number, now: number): number => Math.floor(now / bucketPeriod)

/** The oldest bucket that still counts at `index` (SEMANTICS P1). */
const oldest = (rule: RollingRule, index: number): number => index - (rule.window / rule.bucketPeriod - 1)

export const emptyWindow = (rule: RollingRule, now: number): Window => ({
  bucketPeriod: rule.bucketPeriod,
  current: emptyBucket(bucketIndex(rule.bucketPeriod, now)),
  sealed: [],
  samples: 0,
  failures: 0,
  slow: 0,
  kinds: noKinds
})

/** A window of these buckets, oldest first, of which the last is current. */
export const fromBuckets = (bucketPeriod: number, sealed: ReadonlyArray<Bucket>, current: Bucket): Window => {
  let samples = 0
  let failures = 0
  let slow = 0
  let kinds: ReadonlyArray<KindCount> = noKinds
  for (const bucket of sealed) {
    samples += bucket.samples
    failures += bucket.failures
    slow += bucket.slow
    for (const entry of bucket.kinds) kinds = addKind(kinds, entry.kind, entry.count)
  }
  return { bucketPeriod, current, sealed, samples, failures, slow, kinds }
}

/**
 * The window as it counts at `now`: the current bucket sealed when its time is over, buckets that left it dropped.
 * The same object when nothing moved. Costs as much as there are buckets, however long the silence.
 */
export const roll = (rule: RollingRule, window: Window, now: number): Window => {
  const index = bucketIndex(rule.bucketPeriod, now)
  if (index <= window.current.index) return window
  const first = oldest(rule, index)
  const sealed: Array<Bucket> = []
  for (const bucket of window.sealed) {
    if (bucket.index >= first) sealed.push(bucket)
  }
  if (window.current.samples > 0 && window.current.index >= first) sealed.push(window.current)
  return fromBuckets(rule.bucketPeriod, sealed, emptyBucket(index))
}

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
    sealed: window.sealed,
    samples: window.samples,
    failures: window.failures,
    slow: window.slow,
    kinds: window.kinds
  }
}

export const samplesOf = (window: Window): number => window.samples + window.current.samples
export const failuresOf = (window: Window): number => window.failures + window.current.failures
export const slowOf = (window: Window): number => window.slow + window.current.slow
