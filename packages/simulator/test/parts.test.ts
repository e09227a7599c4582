import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { Agenda } from "../src/internal/agenda.js"
import { arrivals } from "../src/internal/arrivals.js"
import { faultOf, meaningOf } from "../src/internal/errors.js"
import { estimate } from "../src/internal/estimate.js"
import { Histogram } from "../src/internal/histogram.js"
import { quantile } from "../src/internal/latency.js"
import { chance, normal } from "../src/internal/random.js"
import { errorKinds, type Arrivals as Given } from "../src/internal/scenarioSchema.js"
import { TokenBucket } from "../src/internal/tokenBucket.js"

const all = <A>(iterator: Iterator<A, undefined>): ReadonlyArray<A> => {
  const found: Array<A> = []
  for (let next = iterator.next(); next.done !== true; next = iterator.next()) found.push(next.value)
  return found
}

describe("chance", () => {
  it("is a function of seed, purpose and whose it is", () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.nat(200), fc.maxSafeNat(), (seed, purpose, id) => {
        const drawn = chance(seed)(purpose, id)
        expect(chance(seed)(purpose, id)).toBe(drawn)
        expect(drawn).toBeGreaterThanOrEqual(0)
        expect(drawn).toBeLessThan(1)
      })
    )
  })

  it.each([
    ["by whose it is", (draw: ReturnType<typeof chance>, index: number) => draw(3, index)],
    ["by what it is for", (draw: ReturnType<typeof chance>, index: number) => draw(index, 7)],
    ["by far apart ids", (draw: ReturnType<typeof chance>, index: number) => draw(0, index * 128)]
  ])("spreads evenly %s", (_, of) => {
    const draw = chance(42)
    const bins = Array.from({ length: 20 }, () => 0)
    const pairs = Array.from({ length: 4 }, () => 0)
    for (let index = 0; index < 20_000; index++) {
      const u = of(draw, index)
      bins[Math.floor(u * 20)] = (bins[Math.floor(u * 20)] ?? 0) + 1
      const pair = (u < 0.5 ? 0 : 2) + (of(draw, index + 1) < 0.5 ? 0 : 1)
      pairs[pair] = (pairs[pair] ?? 0) + 1
    }
    // chi-squared with 19 and 3 degrees of freedom: beyond these once in a million
    const chi = (counts: ReadonlyArray<number>, each: number) =>
      counts.reduce((total, count) => total + (count - each) ** 2 / each, 0)
    expect(chi(bins, 1_000)).toBeLessThan(63)
    expect(chi(pairs, 5_000)).toBeLessThan(31)
  })

  it("differs between seeds", () => {
    const firsts = new Set(Array.from({ length: 1_000 }, (_, seed) => chance(seed)(0, 0)))
    expect(firsts.size).toBe(1_000)
  })
})

describe("a latency", () => {
  it("has the quantiles that were given", () => {
    const of = quantile({ p50: 900, p95: 2_500 })
    expect([of(0.5), of(0.95)]).toEqual([900, 2_500])
    expect(quantile(70)(0.99)).toBe(70)
  })

  it("rises with its quantile and is a whole time", () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true }), (a, b) => {
        const of = quantile({ p50: 900, p95: 2_500 })
        expect(Number.isInteger(of(a))).toBe(true)
        expect(of(Math.min(a, b))).toBeLessThanOrEqual(of(Math.max(a, b)))
      })
    )
  })

  it("stands on the normal distribution", () => {
    expect(normal(0.5)).toBeCloseTo(0, 9)
    expect(normal(0.975)).toBeCloseTo(1.959963985, 7)
    expect(normal(0.001)).toBeCloseTo(-3.090232306, 7)
  })
})

describe("a scripted failure", () => {
  it.each(errorKinds)("%s is taken for what it is by the product's classifier", (kind) => {
    expect(meaningOf(faultOf(kind)).kind).toBe(kind)
  })

  it("says when to come back, in whole seconds", () => {
    expect(meaningOf(faultOf("rate_limit", 1_200)).retryAfter).toBe(2_000)
    expect(meaningOf(faultOf("quota_exhausted", 90_000)).retryAfter).toBe(90_000)
    expect(meaningOf(faultOf("rate_limit")).retryAfter).toBeUndefined()
  })
})

describe("a token bucket", () => {
  it("never lets more through than its burst and its rate, and says truly when to come back", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 1, max: 20 }),
        fc.array(fc.nat(400), { minLength: 1, maxLength: 200 }),
        (perSecond, burst, gaps) => {
          const bucket = new TokenBucket(perSecond, burst, 0)
          let now = 0
          let passed = 0
          for (const gap of gaps) {
            now += gap
            const wait = bucket.take(now)
            if (wait === 0) passed++
            else {
              expect(bucket.take(now + wait)).toBe(0)
              now += wait
              passed++
            }
            expect(passed).toBeLessThanOrEqual(burst + (now * perSecond) / 1_000 + 1e-6)
          }
        }
      )
    )
  })
})

describe("the agenda", () => {
  it("gives back what it was given, in order, and first come first served", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(50)), (times) => {
        const agenda = new Agenda()
        const done: Array<readonly [number, number]> = []
        for (const [index, at] of times.entries()) agenda.add(at, () => done.push([at, index]))
        while (agenda.next < Number.POSITIVE_INFINITY) agenda.take()?.()
        expect(done).toEqual(times.map((at, index) => [at, index] as const).sort((a, b) => a[0] - b[0] || a[1] - b[1]))
        expect(agenda.take()).toBeUndefined()
      })
    )
  })
})

describe("arrivals", () => {
  const given = fc.oneof(
    fc.record({ kind: fc.constant("constant" as const), rate: fc.integer({ min: 1, max: 40 }) }),
    fc.record({ kind: fc.constant("poisson" as const), rate: fc.integer({ min: 1, max: 40 }) }),
    fc.record({
      kind: fc.constant("bursts" as const),
      rate: fc.integer({ min: 1, max: 10 }),
      every: fc.integer({ min: 500, max: 5_000 }),
      size: fc.integer({ min: 1, max: 30 }),
      within: fc.integer({ min: 1, max: 400 })
    }),
    fc.record({ kind: fc.constant("log" as const), calls: fc.array(fc.nat(20_000)) })
  )

  it("are in order, within the run, at whole times, and the same for the same seed", () => {
    fc.assert(
      fc.property(given, fc.nat(), (of: Given, seed) => {
        const found = all(arrivals(of, 10_000, chance(seed)))
        expect(all(arrivals(of, 10_000, chance(seed)))).toEqual(found)
        for (const [index, { at }] of found.entries()) {
          expect(Number.isInteger(at) && at >= 0 && at < 10_000).toBe(true)
          expect(at).toBeGreaterThanOrEqual(found[index - 1]?.at ?? 0)
        }
      })
    )
  })

  it("come at their rate", () => {
    expect(all(arrivals({ kind: "constant", rate: 3 }, 10_000, chance(1)))).toHaveLength(30)
    const poisson = all(arrivals({ kind: "poisson", rate: 10 }, 1_000_000, chance(1))).length
    expect(Math.abs(poisson - 10_000)).toBeLessThan(500)
    const bursts = all(
      arrivals({ kind: "bursts", rate: 1, every: 60_000, size: 100, within: 1_000 }, 150_000, chance(1))
    )
    expect(bursts.filter(({ at }) => at >= 60_000 && at < 61_000).length).toBeGreaterThanOrEqual(100)
  })
})

describe("a histogram", () => {
  it("knows quantiles to half a percent", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 1_000_000 }), { minLength: 1 }),
        fc.constantFrom(0.5, 0.95, 0.99),
        (values, share) => {
          const histogram = new Histogram()
          for (const value of values) histogram.add(value)
          const exact = [...values].sort((a, b) => a - b)[Math.max(1, Math.ceil(share * values.length)) - 1] ?? 0
          expect(Math.abs((histogram.quantile(share) ?? -1) - exact)).toBeLessThanOrEqual(exact * 0.0051 + 0.5)
        }
      )
    )
    expect(new Histogram().quantile(0.5)).toBeUndefined()
  })
})

describe("an estimate", () => {
  it("is a mean with Student's interval", () => {
    // 2, 4, 4, 6: mean 4, s = 1.633, t(3) = 3.182
    expect(estimate([2, 4, 4, 6])).toEqual({ mean: 4, low: 1.40190788, high: 6.59809212, runs: 4 })
    expect(estimate([5, undefined])).toEqual({ mean: 5, low: 5, high: 5, runs: 1 })
    expect(estimate([undefined])).toBeNull()
  })

  it("covers the truth in about 95 of 100 experiments, whatever the number of runs", () => {
    for (const runs of [2, 5, 40]) {
      let covered = 0
      for (let experiment = 0; experiment < 2_000; experiment++) {
        const draw = chance(experiment)
        const found = estimate(Array.from({ length: runs }, (_, run) => 10 + normal(draw(0, run))))
        if (found !== null && found.low <= 10 && 10 <= found.high) covered++
      }
      expect(Math.abs(covered / 2_000 - 0.95)).toBeLessThan(0.02)
    }
  })
})
