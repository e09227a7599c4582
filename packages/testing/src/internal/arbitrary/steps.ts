import type * as Trace from "@switchgear/core/Trace"
import * as fc from "fast-check"
import { fillDefaults } from "../naive/policy.js"
import type { PlainPolicy } from "../naive/state.js"
import { kinds, type PolicyInput } from "./policy.js"

/** Time passing before a step: a duration of the policy and how far beside it, or some ms. */
type Gap =
  | { readonly _tag: "Ms"; readonly ms: number }
  | { readonly _tag: "Duration"; readonly index: number; readonly beside: number }

/** A report, by how many admissions ago its call was made; kinds and latencies by their place in the policy's own. */
interface Report {
  readonly do: "success" | "failure" | "ignored" | "released"
  readonly kind: number
  readonly status: number | undefined
  readonly retryAfter: number | undefined
  readonly latency: number | undefined
  readonly rnd: number | undefined
}

type Move =
  | { readonly _tag: "Acquire" | "Tail" | "Observe" }
  | { readonly _tag: "Report"; readonly back: number; readonly report: Report }
  | { readonly _tag: "Round"; readonly takes: Gap; readonly report: Report }
  | { readonly _tag: "Burst"; readonly count: number; readonly report: Report }
  // failures between successes, then so long that of a window only the later successes are left, then one more report
  | {
      readonly _tag: "Turn"
      readonly before: number
      readonly failures: number
      readonly after: number
      readonly report: Report
    }
  | {
      readonly _tag: "Command"
      readonly step: "forceOpen" | "forceClosed" | "auto" | "reset"
      readonly for: number | undefined
    }
  | { readonly _tag: "Restart"; readonly elapsed: Gap | undefined; readonly resumeAt: number | undefined }

const rollingOf = ({ trip }: PlainPolicy) =>
  trip._tag === "AnyOf" ? trip.rolling : trip._tag === "Rolling" ? trip : null

/** Every duration of a policy that something waits for: the boundaries lie at their ends. ms. */
export const durationsOf = (policy: PlainPolicy): ReadonlyArray<number> => {
  const rolling = rollingOf(policy)
  const all = [
    policy.cooldown.base,
    policy.halfOpen.probeTimeout,
    ...(rolling === null ? [] : [rolling.bucketPeriod, rolling.window, rolling.slowCallDuration ?? 1]),
    policy.cooldown.base * policy.cooldown.multiplier,
    policy.cooldown.resetAfter,
    ...Object.values(policy.cooldownByKind),
    ...Object.values(policy.kindThresholds).flatMap((rule) => (rule.window === undefined ? [] : [rule.window]))
  ]
  return [...new Set(all.map((ms) => Math.min(Math.round(ms), 2 ** 40)))].filter((ms) => ms > 0)
}

const gap: fc.Arbitrary<Gap> = fc.oneof(
  { weight: 5, arbitrary: fc.constant<Gap>({ _tag: "Ms", ms: 0 }) },
  { weight: 2, arbitrary: fc.constantFrom(1, 2, 7).map((ms): Gap => ({ _tag: "Ms", ms })) },
  {
    weight: 5,
    arbitrary: fc
      .tuple(fc.nat(7), fc.constantFrom(0, -1, 1))
      .map(([index, beside]): Gap => ({ _tag: "Duration", index, beside }))
  },
  { weight: 1, arbitrary: fc.constantFrom(-1, -8, -1000, 100_000).map((ms): Gap => ({ _tag: "Ms", ms })) }
)

const maybe = <A>(arbitrary: fc.Arbitrary<A>, freq = 2): fc.Arbitrary<A | undefined> =>
  fc.option(arbitrary, { nil: undefined, freq })

const report = (what: fc.Arbitrary<Report["do"]>): fc.Arbitrary<Report> =>
  fc.record({
    do: what,
    kind: fc.oneof({ weight: 15, arbitrary: fc.nat(3) }, { weight: 1, arbitrary: fc.nat(30) }),
    status: maybe(fc.constantFrom(500, 429, 408, 400, 503), 1),
    retryAfter: maybe(fc.constantFrom(5, 0, 2.5, 33, 1e9, -1), 1),
    latency: maybe(fc.constantFrom(0, 1, 5, 20, 4.5, -1, 1e9), 1),
    rnd: maybe(fc.constantFrom(0.5, 0.999), 1)
  })

/** Reports of a day on which failures weigh this much against successes. */
const reports = (failures: number, successes: number): fc.Arbitrary<Report> =>
  report(
    fc.oneof(
      { weight: failures, arbitrary: fc.constant("failure" as const) },
      { weight: successes, arbitrary: fc.constant("success" as const) },
      { weight: 1, arbitrary: fc.constantFrom("ignored" as const, "released" as const) }
    )
  )

const movesOf = (reported: fc.Arbitrary<Report>): fc.Arbitrary<Move> =>
  fc.oneof(
    { weight: 9, arbitrary: fc.record({ _tag: fc.constant("Round" as const), takes: gap, report: reported }) },
    {
      weight: 1,
      arbitrary: fc.record({
        _tag: fc.constant("Burst" as const),
        count: fc.integer({ min: 2, max: 7 }),
        report: reported
      })
    },
    {
      weight: 1,
      arbitrary: fc.record({
        _tag: fc.constant("Turn" as const),
        before: fc.nat(3),
        failures: fc.integer({ min: 1, max: 3 }),
        after: fc.integer({ min: 1, max: 6 }),
        report: reported
      })
    },
    { weight: 4, arbitrary: fc.constant<Move>({ _tag: "Acquire" }) },
    { weight: 5, arbitrary: fc.record({ _tag: fc.constant("Report" as const), back: fc.nat(4), report: reported }) },
    { weight: 1, arbitrary: fc.constantFrom<Move>({ _tag: "Observe" }, { _tag: "Tail" }) },
    {
      weight: 1,
      arbitrary: fc.record({
        _tag: fc.constant("Command" as const),
        step: fc.constantFrom("forceOpen" as const, "forceClosed" as const, "auto" as const, "reset" as const),
        for: maybe(fc.constantFrom(1, 10, 12, Number.MAX_SAFE_INTEGER), 1)
      })
    },
    {
      weight: 1,
      arbitrary: fc.record({
        _tag: fc.constant("Restart" as const),
        elapsed: maybe(gap),
        resumeAt: maybe(fc.constantFrom(0, 3, 1234, -77), 1)
      })
    }
  )

/** Bad days and better ones: a rate that only degrades needs successes. */
const days = [movesOf(reports(6, 3)), movesOf(reports(2, 4))]

/** Moves before they are tied to a policy: what and when, in words that any policy can fill. */
export const moves = (maxLength: number) =>
  fc.record({
    origin: fc.constantFrom(0, 100, -500, 1_000_003),
    moves: fc.oneof(...days.map((move) => fc.array(fc.tuple(gap, move), { maxLength, size: "max" })))
  })

type Moves = ReturnType<typeof moves> extends fc.Arbitrary<infer A> ? A : never

/** The moves as steps of a trace, with times at and beside the policy's boundaries. */
export const toSteps = (input: PolicyInput, given: Moves): ReadonlyArray<Trace.Step> => {
  const policy = fillDefaults(input)
  const durations = durationsOf(policy)
  const named = [...Object.keys(policy.kindThresholds), ...Object.keys(policy.cooldownByKind)]
  const known = [...new Set([...named, ...Object.keys(policy.outcomes).filter((key) => !/^\d/.test(key)), ...kinds])]
  const rolling = rollingOf(policy)
  const calls: Array<string> = []
  const steps: Array<Trace.Step> = []
  let now = given.origin
  const ms = (time: Gap): number =>
    time._tag === "Ms" ? time.ms : (durations[time.index % durations.length] ?? 0) + time.beside
  const take = (what: "acquire" | "tail"): string => {
    const call = `${calls.length + 1}`
    calls.push(call)
    steps.push({ at: now, do: what, call })
    return call
  }
  const give = (call: string, { do: what, kind, latency, retryAfter, rnd, status }: Report): void => {
    const luck = rnd === undefined ? {} : { rnd }
    const took = latency === undefined ? {} : { latency }
    if (what === "success") steps.push({ at: now, do: what, call, ...took, ...luck })
    else if (what === "failure") {
      steps.push({
        at: now,
        do: what,
        call,
        kind: known[kind] ?? `kind${kind}`,
        ...(status === undefined ? {} : { status }),
        ...(retryAfter === undefined ? {} : { retryAfter }),
        ...took,
        ...luck
      })
    } else steps.push({ at: now, do: what, call, ...luck })
  }
  const burst = (count: number, report: Report): void => {
    for (let index = 0; index < count; index++) give(take("acquire"), report)
  }
  for (const [before, move] of given.moves) {
    now = now + ms(before)
    switch (move._tag) {
      case "Acquire":
        take("acquire")
        break
      case "Tail":
        take("tail")
        break
      case "Observe":
        steps.push({ at: now, do: "observe" })
        break
      case "Round": {
        const call = take("acquire")
        now = now + ms(move.takes)
        give(call, move.report)
        break
      }
      case "Burst":
        burst(move.count, move.report)
        break
      case "Turn":
        burst(move.before, { ...move.report, do: "success" })
        burst(move.failures, { ...move.report, do: "failure" })
        now = now + (rolling?.bucketPeriod ?? 1)
        burst(move.after, { ...move.report, do: "success" })
        if (rolling !== null) now = now + rolling.window - rolling.bucketPeriod
        give(take("acquire"), move.report)
        break
      case "Report": {
        const call = calls.at(-1 - move.back)
        if (call !== undefined) give(call, move.report)
        break
      }
      case "Command":
        if (move.step !== "forceOpen") steps.push({ at: now, do: move.step })
        else steps.push({ at: now, do: move.step, ...(move.for === undefined ? {} : { for: move.for }) })
        break
      case "Restart":
        steps.push({
          at: now,
          do: "restart",
          ...(move.elapsed === undefined ? {} : { elapsed: ms(move.elapsed) }),
          ...(move.resumeAt === undefined ? {} : { resumeAt: move.resumeAt })
        })
        now = move.resumeAt ?? now
    }
  }
  return steps
}
