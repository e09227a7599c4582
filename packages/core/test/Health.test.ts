import * as Health from "@switchgear/core/Health"
import * as fc from "fast-check"
import { assert, describe, it } from "vitest"

const call: fc.Arbitrary<Health.Call> = fc.record(
  {
    outcome: fc.constantFrom("served" as const, "failed" as const, "rescued" as const),
    latency: fc.oneof(fc.nat(60_000), fc.constantFrom(Number.NaN, -1, Number.POSITIVE_INFINITY))
  },
  { requiredKeys: ["outcome"] }
)
const calls = fc.array(call, { maxLength: 50 })
const sampleOf = (list: ReadonlyArray<Health.Call>) => list.reduce(Health.record, Health.empty)
const near = (actual: number, expected: number) => assert.approximately(actual, expected, 1e-12)

describe("Health", () => {
  it("H1: the worked examples", () => {
    near(Health.score({ calls: 10, successes: 9, timed: 10, latency: 2_000 }), 0.912)
    near(Health.score({ calls: 4, successes: 0, timed: 4, latency: 4_000 }), 0.16)
    near(Health.score({ calls: 2, successes: 2, timed: 2, latency: 100_000 }), 0.8)
    near(Health.score(sampleOf(Array.from({ length: 4 }, () => ({ outcome: "rescued" })))), 0.2)
  })

  it("H1: a score is in [0, 1], and 0.5 without a call", () => {
    fc.assert(
      fc.property(calls, (list) => {
        const score = Health.score(sampleOf(list))
        assert(score >= 0 && score <= 1)
        if (list.length === 0) assert.strictEqual(score, 0.5)
      })
    )
  })

  it("H1: equals a naive computation over the calls", () => {
    fc.assert(
      fc.property(fc.array(call, { minLength: 1, maxLength: 50 }), (list) => {
        const rate = list.filter((one) => one.outcome === "served").length / list.length
        const times = list.flatMap(({ latency, outcome }) =>
          outcome === "rescued" || latency === undefined || !Number.isFinite(latency) || latency < 0 ? [] : [latency]
        )
        const mean = times.length === 0 ? 0 : times.reduce((sum, one) => sum + one, 0) / times.length
        near(Health.score(sampleOf(list)), 0.8 * rate + 0.2 * (1 - Math.min(1, mean / 5_000)))
      })
    )
  })

  it("H1: samples add up in any order", () => {
    fc.assert(
      fc.property(calls, calls, (a, b) => {
        const whole = sampleOf([...a, ...b])
        assert.deepStrictEqual(Health.combine(sampleOf(a), sampleOf(b)), whole)
        assert.deepStrictEqual(Health.combine(sampleOf(b), sampleOf(a)), whole)
      })
    )
  })

  it("H1: one more success never lowers, one more failure never raises a score of equal latency", () => {
    fc.assert(
      fc.property(fc.array(call, { minLength: 1 }), (list) => {
        const sample = sampleOf(list)
        const score = Health.score(sample)
        assert(Health.score(Health.record(sample, { outcome: "served" })) >= score - 1e-12)
        assert(Health.score(Health.record(sample, { outcome: "rescued" })) <= score + 1e-12)
      })
    )
  })
})
