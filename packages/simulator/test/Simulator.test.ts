import * as Policy from "@switchgear/core/Policy"
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Figure from "../src/Figure.js"
import type { RunReport } from "../src/RunReport.js"
import * as Scenarios from "../src/Scenarios.js"
import * as Simulator from "../src/Simulator.js"
import { base, scenario, simulate, sum } from "./support.js"

const preset = (name: keyof typeof Policy.presets): Simulator.NamedPolicy => ({ name, policy: Policy.presets[name] })

/** What holds of every report. */
const sound = (report: RunReport): void => {
  const { aborted, arrivals, binMs, failed, providers, rejected, rescued, served } = report.timeline
  const bins = Math.ceil(report.durationMs / binMs)
  for (const series of [aborted, arrivals, failed, rejected, rescued, served, ...providers.map(({ calls }) => calls)]) {
    expect(series).toHaveLength(bins)
  }
  arrivals.forEach((count, bin) => {
    const ended = [aborted, failed, rejected, rescued, served].map((series) => series[bin] ?? 0)
    expect(sum(ended)).toBe(count)
  })
  for (const { bands, phases } of providers) {
    expect([phases[0]?.from, phases.at(-1)?.to]).toEqual([0, report.durationMs])
    phases.forEach((phase, index) => {
      if (index > 0) expect(phase.from).toBe(phases[index - 1]?.to)
    })
    const lives = new Map<string, Array<(typeof bands)[number]>>()
    for (const band of bands) {
      const key = `${band.breaker} ${band.replica}`
      lives.set(key, [...(lives.get(key) ?? []), band])
    }
    for (const life of lives.values()) {
      expect([life[0]?.from, life.at(-1)?.to]).toEqual([0, report.durationMs])
      life.forEach((band, index) => {
        if (index > 0) expect(band.from).toBe(life[index - 1]?.to)
      })
    }
  }
  const held = new Map<string, string>()
  let at = 0
  for (const transition of report.transitions) {
    const key = `${transition.breaker} ${transition.replica}`
    expect(transition.from).toBe(held.get(key) ?? "Closed")
    expect(transition.at).toBeGreaterThanOrEqual(at)
    expect(transition.at).toBeLessThanOrEqual(report.durationMs)
    held.set(key, transition.to)
    at = transition.at
  }
  for (const { name, unit } of Figure.all) {
    const figure = report.figures[name]
    if (figure === null) continue
    expect(figure.low).toBeLessThanOrEqual(figure.mean)
    expect(figure.mean).toBeLessThanOrEqual(figure.high)
    if (unit === "share") expect(figure.mean).toBeLessThanOrEqual(1)
    expect(figure.mean).toBeGreaterThanOrEqual(0)
  }
}

describe("a run", () => {
  it.each(Scenarios.names)("of %s is sound", { timeout: 120_000 }, async (name) => {
    const found = await Effect.runPromise(Scenarios.get(name))
    sound(await simulate({ ...found, duration: Math.min(found.duration, 420_000) }))
  })

  it("is sound whatever clients, replicas and providers do", { timeout: 120_000 }, async () => {
    const phase = fc.oneof(
      fc.record({ kind: fc.constant("outage"), from: fc.nat(30_000), to: fc.constant(40_000) }),
      fc.record({
        kind: fc.constant("brown-out"),
        from: fc.nat(30_000),
        to: fc.constant(50_000),
        errorRate: fc.constantFrom(0, 0.3, 1)
      }),
      fc.record({ kind: fc.constant("hang"), from: fc.nat(30_000), to: fc.constant(45_000) }),
      fc.record({
        kind: fc.constant("rate-limit"),
        from: fc.nat(30_000),
        to: fc.constant(60_000),
        perSecond: fc.constantFrom(0.5, 5)
      }),
      fc.record({
        kind: fc.constant("flapping"),
        from: fc.nat(30_000),
        to: fc.constant(60_000),
        down: fc.constant(2_000),
        up: fc.constant(3_000)
      })
    )
    await fc.assert(
      fc.asyncProperty(
        fc.array(phase, { maxLength: 3 }),
        fc.integer({ min: 1, max: 3 }),
        fc.constantFrom("own", "shared"),
        fc.constantFrom(undefined, { max: 3 }),
        fc.constantFrom(undefined, { share: 0.3, after: { p50: 300, p95: 2_000 } }),
        fc.constantFrom(...Object.keys(Policy.presets)),
        fc.nat(),
        async (phases, replicas, sharing, retry, abort, policy, seed) => {
          const of = scenario({
            duration: 60_000,
            arrivals: { kind: "poisson", rate: 8 },
            providers: [
              { name: "openai", limits: { total: 4_000 }, noise: { rate: 0.02 }, phases },
              { name: "anthropic", maxConcurrent: 5 }
            ],
            replicas,
            breakers: { policy, replicas: sharing, per: ["provider", "provider:model"] },
            clients: { timeout: 6_000, ...(retry && { retry }), ...(abort && { abort }) }
          })
          sound(await simulate(of, { seed }))
        }
      ),
      { numRuns: 25 }
    )
  })

  it("is the same for the same seed, and another for another", async () => {
    const of = scenario({ replicas: 2, breakers: { replicas: "shared", policy: "hosted" } })
    const one = JSON.stringify(await simulate(of, { seed: 3 }))
    expect(JSON.stringify(await simulate(of, { seed: 3 }))).toBe(one)
    expect(JSON.stringify(await simulate(of, { seed: 4 }))).not.toBe(one)
  })

  it("gives two policies the same calls", async () => {
    const [hosted, none] = [
      await simulate(scenario(), { policy: preset("hosted") }),
      await simulate(scenario(), { policy: Simulator.none })
    ]
    expect(hosted.timeline.arrivals).toEqual(none.timeline.arrivals)
  })

  it("opens on an outage, probes, and recovers; without a breaker nothing changes state", async () => {
    const opened = await simulate(scenario(), { policy: preset("nrLlm") })
    const states = opened.transitions.map(({ to }) => to)
    expect(states.slice(0, 3)).toEqual(["Open", "HalfOpen", "Open"])
    expect(states.at(-1)).toBe("Closed")
    expect(opened.transitions[0]).toMatchObject({
      provider: "openai",
      reason: { rule: "P1", by: "streak", failures: 5 }
    })
    const none = await simulate(scenario(), { policy: Simulator.none })
    expect(none.transitions).toEqual([])
    expect(none.timeline.providers.map(({ bands }) => bands)).toEqual([[], []])
    expect([none.figures.timeToOpen, none.figures.probes, none.figures.falseTrips]).toEqual([null, null, null])
    expect(opened.figures.wasted?.mean).toBeLessThan((none.figures.wasted?.mean ?? 0) / 5)
  })

  it("in shadow mode changes state and refuses nothing", async () => {
    const shadow = await simulate(scenario({ breakers: { policy: "nrLlm", enforce: false } }))
    expect(shadow.transitions.length).toBeGreaterThan(0)
    expect(sum(shadow.timeline.rejected)).toBe(0)
    expect(sum(shadow.timeline.served)).toBe(
      sum((await simulate(scenario(), { policy: Simulator.none })).timeline.served)
    )
  })

  it("counts as failed a client whose patience ends, and not one who changes its mind", async () => {
    const hang = {
      ...base,
      providers: [{ name: "openai", phases: [{ kind: "hang", from: 0, to: 300_000 }] }, { name: "anthropic" }]
    }
    const patient = await simulate(scenario({ ...hang, clients: { timeout: 5_000 } }))
    expect(patient.figures.availability?.mean).toBe(0)
    // who leaves is no failure of the provider's (SEMANTICS R5)
    expect(patient.transitions).toEqual([])
    const fickle = await simulate(scenario({ ...hang, clients: { timeout: 5_000, abort: { share: 1, after: 1_000 } } }))
    expect(sum(fickle.timeline.aborted)).toBe(sum(fickle.timeline.arrivals))
    expect(fickle.figures.availability).toBeNull()
  })

  it("lets a shared breaker open once for all replicas", async () => {
    const of = (replicas: string) => scenario({ replicas: 3, breakers: { policy: "nrLlm", replicas } })
    const [own, shared] = [await simulate(of("own")), await simulate(of("shared"))]
    expect(shared.figures.wasted?.mean).toBeLessThan(own.figures.wasted?.mean ?? 0)
    const openings = shared.transitions.filter(({ from, to }) => from === "Closed" && to === "Open")
    expect(new Set(openings.map(({ at }) => at)).size).toBe(1)
    expect(openings).toHaveLength(3)
  })

  it("guards a model by itself where it is told to", async () => {
    const of = scenario({
      providers: [
        {
          name: "openai",
          phases: [
            { kind: "outage", from: 60_000, to: 120_000, only: { model: "gpt-4o" }, errors: { model_unavailable: 1 } }
          ]
        }
      ],
      models: [
        { name: "gpt-4o", provider: "openai" },
        { name: "o4-mini", provider: "openai" }
      ],
      traffic: [{ model: "gpt-4o" }, { model: "o4-mini" }],
      breakers: {
        per: ["provider", "provider:model"],
        policy: { trip: { _tag: "Consecutive", failureThreshold: 5 }, outcomes: { model_unavailable: "failure" } }
      }
    })
    const report = await simulate(of)
    expect(report.transitions.some(({ breaker }) => breaker === "openai:gpt-4o")).toBe(true)
    expect(report.transitions.some(({ breaker }) => breaker === "openai:o4-mini")).toBe(false)
  })

  it("tells figures with intervals over its runs", async () => {
    const report = await simulate(scenario(), { runs: 4, seed: 10 })
    const { availability } = report.figures
    expect([report.runs, availability?.runs]).toEqual([4, 4])
    const single = await Promise.all([10, 11, 12, 13].map((seed) => simulate(scenario(), { seed })))
    expect(report.calls).toBe(sum(single.map(({ calls }) => calls)))
    expect(availability?.mean).toBeCloseTo(sum(single.map(({ figures }) => figures.availability?.mean ?? 0)) / 4, 8)
    expect(report.timeline).toEqual(single[0]?.timeline)
  })

  it("tells how far it has come, up to the end", async () => {
    const told: Array<number> = []
    await simulate(scenario(), { runs: 2, onProgress: (progress) => told.push(progress) })
    expect(told).toEqual([...told].sort((a, b) => a - b))
    expect(told.at(-1)).toBe(1)
  })
})
