import * as Policy from "@switchgear/core/Policy"
import { ConsecutiveBreaker, circuitBreaker, handleAll, type IPolicy, SamplingBreaker, wrap } from "cockatiel"
import * as contestants from "./contestants.js"
import { type Contestant, type Figure, figure, measure } from "./measure.js"
import { type Aim, nanos, ratio, type Subject, type Table } from "./report.js"

/** More failures than any run makes. */
const never = 1_000_000_000
const hour = 3_600_000
const rule = { window: 30_000, bucketPeriod: 3_000, minSamples: 10, failureRateThreshold: 0.5 }
const cooldown = { base: 30_000 }

/** An hour of failing calls would not reach it. */
const unreachable = { ...rule, minSamples: never }

const consecutive = (failureThreshold: number) =>
  circuitBreaker(handleAll, {
    halfOpenAfter: 30_000,
    breaker: new ConsecutiveBreaker(failureThreshold)
  })

const sampling = () =>
  circuitBreaker(handleAll, {
    halfOpenAfter: 30_000,
    breaker: new SamplingBreaker({ threshold: 0.5, duration: rule.window, minimumRps: 10 / 30 })
  })

const cockatiel = (policy: IPolicy) => (kind: contestants.Work) => policy.execute(contestants.work[kind])

const table = (title: string, figures: ReadonlyArray<Figure>): Table => {
  const of = (name: string) => figures.find((each) => each.name === name)?.nanos
  return {
    title,
    columns: ["", "ns/call", "to cockatiel", "to opossum", "to hand-written"],
    rows: figures.map(({ name, nanos: value }) => [
      name,
      nanos(value),
      ratio(value, of("cockatiel")),
      ratio(value, of("opossum")),
      ratio(value, of("hand-written Effect"))
    ])
  }
}

const against = (
  policy: Policy.Policy,
  kind: contestants.Work,
  peers: { readonly cockatiel: IPolicy; readonly opossum: boolean; readonly failureThreshold: number }
): ReadonlyArray<Contestant> => {
  const { execute } = contestants.opossum({
    rollingCountTimeout: rule.window,
    rollingCountBuckets: 10,
    resetTimeout: 30_000,
    volumeThreshold: kind === "failure" ? never : 10
  })
  return [
    contestants.pure(policy, kind),
    contestants.promised("Guard", contestants.guard(policy), kind),
    contestants.guarded(policy, kind),
    contestants.promised("cockatiel", cockatiel(peers.cockatiel), kind),
    ...(peers.opossum ? [contestants.promised("opossum", execute, kind)] : []),
    contestants.handWritten({ failureThreshold: peers.failureThreshold, cooldown: 30_000 }, kind),
    ...contestants.bare(kind)
  ]
}

const rejections = async (): Promise<ReadonlyArray<Contestant>> => {
  const policy = Policy.consecutive({ failureThreshold: 1, cooldown: { base: hour } })
  const own = contestants.guard(policy)
  const circuit = circuitBreaker(handleAll, { halfOpenAfter: hour, breaker: new ConsecutiveBreaker(1) })
  const { breaker, execute } = contestants.opossum({ resetTimeout: hour })
  breaker.open()
  await own("failure").catch(() => {})
  await circuit.execute(contestants.work.failure).catch(() => {})
  const effects = [
    contestants.guarded(policy, "failure"),
    contestants.handWritten({ failureThreshold: 1, cooldown: hour }, "failure")
  ]
  for (const { run } of effects) await run(1)
  return [
    contestants.pureRejection(policy),
    contestants.promised("Guard", own, "failure"),
    ...effects,
    contestants.promised("cockatiel", cockatiel(circuit), "failure"),
    contestants.promised("opossum", execute, "failure"),
    ...contestants.bare("failure")
  ]
}

const aim = (what: string, figures: ReadonlyArray<Figure>, name: string, of: string, atMost: number): Aim => ({
  what: `${what}: ${name} to ${of}`,
  value: figure(figures, name) / figure(figures, of),
  atMost,
  unit: "x"
})

/** What a call costs, against the peers. */
export const calls: Subject = {
  name: "calls",
  run: async () => {
    const streak = await measure(
      against(Policy.consecutive({ failureThreshold: 5, cooldown }), "success", {
        cockatiel: consecutive(5),
        opossum: true,
        failureThreshold: 5
      })
    )
    const rolling = await measure(
      against(Policy.rolling({ ...rule, cooldown }), "success", {
        cockatiel: sampling(),
        opossum: true,
        failureThreshold: 5
      })
    )
    const anyOf = await measure(
      against(Policy.anyOf({ consecutive: { failureThreshold: 5 }, rolling: rule, cooldown }), "success", {
        cockatiel: wrap(consecutive(5), sampling()),
        opossum: false,
        failureThreshold: 5
      })
    )
    const failing = await measure(
      against(Policy.consecutive({ failureThreshold: never, cooldown }), "failure", {
        cockatiel: consecutive(never),
        opossum: true,
        failureThreshold: never
      })
    )
    const failingAnyOf = await measure(
      against(Policy.anyOf({ consecutive: { failureThreshold: never }, rolling: unreachable, cooldown }), "failure", {
        cockatiel: consecutive(never),
        opossum: true,
        failureThreshold: never
      })
    )
    const rejected = await measure(await rejections())
    return {
      tables: [
        table("Closed, success, 5 in a row (opossum has a rolling rule only)", streak),
        table("Closed, success, rolling 30 s in 10 buckets (the hand-written one counts in a row)", rolling),
        table("Closed, success, AnyOf both (cockatiel: two policies wrapped; opossum cannot)", anyOf),
        table("Closed, failure, in a row, too few to trip", failing),
        table(
          "Closed, failure, AnyOf, too few to trip (cockatiel and the hand-written one count in a row)",
          failingAnyOf
        ),
        table("Open, rejection", rejected)
      ],
      aims: [
        aim("success, in a row", streak, "pure step", "cockatiel", 0.25),
        aim("success, rolling", rolling, "pure step", "cockatiel", 0.25),
        aim("success, AnyOf", anyOf, "pure step", "cockatiel", 0.25),
        aim("success, in a row", streak, "Effect guard", "hand-written Effect", 0.3),
        aim("success, rolling", rolling, "Effect guard", "hand-written Effect", 0.3),
        aim("success, AnyOf", anyOf, "Effect guard", "hand-written Effect", 0.3),
        aim("rejection", rejected, "pure step", "cockatiel", 0.25),
        aim("rejection", rejected, "Guard", "cockatiel", 0.25),
        aim("rejection", rejected, "Effect guard", "cockatiel", 0.25)
      ]
    }
  }
}
