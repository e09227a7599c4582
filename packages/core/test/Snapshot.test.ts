import * as Breaker from "@switchgear/core/Breaker"
import * as Policy from "@switchgear/core/Policy"
import * as Snapshot from "@switchgear/core/Snapshot"
import fc from "fast-check"
import { describe, expect, it } from "vitest"

const rolling = { window: 1_000, bucketPeriod: 100, minSamples: 4, failureRateThreshold: 0.5 }
const wall = 1_800_000_000_000

/** The state after these outcomes, one a ms from `at` on. */
const after = (
  policy: Policy.Policy,
  outcomes: ReadonlyArray<Breaker.Outcome>,
  at = 0,
  from = Breaker.initial(policy, at)
): Breaker.State =>
  outcomes.reduce((state, outcome, index) => {
    const [admission, admitted] = Breaker.acquire(policy, state, at + index)
    if (admission._tag === "Rejected") return admitted
    return Breaker.report(policy, admitted, admission.permit, outcome, at + index, 0)[1]
  }, from)
const failures = (count: number, kind = "timeout") => Array.from({ length: count }, () => Breaker.failure(kind))
const through = (policy: Policy.Policy, state: Breaker.State, now: number, elapsed: number, to = now) => {
  const decoded = Snapshot.decode(JSON.parse(JSON.stringify(Snapshot.snapshot(state, now, wall))))
  if (decoded._tag === "Failure") throw new Error(JSON.stringify(decoded.faults))
  return Snapshot.restore(policy, decoded.value, to, wall + elapsed)
}
const view = Breaker.observe

describe("Snapshot.restore", () => {
  const policy = Policy.consecutive({
    failureThreshold: 3,
    degradation: { threshold: 2 },
    cooldown: { base: 1_000, multiplier: 2, resetAfter: 500, honorRetryAfter: true }
  })

  it("S9: an Open keeps what is left, wherever the new clock starts", () => {
    const open = after(policy, failures(3))
    for (const to of [-1e9, 0, 1e12]) {
      const state = through(policy, open, 102, 300, to)
      expect(view(policy, state, to)).toMatchObject({
        state: "Open",
        retryAfter: 600,
        openings: 1,
        cause: { rule: "P1" }
      })
    }
  })

  it("S9: one that ran out means probe at once, never Closed", () => {
    const state = through(policy, after(policy, failures(3)), 102, 1e9)
    expect(view(policy, state, 102)).toMatchObject({ state: "HalfOpen", openings: 1 })
  })

  it("S9: a wall clock that went back ages nothing", () => {
    expect(view(policy, through(policy, after(policy, failures(3)), 102, -5_000), 102).retryAfter).toBe(900)
  })

  it("S9: never more than was chosen when it opened", () => {
    const taken = Snapshot.snapshot(after(policy, failures(3)), 2, wall)
    if (taken.state._tag !== "Open") throw new Error(taken.state._tag)
    const grown = { ...taken, state: { ...taken.state, remaining: 1e9 } }
    expect(view(policy, Snapshot.restore(policy, grown, 0, wall), 0).retryAfter).toBe(1_000)
  })

  it("S9: a HalfOpen restores as an Open at its deadline, and its permits are stale", () => {
    const open = after(policy, failures(3))
    const [admission, halfOpen] = Breaker.acquire(policy, open, 1_002)
    const state = through(policy, halfOpen, 1_003, 0)
    expect(state).toMatchObject({ _tag: "Open", until: 1_003 })
    if (admission._tag !== "Admitted") throw new Error("refused")
    expect(Breaker.report(policy, state, admission.permit, Breaker.success(), 1_004, 0)[0]).toBe("Stale")
  })

  it("S9: the era goes on from the larger of the two, time from the state that is replaced", () => {
    const open = after(policy, failures(3))
    const replaced = { ...open, era: 41, at: 9_000 }
    const state = Snapshot.restore(policy, Snapshot.snapshot(open, 2, wall), 5, wall, replaced)
    expect([state.era, state.at]).toEqual([42, 9_000])
    expect(Snapshot.restore(policy, Snapshot.snapshot(replaced, 2, wall), 5, wall, open).era).toBe(42)
  })

  it("S9: a streak, its kinds and hint survive, older by what has passed", () => {
    const hinted = [Breaker.failure("rate_limit", { retryAfter: 5_000 }), Breaker.failure("timeout")]
    const state = through(policy, after(policy, hinted), 1, 2_000, 70)
    expect(view(policy, state, 70)).toMatchObject({
      state: "Degraded",
      streak: 2,
      kinds: { rate_limit: 1, timeout: 1 }
    })
    const open = after(policy, failures(1), 70, state)
    expect(view(policy, open, 70).retryAfter).toBe(5_000 - 1 - 2_000)
  })

  it("S9: C5's recovery ages too", () => {
    const open = after(policy, failures(3))
    const closed = after(policy, [Breaker.success()], 1_002, open)
    expect(view(policy, through(policy, closed, 1_002, 499), 1_002).openings).toBe(1)
    expect(view(policy, through(policy, closed, 1_002, 500), 1_002).openings).toBe(0)
  })

  it("S9: buckets age by whole periods", () => {
    const rate = Policy.rolling(rolling)
    const counted = after(rate, [Breaker.success(), Breaker.failure("timeout")])
    const samples = (elapsed: number) => view(rate, through(rate, counted, 50, elapsed), 50).samples
    expect([samples(0), samples(99), samples(999), samples(1_000)]).toEqual([2, 2, 2, 0])
  })

  it("S9: kind times age, and a windowed rule goes on from them", () => {
    const kinds = Policy.consecutive({
      failureThreshold: 9,
      kindThresholds: { timeout: { threshold: 2, window: 100 } }
    })
    const once = after(kinds, failures(1))
    expect(after(kinds, failures(1), 0, through(kinds, once, 0, 99))._tag).toBe("Open")
    expect(after(kinds, failures(1), 0, through(kinds, once, 0, 100))._tag).toBe("Closed")
  })

  it("S9, M1: forced states are kept, with what is left of their time and of the Open they replaced", () => {
    const open = after(policy, failures(3))
    const [forced] = Breaker.command(policy, open, Breaker.forceOpen(5_000), 2)
    const state = through(policy, forced, 2, 1_500, 0)
    expect(view(policy, state, 0)).toMatchObject({ forced: true, retryAfter: 3_500 })
    const early = through(policy, forced, 2, 400, 0)
    expect(view(policy, Breaker.command(policy, early, Breaker.auto, 0)[0], 0).retryAfter).toBe(600)
    const [closed] = Breaker.command(policy, open, Breaker.forceClosed, 2)
    expect(view(policy, through(policy, closed, 2, 1e6), 2)).toMatchObject({
      state: "Closed",
      forced: true,
      openings: 1
    })
    const [endless] = Breaker.command(policy, open, Breaker.forceOpen(), 2)
    expect(view(policy, through(policy, endless, 2, 1e6), 2)).toMatchObject({ state: "Open", forced: true })
    expect(view(policy, through(policy, endless, 2, 1e6), 2).retryAfter).toBeUndefined()
  })

  it("S9: under another policy what fits is kept, the rest starts fresh, nothing trips", () => {
    const state = after(policy, [...failures(2)])
    const smaller = Policy.consecutive({ failureThreshold: 1 })
    expect(view(smaller, through(smaller, state, 1, 0), 1)).toMatchObject({ state: "Closed", streak: 2 })
    const rate = Policy.rolling({ ...rolling, degradation: { threshold: 0.2 } })
    expect(view(rate, through(rate, state, 1, 0), 1)).toMatchObject({
      state: "Closed",
      samples: 0,
      kinds: { timeout: 2 }
    })
    const sampled = after(rate, [Breaker.success(), Breaker.failure("timeout")])
    const slower = Policy.rolling({ ...rolling, bucketPeriod: 200 })
    expect(view(slower, through(slower, sampled, 1, 0), 1).samples).toBe(0)
    const longer = Policy.rolling({ ...rolling, window: 2_000 })
    expect(view(longer, through(longer, sampled, 1, 0), 1).samples).toBe(2)
    const both = Policy.anyOf({ consecutive: { failureThreshold: 3 }, rolling })
    expect(view(both, through(both, sampled, 1, 0), 1)).toMatchObject({ streak: 0, samples: 0 })
    const shorter = Policy.rolling({ ...rolling, window: 200 })
    const late = after(rate, [Breaker.success()], 400, sampled)
    expect(view(shorter, through(shorter, late, 400, 0), 400).samples).toBe(1)
  })

  it("S9: counts of kinds are kept where the new policy still counts them so", () => {
    const one = { a: { threshold: 9 }, b: { threshold: 9, window: 100 } }
    const other = { a: { threshold: 9, window: 100 }, b: { threshold: 9 } }
    const before = Policy.consecutive({ failureThreshold: 9, kindThresholds: one })
    const swapped = Policy.consecutive({ failureThreshold: 9, kindThresholds: other })
    const state = after(before, [...failures(2, "a"), ...failures(2, "b")])
    const kept = through(before, state, 3, 0)
    const lost = through(swapped, state, 3, 0)
    const counters = (of: Breaker.State) => (of._tag === "Closed" ? of.counters.failed : undefined)
    expect(counters(kept)).toMatchObject({ kindStreaks: [{ kind: "a", count: 2 }], kindTimes: [{ kind: "b" }] })
    expect(counters(lost)).toMatchObject({ kindStreaks: [], kindTimes: [] })
  })

  it("C3: a hint is dropped under a policy that hears none", () => {
    const deaf = Policy.consecutive({ failureThreshold: 3, cooldown: { base: 1_000 } })
    const state = through(deaf, after(policy, [Breaker.failure("rate_limit", { retryAfter: 50_000 })]), 0, 0)
    expect(view(deaf, after(deaf, failures(2), 0, state), 1).retryAfter).toBe(1_000)
  })
})

describe("Snapshot.restore at the edges", () => {
  it("S9: times of kinds age with the wall, and by no more", () => {
    const policy = Policy.consecutive({ failureThreshold: 9, kindThresholds: { a: { threshold: 2, window: 100 } } })
    const state = through(policy, after(policy, failures(1, "a")), 50, 30)
    expect(after(policy, failures(1, "a"), 69, state)._tag).toBe("Open")
    expect(after(policy, failures(1, "a"), 70, state)._tag).toBe("Closed")
  })

  it("S9: under a policy that has no rule for a kind its streak is dropped", () => {
    const ruled = Policy.consecutive({ failureThreshold: 9, kindThresholds: { a: { threshold: 3 } } })
    const plain = Policy.consecutive({ failureThreshold: 9 })
    expect(through(plain, after(ruled, failures(2, "a")), 2, 0)).toMatchObject({
      counters: { streak: 2, failed: { kindStreaks: [] } }
    })
  })

  it("S9: a Degraded of another trip mode is Closed", () => {
    const counted = Policy.consecutive({ failureThreshold: 3, degradation: { threshold: 1 } })
    const rated = Policy.rolling({ ...rolling, degradation: { threshold: 0.25 } })
    expect(through(rated, after(counted, failures(1)), 1, 0)._tag).toBe("Closed")
  })

  it("S9: a snapshot that lost its window starts with an empty one", () => {
    const policy = Policy.rolling(rolling)
    const taken = Snapshot.snapshot(Breaker.initial(policy, 0), 0, wall)
    if (taken.state._tag !== "Closed") throw new Error(taken.state._tag)
    const lost = { ...taken, state: { ...taken.state, counters: { ...taken.state.counters, window: null } } }
    expect(view(policy, Snapshot.restore(policy, lost, 0, wall), 0)).toMatchObject({ state: "Closed", samples: 0 })
  })

  it("T1: what is absent stays absent, before 0 too", () => {
    const policy = Policy.consecutive({ failureThreshold: 2, cooldown: { base: 10, honorRetryAfter: true } })
    const state = through(policy, after(policy, failures(1), -1_000), -1_000, 0)
    expect(view(policy, after(policy, failures(1), -1_000, state), -1_000).retryAfter).toBe(10)
    const [forced] = Breaker.command(policy, Breaker.initial(policy, -1_000), Breaker.forceOpen(), -1_000)
    const restored = through(policy, forced, -1_000, 0)
    expect(Breaker.command(policy, restored, Breaker.auto, -1_000)[0]).toMatchObject({ until: -1_000, cooldown: 0 })
  })
})

describe("Snapshot.resume", () => {
  const policy = Policy.consecutive({
    failureThreshold: 3,
    cooldown: { base: 1_000 },
    halfOpen: { maxProbes: 2, successThreshold: 2, probeTimeout: 500 }
  })
  const json = (state: Breaker.State, now: number, at: number) => {
    const decoded = Snapshot.decode(JSON.parse(JSON.stringify(Snapshot.snapshot(state, now, at))))
    if (decoded._tag === "Failure") throw new Error(JSON.stringify(decoded.faults))
    return decoded.value
  }

  it("is the same state, its leases and era with it, on a clock that is the store's", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(6), fc.nat(700)), { maxLength: 40 }), (steps) => {
        let state = Breaker.initial(policy, wall)
        let now = wall
        const permits: Array<Breaker.Permit> = []
        for (const [what, wait] of steps) {
          now += wait
          const permit = permits[what % Math.max(1, permits.length)]
          if (what < 4) {
            const [admission, next] = Breaker.acquire(policy, state, now)
            if (admission._tag === "Admitted") permits.push(admission.permit)
            state = next
          } else if (what < 6 && permit !== undefined) {
            state = Breaker.report(
              policy,
              state,
              permit,
              what === 4 ? Breaker.success() : Breaker.failure("a"),
              now,
              0
            )[1]
          } else {
            state = Breaker.command(policy, state, Breaker.forceOpen(300), now)[0]
          }
          const again = Snapshot.resume(policy, json(state, now, now), now, now)
          expect(again).toEqual({ ...state, at: now })
          state = again
        }
      })
    )
  })

  it("A5: a lease that was out is out on another clock for what is left of it, and its permit applies", () => {
    const open = after(policy, failures(3))
    const [first, one] = Breaker.acquire(policy, open, 2_000)
    const [second, two] = Breaker.acquire(policy, one, 2_100)
    if (first._tag === "Rejected" || second._tag === "Rejected") throw new Error("refused")
    const mirror = Snapshot.resume(policy, json(two, 2_200, wall), 7, wall + 50)
    expect(mirror).toMatchObject({ _tag: "HalfOpen", era: two.era, at: 7 })
    expect(view(policy, mirror, 7)).toMatchObject({ leases: 2, retryAfter: 250 })
    expect(Breaker.report(policy, mirror, second.permit, Breaker.failure("a"), 8, 0)[0]).toBe("Applied")
    expect(view(policy, mirror, 7 + 250)).toMatchObject({ leases: 1, retryAfter: 0 })
    expect(Breaker.report(policy, mirror, first.permit, Breaker.failure("a"), 7 + 250, 0)[0]).toBe("Stale")
  })

  it("keeps the earliest lease first, whatever order a record has", () => {
    const taken = json(Breaker.acquire(policy, after(policy, failures(3)), 2_000)[1], 2_000, wall)
    if (taken.state._tag !== "HalfOpen") throw new Error(taken.state._tag)
    const leases = [
      { id: 4, remaining: 300 },
      { id: 2, remaining: 100 },
      { id: 1, remaining: 100 }
    ]
    const mixed = { ...taken, state: { ...taken.state, probes: { successes: 0, leases, next: 5 } } }
    const state = Snapshot.resume(policy, mixed, 0, wall)
    expect(state).toMatchObject({
      leases: [
        { id: 1, until: 100 },
        { id: 2, until: 100 },
        { id: 4, until: 300 }
      ],
      nextLease: 5
    })
  })

  it("S9: a HalfOpen without its leases is an Open at its deadline, and restore always takes it so", () => {
    const taken = json(Breaker.acquire(policy, after(policy, failures(3)), 2_000)[1], 2_000, wall)
    if (taken.state._tag !== "HalfOpen") throw new Error(taken.state._tag)
    const bare = { ...taken, state: { _tag: "HalfOpen", cause: taken.state.cause } as const }
    expect(Snapshot.resume(policy, bare, 5, wall)).toMatchObject({ _tag: "Open", until: 5, era: taken.era })
    expect(Snapshot.restore(policy, taken, 5, wall)).toMatchObject({ _tag: "Open", until: 5, era: taken.era + 1 })
  })

  it("decodes no leases that cannot be", () => {
    const taken = json(Breaker.acquire(policy, after(policy, failures(3)), 2_000)[1], 2_000, wall)
    const paths = (probes: unknown) => {
      const decoded = Snapshot.decode({ ...taken, state: { ...taken.state, probes } })
      return decoded._tag === "Failure" ? decoded.faults.map(({ path }) => path) : []
    }
    const lease = { id: 0, remaining: 1 }
    expect(paths({ successes: 0, leases: [lease, lease], next: 1 })).toEqual(["state.probes.leases"])
    expect(paths({ successes: 0, leases: [lease], next: 0 })).toEqual(["state.probes.next"])
    expect(paths({ successes: -1, leases: [{ id: -1, remaining: 0.5 }], next: 0.5 })).toEqual([
      "state.probes.successes",
      "state.probes.leases.0.id",
      "state.probes.leases.0.remaining",
      "state.probes.next"
    ])
    expect(paths({ successes: 0, leases: [{ id: 0, remaining: -1 }], next: 1 })).toEqual([])
    expect(paths("none")).toEqual(["state.probes"])
  })
})

describe("Snapshot.decode", () => {
  const paths = (input: unknown) => {
    const decoded = Snapshot.decode(input)
    return decoded._tag === "Failure" ? decoded.faults.map((fault) => fault.path) : []
  }
  const rate = Policy.anyOf({
    consecutive: { failureThreshold: 9 },
    rolling,
    kindThresholds: { a: {}, b: { window: 9 } }
  })
  const taken = (state: Breaker.State): Record<string, unknown> =>
    JSON.parse(JSON.stringify(Snapshot.snapshot(state, 250, wall)))
  const states = (): ReadonlyArray<Breaker.State> => [
    after(rate, [Breaker.success(), ...failures(2, "a"), ...failures(1, "b")]),
    after(Policy.hosted, failures(5)),
    after(Policy.hosted, failures(1, "quota_exhausted")),
    after(Policy.hosted, [...failures(5), Breaker.success()], 0),
    Breaker.acquire(Policy.hosted, after(Policy.hosted, failures(5)), 1e9)[1],
    Breaker.command(Policy.hosted, after(Policy.hosted, failures(5)), Breaker.forceOpen(5), 9)[0],
    Breaker.command(Policy.hosted, after(Policy.hosted, failures(5)), Breaker.forceClosed, 9)[0]
  ]

  it("S9: is total, and gives a whole snapshot or faults, whatever is wrong and wherever", () => {
    const anything = fc.anything({ withNullPrototype: true })
    const leaves = (value: unknown, path: ReadonlyArray<string> = []): ReadonlyArray<ReadonlyArray<string>> =>
      typeof value === "object" && value !== null
        ? [path, ...Object.entries(value).flatMap(([key, inner]) => leaves(inner, [...path, key]))]
        : [path]
    const replaced = (value: unknown, path: ReadonlyArray<string>, by: unknown): unknown => {
      const [key, ...rest] = path
      if (key === undefined) return by
      if (Array.isArray(value))
        return value.map((item, index) => (String(index) === key ? replaced(item, rest, by) : item))
      return typeof value === "object" && value !== null
        ? { ...value, [key]: replaced(Reflect.get(value, key), rest, by) }
        : value
    }
    for (const state of states()) {
      const whole = taken(state)
      expect(paths(whole)).toEqual([])
      const places = leaves(whole)
      fc.assert(
        fc.property(fc.constantFrom(...places), anything, (place, by) => {
          const decoded = Snapshot.decode(replaced(whole, place, by))
          if (decoded._tag === "Failure") {
            expect(decoded.faults.length).toBeGreaterThan(0)
            return
          }
          const restored = Snapshot.restore(rate, decoded.value, 0, wall)
          expect(JSON.stringify(restored)).not.toMatch(/null:|NaN/)
          expect(["Closed", "Degraded", "Open", "HalfOpen"]).toContain(view(rate, restored, 0).state)
        }),
        { numRuns: 400 }
      )
    }
  })

  it("S9: names every fault", () => {
    expect(paths(null)).toEqual([""])
    expect(paths({})).toEqual(["version"])
    expect(paths({ version: 2 })).toEqual(["version"])
    expect(paths({ version: 1 })).toEqual(["wall", "era", "age", "openings", "state"])
    expect(paths({ version: 1, wall: 0, era: 0, age: 0, openings: 0, state: { _tag: "Ajar" } })).toEqual(["state._tag"])
    expect(paths({ version: 1, wall: 0.5, era: -1, age: 0, openings: 0, state: { _tag: "Open" } })).toEqual([
      "wall",
      "era",
      "state.remaining",
      "state.cooldown",
      "state.cause"
    ])
    expect(
      paths({ version: 1, wall: 0, era: 0, age: 0, openings: 0, state: { _tag: "Closed", recovered: null } })
    ).toEqual(["state.counters"])
  })

  it("S9: buckets and times must be in order, and no bucket fails more than it sampled", () => {
    const bucket = { age: 1, samples: 1, failures: 2, slow: 2, kinds: [] }
    const time = { age: 1, count: 1 }
    const counters = {
      mode: "Rolling",
      streak: 0,
      window: { bucketPeriod: 100, buckets: [bucket, bucket] },
      kinds: [],
      otherKinds: 0,
      kindStreaks: [],
      kindTimes: [{ kind: "a", times: [time, { age: 2, count: 1 }] }],
      latestKind: null,
      hint: null
    }
    const state = { _tag: "Closed", recovered: null, counters }
    expect(paths({ version: 1, wall: 0, era: 0, age: 0, openings: 0, state })).toEqual([
      "state.counters.window.buckets.0.failures",
      "state.counters.window.buckets.0.slow",
      "state.counters.window.buckets.1.failures",
      "state.counters.window.buckets.1.slow",
      "state.counters.window.buckets",
      "state.counters.kindTimes.0.times"
    ])
  })
})
