import * as Breaker from "@switchgear/core/Breaker"
import * as Policy from "@switchgear/core/Policy"
import * as Snapshot from "@switchgear/core/Snapshot"
import { describe, expect, it } from "vitest"

type Report = readonly [at: number, outcome: Breaker.Outcome, rnd?: number]

const ok = Breaker.success()
const bad = Breaker.failure("timeout")
const of = (kind: string): Breaker.Outcome => Breaker.failure(kind)

/** One call after the other, each admitted and reported at its time; what happened from the first on. */
const play = (policy: Policy.Policy, reports: ReadonlyArray<Report>, from = Breaker.initial(policy, 0)) => {
  const events: Array<Breaker.Event> = []
  let state = from
  for (const [at, outcome, rnd = 0] of reports) {
    const [admission, admitted, opened] = Breaker.acquire(policy, state, at)
    if (admission._tag === "Rejected") throw new Error(`refused at ${at}`)
    const [, next, happened] = Breaker.report(policy, admitted, admission.permit, outcome, at, rnd)
    events.push(...opened, ...happened)
    state = next
  }
  return { events, state }
}
const run = (policy: Policy.Policy, reports: ReadonlyArray<Report>) => play(policy, reports).state
const rolling = { window: 1_000, bucketPeriod: 100 }

describe("time", () => {
  const policy = Policy.consecutive({ failureThreshold: 3 })

  it("T2: what changes nothing at the same ms is the same object, admitted or succeeded, forced or not", () => {
    const fresh = Breaker.initial(policy, 7)
    const [admission, admitted] = Breaker.acquire(policy, fresh, 7)
    expect(admitted).toBe(fresh)
    if (admission._tag === "Rejected") throw new Error("refused")
    expect(Breaker.report(policy, admitted, admission.permit, ok, 7, 0)[1]).toBe(fresh)
    const [forced] = Breaker.command(policy, fresh, Breaker.forceClosed, 7)
    expect(Breaker.acquire(policy, forced, 7)[1]).toBe(forced)
    expect(Breaker.acquire(policy, forced, 8)[1]).toMatchObject({ _tag: "ForcedClosed", at: 8, since: 7 })
  })

  it("T4: a time past the largest safe integer is the largest safe integer", () => {
    for (const now of [1e300, Number.POSITIVE_INFINITY]) {
      expect(Breaker.acquire(policy, Breaker.initial(policy, 0), now)[1].at).toBe(Number.MAX_SAFE_INTEGER)
    }
  })
})

describe("tripping", () => {
  it("P2: no success opens anything but one that completes the minimum", () => {
    const policy = Policy.rolling({ ...rolling, minSamples: 2, failureRateThreshold: 0.6 })
    // the two successes leave the window; the rate is then reached, and a success must not notice
    const state = run(policy, [
      [0, ok],
      [0, ok],
      [500, bad],
      [500, bad],
      [1_050, ok]
    ])
    expect(Breaker.observe(policy, state, 1_050)).toMatchObject({ state: "Closed", samples: 3, failures: 2 })
  })

  it("P2: of the other successes only a slow one opens, by the slow rate", () => {
    const slow = { slowCallDuration: 50, slowCallRateThreshold: 0.6 }
    const policy = Policy.rolling({ ...rolling, minSamples: 2, failureRateThreshold: 1, ...slow })
    const before: ReadonlyArray<Report> = [
      [0, Breaker.success(1)],
      [0, Breaker.success(1)],
      [500, Breaker.success(60)],
      [500, Breaker.success(60)]
    ]
    expect(run(policy, [...before, [1_050, Breaker.success(1)]])._tag).toBe("Closed")
    expect(run(policy, [...before, [1_050, Breaker.success(60)]])).toMatchObject({
      _tag: "Open",
      cause: { by: "slowRate" }
    })
  })

  it("P3: each kind's count without a window follows onSuccess on its own", () => {
    const kindThresholds = { a: { threshold: 3 }, b: { threshold: 2 } }
    const decaying = Policy.consecutive({ failureThreshold: 50, onSuccess: { decayBy: 1 }, kindThresholds })
    const before = run(decaying, [
      [0, of("a")],
      [0, of("a")],
      [0, ok],
      [0, of("b")],
      [0, of("a")]
    ])
    expect(before._tag).toBe("Closed")
    expect(
      run(decaying, [
        [0, of("a")],
        [0, ok],
        [0, ok],
        [0, of("a")],
        [0, of("a")]
      ])._tag
    ).toBe("Closed")
    expect(play(decaying, [[0, of("a")]], before).state).toMatchObject({
      _tag: "Open",
      cause: { rule: "P3", by: "kind", kind: "a", failures: 3, threshold: 3, window: null }
    })
    expect(play(decaying, [[0, of("b")]], before).state).toMatchObject({ _tag: "Open", cause: { kind: "b" } })

    const resetting = Policy.consecutive({ failureThreshold: 50, kindThresholds })
    const reset: ReadonlyArray<Report> = [
      [0, of("a")],
      [0, of("a")],
      [0, ok],
      [0, of("a")],
      [0, of("a")]
    ]
    expect(run(resetting, reset)._tag).toBe("Closed")
    expect(run(resetting, [...reset, [0, of("a")]])._tag).toBe("Open")
  })

  it("P3: a kind's count that decays to nothing is forgotten", () => {
    const policy = Policy.consecutive({
      failureThreshold: 9,
      onSuccess: { decayBy: 1 },
      kindThresholds: { a: { threshold: 3 } }
    })
    const state = run(policy, [
      [0, of("a")],
      [0, bad],
      [0, ok]
    ])
    expect(state).toMatchObject({ counters: { streak: 1, failed: { kindStreaks: [] } } })
  })

  it("P3: within a window each kind counts by itself, and exactly", () => {
    const rule = { threshold: 3, window: 100 }
    const policy = Policy.consecutive({ failureThreshold: 50, kindThresholds: { a: rule, b: rule } })
    const others = run(policy, [
      [0, of("a")],
      [0, of("a")],
      [1, of("b")],
      [2, of("b")]
    ])
    expect(others).toMatchObject({
      _tag: "Closed",
      counters: {
        failed: {
          kindTimes: [
            { kind: "a", times: [{ at: 0, count: 2 }] },
            {
              kind: "b",
              times: [
                { at: 1, count: 1 },
                { at: 2, count: 1 }
              ]
            }
          ]
        }
      }
    })
    for (const kind of ["a", "b"]) {
      expect(play(policy, [[3, of(kind)]], others).state).toMatchObject({ cause: { rule: "P3", kind, failures: 3 } })
    }
    const edge = run(policy, [
      [0, of("a")],
      [50, of("a")],
      [100, of("a")]
    ])
    expect(edge).toMatchObject({
      _tag: "Closed",
      counters: { failed: { kindTimes: [{ times: [{ at: 50 }, { at: 100 }] }] } }
    })
    expect(play(policy, [[149, of("a")]], edge).state).toMatchObject({ _tag: "Open", cause: { failures: 3 } })
    expect(play(policy, [[150, of("a")]], edge).state._tag).toBe("Closed")
  })

  it("P3: under Rolling each kind counts by itself in the window", () => {
    const policy = Policy.rolling({
      ...rolling,
      minSamples: 100,
      failureRateThreshold: 1,
      kindThresholds: { a: { threshold: 5 }, b: { threshold: 2 } }
    })
    const state = run(policy, [
      [0, of("a")],
      [0, of("a")],
      [0, of("a")],
      [0, of("b")]
    ])
    expect(state._tag).toBe("Closed")
    expect(play(policy, [[900, of("b")]], state).state).toMatchObject({ cause: { kind: "b", failures: 2 } })
    expect(play(policy, [[1_000, of("b")]], state).state._tag).toBe("Closed")
  })

  it("S4: the first 16 kinds of an era are named, the rest added up", () => {
    const policy = Policy.consecutive({ failureThreshold: 99 })
    const kinds = Array.from({ length: 18 }, (_, index): Report => [0, of(`k${index}`)])
    const view = Breaker.observe(policy, run(policy, [...kinds, [0, of("k3")], [0, of("k17")]]), 0)
    expect(Object.keys(view.kinds)).toHaveLength(17)
    expect(view.kinds).toMatchObject({ k0: 1, k3: 2, k15: 1, _other: 3 })
  })
})

describe("degradation", () => {
  const policy = Policy.rolling({
    ...rolling,
    minSamples: 3,
    failureRateThreshold: 0.9,
    degradation: { threshold: 0.5, recoverAt: 0.25 }
  })
  const degraded: ReadonlyArray<Report> = [
    [0, bad],
    [0, ok],
    [0, bad]
  ]

  it("D1: its moves carry what was reached, and the threshold", () => {
    const counted = Policy.consecutive({ failureThreshold: 3, degradation: { threshold: 1 } })
    const { events, state } = play(counted, [
      [4, bad],
      [5, ok]
    ])
    expect(state).toMatchObject({ _tag: "Closed", since: 5 })
    expect(events).toEqual([
      { from: "Closed", to: "Degraded", at: 4, era: 0, reason: { rule: "D1", by: "degraded", level: 1, threshold: 1 } },
      { from: "Degraded", to: "Closed", at: 5, era: 0, reason: { rule: "D1", by: "recovered", level: 0, threshold: 0 } }
    ])
  })

  it("D1: only a success leaves, though the rate has fallen", () => {
    const state = run(policy, [...degraded, [500, ok], [500, ok], [500, ok], [1_050, bad]])
    expect(state).toMatchObject({ _tag: "Degraded", since: 0 })
    expect(Breaker.observe(policy, state, 1_050)).toMatchObject({ samples: 4, failures: 1 })
    expect(play(policy, [[1_060, ok]], state).state).toMatchObject({ _tag: "Closed", since: 1_060 })
  })

  it("D2: silence reads as Closed, and the next applied report of any outcome says so first", () => {
    const state = run(policy, degraded)
    expect(state._tag).toBe("Degraded")
    expect(Breaker.observe(policy, state, 999).state).toBe("Degraded")
    expect(Breaker.observe(policy, state, 1_000).state).toBe("Closed")
    for (const outcome of [Breaker.ignored, Breaker.released, ok, bad]) {
      const { events, state: after } = play(policy, [[1_000, outcome]], state)
      const reason = { rule: "D2", by: "silence", samples: 0, minSamples: 3 }
      expect(events).toEqual([{ from: "Degraded", to: "Closed", at: 1_000, era: 0, reason }])
      expect(after).toMatchObject({ _tag: "Closed", since: 1_000, at: 1_000 })
    }
  })

  it("D2: what is left of the window is told", () => {
    const { events } = play(policy, [...degraded, [500, ok], [1_000, ok]])
    expect(events.at(-1)?.reason).toEqual({ rule: "D2", by: "silence", samples: 1, minSamples: 3 })
  })
})

describe("cooldown", () => {
  it("C3: the furthest hint of the era bounds the cooldown, whichever came first", () => {
    const policy = Policy.consecutive({ failureThreshold: 2, cooldown: { base: 10, honorRetryAfter: true } })
    const hinted = (retryAfter: number) => Breaker.failure("rate_limit", { retryAfter })
    for (const [first, second] of [
      [60_000, 1_000],
      [1_000, 60_000]
    ] as const) {
      const state = run(policy, [
        [0, hinted(first)],
        [0, hinted(second)]
      ])
      expect(Breaker.observe(policy, state, 0).retryAfter).toBe(60_000)
    }
  })

  it("C2: an opening without a failure has no kind, not one called null", () => {
    const slow = { slowCallDuration: 50, slowCallRateThreshold: 0.5 }
    const policy = Policy.rolling({
      ...rolling,
      ...slow,
      minSamples: 1,
      failureRateThreshold: 1,
      cooldown: { base: 1_000 },
      cooldownByKind: { null: 5 }
    })
    expect(Breaker.observe(policy, run(policy, [[0, Breaker.success(60)]]), 0).retryAfter).toBe(1_000)
    expect(Breaker.observe(policy, run(policy, [[0, of("null")]]), 0).retryAfter).toBe(5)
  })

  it("C4: a random number outside [0, 1) never shortens a cooldown, nor lengthens it past its jitter", () => {
    const policy = Policy.consecutive({ failureThreshold: 1, cooldown: { base: 1_000, jitter: 0.5 } })
    for (const [rnd, retryAfter] of [
      [-1, 1_000],
      [Number.NaN, 1_000],
      [0.5, 1_250],
      [9, 1_500]
    ] as const) {
      expect(Breaker.observe(policy, run(policy, [[0, bad, rnd]]), 0).retryAfter).toBe(retryAfter)
    }
  })
})

describe("probes", () => {
  const policy = Policy.consecutive({
    failureThreshold: 1,
    cooldown: { base: 100 },
    halfOpen: { maxProbes: 2, successThreshold: 3 }
  })

  it("A3: the first acquire past the deadline says why it is HalfOpen", () => {
    const [, , events] = Breaker.acquire(policy, run(policy, [[0, bad]]), 100)
    expect(events).toEqual([{ from: "Open", to: "HalfOpen", at: 100, era: 2, reason: { rule: "A3", by: "deadline" } }])
  })

  it("R2, R5: a report uses up its own lease and no other", () => {
    const [first, one] = Breaker.acquire(policy, run(policy, [[0, bad]]), 100)
    const [second, two] = Breaker.acquire(policy, one, 100)
    if (first._tag === "Rejected" || second._tag === "Rejected") throw new Error("refused")
    const [applied, left] = Breaker.report(policy, two, first.permit, Breaker.ignored, 101, 0)
    expect([applied, Breaker.report(policy, left, first.permit, ok, 102, 0)[0]]).toEqual(["Applied", "Stale"])
    const [again, after] = Breaker.report(policy, left, second.permit, ok, 102, 0)
    expect([again, after]).toMatchObject(["Applied", { _tag: "HalfOpen", successes: 1, leases: [] }])
  })

  it("A5: however many probes are out, each has a lease of its own", () => {
    const many = Policy.consecutive({ failureThreshold: 1, cooldown: { base: 100 }, halfOpen: { maxProbes: 5 } })
    let state = run(many, [[0, bad]])
    const probes = new Set<number | undefined>()
    for (let count = 1; count <= 5; count++) {
      const [admission, next] = Breaker.acquire(many, state, 100)
      if (admission._tag === "Rejected") throw new Error("refused")
      probes.add(admission.permit.probe)
      state = next
    }
    expect(probes.size).toBe(5)
  })
})

describe("manual control", () => {
  const policy = Policy.consecutive({
    failureThreshold: 2,
    cooldown: { base: 1_000 },
    degradation: { threshold: 1 }
  })
  const opened = run(policy, [
    [0, bad],
    [0, bad]
  ])

  it("M1: a forceOpen for no positive number of ms does nothing", () => {
    for (const length of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(Breaker.command(policy, opened, { _tag: "ForceOpen", for: length }, 1)).toEqual([opened, []])
    }
  })

  it("M1: the deadline that a forceOpen replaced is kept over another one, and over auto until it has passed", () => {
    const [once] = Breaker.command(policy, opened, Breaker.forceOpen(10), 1)
    const [twice] = Breaker.command(policy, once, Breaker.forceOpen(20), 2)
    expect(Breaker.observe(policy, twice, 2)).toMatchObject({ state: "Open", forced: true, until: 1_000 })
    const [endless] = Breaker.command(policy, opened, Breaker.forceOpen(), 1)
    expect(Breaker.command(policy, endless, Breaker.auto, 10)[0]).toMatchObject({ until: 1_000, cooldown: 990 })
    expect(Breaker.command(policy, endless, Breaker.auto, 5_000)[0]).toMatchObject({ until: 5_000, cooldown: 0 })
  })

  it("M1, T1: a forceOpen for a while ends after that while, before 0 too", () => {
    const [forced] = Breaker.command(policy, Breaker.initial(policy, -100), Breaker.forceOpen(10), -90)
    expect(Breaker.observe(policy, forced, -90)).toMatchObject({ state: "Open", forced: true, until: -80 })
  })

  it("M1, T1: auto without a kept deadline opens until now, before 0 too", () => {
    const [forced] = Breaker.command(policy, Breaker.initial(policy, -100), Breaker.forceOpen(), -90)
    expect(Breaker.command(policy, forced, Breaker.auto, -50)[0]).toMatchObject({
      _tag: "Open",
      until: -50,
      cooldown: 0
    })
  })

  it("M1, C5: what a command keeps are the openings in force, from Degraded too", () => {
    const degraded = play(
      policy,
      [
        [1_000, ok],
        [1_001, bad]
      ],
      opened
    ).state
    expect(degraded).toMatchObject({ _tag: "Degraded", openings: 1 })
    for (const command of [Breaker.forceOpen(), Breaker.forceClosed]) {
      expect(Breaker.command(policy, degraded, command, 1_002)[0]).toMatchObject({ openings: 0 })
    }
  })

  it("M1: reset, and auto from ForcedClosed, recover nothing: they start anew", () => {
    const [forced] = Breaker.command(policy, opened, Breaker.forceClosed, 1)
    for (const [state, command] of [
      [opened, Breaker.reset],
      [forced, Breaker.auto]
    ] as const) {
      expect(Breaker.command(policy, state, command, 2)[0]).toMatchObject({ openings: 0, recoveredAt: null })
    }
  })
})

describe("the window", () => {
  const policy = Policy.rolling({ ...rolling, minSamples: 4, failureRateThreshold: 1 })
  const again = (state: Breaker.State, now: number) =>
    Snapshot.restore(policy, Snapshot.snapshot(state, now, 0), now, 0)
  const buckets = (state: Breaker.State) => {
    const taken = Snapshot.snapshot(state, state.at, 0)
    expect(Snapshot.decode(JSON.parse(JSON.stringify(taken)))).toMatchObject({ _tag: "Success" })
    return "counters" in taken.state ? taken.state.counters.window?.buckets : undefined
  }

  it("S9: an empty bucket is none", () => {
    expect(buckets(Breaker.initial(policy, 0))).toEqual([])
    expect(buckets(Breaker.acquire(policy, Breaker.initial(policy, 0), 550)[1])).toEqual([])
  })

  it("S9: a restored window goes on in the bucket it was in", () => {
    const restored = again(
      run(policy, [
        [0, ok],
        [210, bad]
      ]),
      220
    )
    expect(buckets(play(policy, [[230, bad]], restored).state)).toMatchObject([
      { samples: 1, failures: 0 },
      { samples: 2, failures: 2 }
    ])
  })
})
