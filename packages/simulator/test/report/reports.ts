import type * as Breaker from "@switchgear/core/Breaker"
import * as fc from "fast-check"
import * as Figure from "../../src/Figure.js"
import type { Band, Estimate, PhaseBand, ProviderTimeline, RunReport, Timeline } from "../../src/RunReport.js"

/** Text that would do harm if it were taken for markup, for an escape sequence, or for more of the line. */
export const hostile = [
  "<script>alert(1)</script>",
  "</script><img src=x onerror=alert(1)>",
  "<!-- ",
  "]]>",
  `"' onload="alert(1)`,
  "&lt;b&gt; &amp;",
  "\u001b[31mred\u001b[0m",
  "a\u0000b\r\nc\td",
  "\u202egnp.exe",
  "half \ud83d pair",
  "{{constructor}}",
  "日本語のとても長い名前のプロバイダー",
  "👩‍👩‍👧 family",
  "x".repeat(200)
]

const name = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom("openai", "hosted", "none", "brown-out") },
  { weight: 2, arbitrary: fc.constantFrom(...hostile) },
  { weight: 1, arbitrary: fc.string({ unit: "binary", minLength: 1, maxLength: 30 }) }
)

const reason: fc.Arbitrary<Breaker.Reason> = fc.oneof(
  fc.constant({ rule: "A3", by: "deadline" } as const),
  name.map((kind) => ({ rule: "P1", by: "streak", kind, failures: 5, threshold: 5 }) as const)
)

const estimate = (runs: number): fc.Arbitrary<Estimate | null> =>
  fc.option(
    fc
      .tuple(
        fc.oneof(
          fc.double({ min: 0, max: 1 }),
          fc.double({ min: 0, max: 1e7, noNaN: true }),
          fc.integer({ min: 0, max: 300 })
        ),
        fc.oneof(fc.constant(0), fc.double({ min: 0, max: 1e4, noNaN: true })),
        fc.integer({ min: 1, max: runs })
      )
      .filter(([mean]) => !Number.isNaN(mean))
      .map(([mean, half, of]) => ({ mean, low: mean - half, high: mean + half, runs: of }))
  )

/** Cuts of a run, as stretches without a gap. */
const stretches = (
  durationMs: number,
  most: number
): fc.Arbitrary<ReadonlyArray<readonly [from: number, to: number]>> =>
  fc.uniqueArray(fc.integer({ min: 1, max: durationMs - 1 }), { maxLength: most }).map((cuts) => {
    const ends = [0, ...cuts.sort((a, b) => a - b), durationMs]
    return ends.slice(1).map((to, index) => [ends[index] ?? 0, to] as const)
  })

const phases = (durationMs: number): fc.Arbitrary<ReadonlyArray<PhaseBand>> =>
  stretches(durationMs, 4).chain((spans) =>
    fc
      .tuple(
        ...spans.map(() =>
          fc.tuple(fc.oneof(fc.constantFrom("healthy", "outage", "slow (gpt-4o)"), name), fc.boolean())
        )
      )
      .map((what) =>
        spans.map(([from, to], index) => {
          const [phase, sick] = what[index] ?? ["healthy", false]
          return { from, to, phase, sick: sick && phase !== "healthy" }
        })
      )
  )

const bands = (durationMs: number, breaker: string, replica: number): fc.Arbitrary<ReadonlyArray<Band>> =>
  stretches(durationMs, 8).chain((spans) =>
    fc
      .tuple(
        ...spans.map(() =>
          fc.tuple(fc.constantFrom<Array<Band["state"]>>("Closed", "Degraded", "Open", "HalfOpen"), fc.option(reason))
        )
      )
      .map((what) =>
        spans.map(([from, to], index): Band => {
          const [state, why] = what[index] ?? ["Closed", null]
          return { breaker, replica, from, to, state, reason: why }
        })
      )
  )

const counts = (bins: number): fc.Arbitrary<ReadonlyArray<number>> =>
  fc.array(fc.nat({ max: 500 }), { minLength: bins, maxLength: bins })

const providerTimeline = (durationMs: number, bins: number): fc.Arbitrary<ProviderTimeline> =>
  fc
    .tuple(name, fc.option(name), fc.integer({ min: 1, max: 3 }))
    .chain(([provider, breaker, replicas]) =>
      fc
        .tuple(
          phases(durationMs),
          fc.tuple(
            ...Array.from({ length: replicas }, (_, replica) => bands(durationMs, breaker ?? provider, replica))
          ),
          counts(bins)
        )
        .map(([ofPhases, ofBands, calls]) => ({ name: provider, phases: ofPhases, bands: ofBands.flat(), calls }))
    )

const timeline = (durationMs: number): fc.Arbitrary<Timeline> =>
  fc.integer({ min: 1, max: 20 }).chain((wanted) => {
    const binMs = Math.ceil(durationMs / wanted)
    const bins = Math.ceil(durationMs / binMs)
    return fc.record({
      binMs: fc.constant(binMs),
      arrivals: counts(bins),
      served: counts(bins),
      rescued: counts(bins),
      failed: counts(bins),
      rejected: counts(bins),
      aborted: counts(bins),
      providers: fc.array(providerTimeline(durationMs, bins), { minLength: 1, maxLength: 2 })
    })
  })

/** A report as another program may have written it: its shape is right, its names are anything. */
export const report: fc.Arbitrary<RunReport> = fc
  .tuple(fc.constantFrom(1_000, 61_000, 900_000, 7_200_000), fc.integer({ min: 1, max: 5 }))
  .chain(([durationMs, runs]) =>
    fc.record({
      scenario: name,
      description: name,
      policy: name,
      seed: fc.nat(),
      runs: fc.constant(runs),
      durationMs: fc.constant(durationMs),
      calls: fc.nat(),
      figures: fc
        .array(estimate(runs), { minLength: Figure.all.length, maxLength: Figure.all.length })
        .map((estimates) =>
          Figure.record((figure) => estimates[Figure.all.findIndex((one) => one.name === figure)] ?? null)
        ),
      timeline: timeline(durationMs),
      transitions: fc.array(
        fc.record({
          at: fc.integer({ min: 0, max: durationMs }),
          provider: name,
          breaker: name,
          replica: fc.nat({ max: 2 }),
          from: fc.constantFrom("Closed", "HalfOpen"),
          to: fc.constantFrom("Open", "ForcedClosed"),
          reason
        }),
        { maxLength: 5 }
      )
    })
  )

export const reports: fc.Arbitrary<readonly [RunReport, ...ReadonlyArray<RunReport>]> = fc
  .tuple(report, fc.array(report, { maxLength: 2 }))
  .map(([first, others]) => [first, ...others])

const same = (value: number): Estimate => ({ mean: value, low: value, high: value, runs: 1 })

/** A calm minute of one provider, but for what is said otherwise. */
export const calm = (over: Partial<RunReport> = {}): RunReport => ({
  scenario: "calm",
  description: "Nothing happens.",
  policy: "hosted",
  seed: 1,
  runs: 1,
  durationMs: 60_000,
  calls: 60,
  figures: Figure.record((figure) => (figure === "timeToOpen" ? null : same(figure === "availability" ? 1 : 0))),
  timeline: {
    binMs: 10_000,
    arrivals: [10, 10, 10, 10, 10, 10],
    served: [10, 10, 10, 10, 10, 10],
    rescued: [0, 0, 0, 0, 0, 0],
    failed: [0, 0, 0, 0, 0, 0],
    rejected: [0, 0, 0, 0, 0, 0],
    aborted: [0, 0, 0, 0, 0, 0],
    providers: [
      {
        name: "openai",
        phases: [{ from: 0, to: 60_000, phase: "healthy", sick: false }],
        bands: [{ breaker: "openai", replica: 0, from: 0, to: 60_000, state: "Closed", reason: null }],
        calls: [10, 10, 10, 10, 10, 10]
      }
    ]
  },
  transitions: [],
  ...over
})
