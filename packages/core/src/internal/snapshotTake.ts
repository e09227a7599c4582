import type { Bucket, Counters, State } from "./model.js"
import type { CountersSnapshot, Snapshot, StateSnapshot } from "./snapshotModel.js"
import { plus } from "./time.js"
import { bucketIndex, bucketsOf } from "./window.js"

const counters = (held: Counters, now: number): CountersSnapshot => {
  const window = held.window
  const index = window === null ? 0 : bucketIndex(window.bucketPeriod, now)
  const aged = ({ failures, index: at, kinds, samples, slow }: Bucket) => ({
    age: index - at,
    samples,
    failures,
    slow,
    kinds
  })
  return {
    mode: held.mode,
    streak: held.streak,
    window:
      window === null
        ? null
        : {
            bucketPeriod: window.bucketPeriod,
            buckets: bucketsOf(window).map(aged)
          },
    kinds: held.failed.kinds,
    otherKinds: held.failed.otherKinds,
    kindStreaks: held.failed.kindStreaks,
    kindTimes: held.failed.kindTimes.map(({ kind, times }) => ({
      kind,
      times: times.map(({ at, count }) => ({ age: plus(now, -at), count }))
    })),
    latestKind: held.failed.latestKind,
    hint: held.failed.hint === null ? null : plus(held.failed.hint, -now)
  }
}

const tagged = (state: State, now: number): StateSnapshot => {
  switch (state._tag) {
    case "Closed":
    case "Degraded":
      return {
        _tag: state._tag,
        recovered: state.recoveredAt === null ? null : plus(now, -state.recoveredAt),
        counters: counters(state.counters, now)
      }
    case "Open":
      return { _tag: "Open", remaining: plus(state.until, -now), cooldown: state.cooldown, cause: state.cause }
    case "HalfOpen":
      return {
        _tag: "HalfOpen",
        cause: state.cause,
        probes: {
          successes: state.successes,
          leases: state.leases.map(({ id, until }) => ({ id, remaining: plus(until, -now) })),
          next: state.nextLease
        }
      }
    case "ForcedOpen":
      return {
        _tag: "ForcedOpen",
        remaining: state.until === null ? null : plus(state.until, -now),
        kept: state.kept === null ? null : plus(state.kept, -now)
      }
    case "ForcedClosed":
      return { _tag: "ForcedClosed" }
  }
}

export const taken = (state: State, now: number, wall: number): Snapshot => ({
  version: 1,
  wall: Number.isFinite(wall) ? Math.floor(wall) : 0,
  era: state.era,
  age: plus(now, -state.since),
  openings: state.openings,
  state: tagged(state, now)
})
