import * as Breaker from "@switchgear/core/Breaker"
import * as Policy from "@switchgear/core/Policy"
import { type Contestant, figure, measure } from "./measure.js"
import { type Aim, nanos, ratio, type Subject, type Table } from "./report.js"

const year = 31_536_000_000

const rolling = (buckets: number): Policy.Policy =>
  Policy.rolling({
    window: buckets * 1_000,
    bucketPeriod: 1_000,
    minSamples: 1_000_000_000,
    failureRateThreshold: 1
  })

const consecutive = Policy.consecutive({ failureThreshold: 5, cooldown: { base: 100, multiplier: 2 } })

const call = (policy: Policy.Policy, state: Breaker.State, outcome: Breaker.Outcome, now: number): Breaker.State => {
  const [admission, admitted] = Breaker.acquire(policy, state, now)
  return admission._tag === "Admitted"
    ? Breaker.report(policy, admitted, admission.permit, outcome, now, 0)[1]
    : admitted
}

/** The same step again and again, from the same state: what one call costs after that past. */
const from = (name: string, policy: Policy.Policy, state: Breaker.State, now: number): Contestant => {
  const outcome = Breaker.success()
  return {
    name,
    run: (calls) => {
      for (let each = 0; each < calls; each++) call(policy, state, outcome, now)
    }
  }
}

/** A state after so many calls, one a ms, every tenth a failure. */
const after = (policy: Policy.Policy, calls: number): Breaker.State => {
  let state = Breaker.initial(policy, 0)
  const failed = Breaker.failure("server_error")
  for (let now = 0; now < calls; now++) state = call(policy, state, now % 10 === 9 ? failed : Breaker.success(), now)
  return state
}

/** A state after so many openings, each with a recovery. */
const reopened = (openings: number): Breaker.State => {
  let state = Breaker.initial(consecutive, 0)
  let now = 0
  for (let opening = 0; opening < openings; opening++) {
    while (state._tag !== "Open") state = call(consecutive, state, Breaker.failure("server_error"), now++)
    now = state.until
    state = call(consecutive, state, Breaker.success(), now)
  }
  return state
}

interface Pair {
  readonly title: string
  readonly small: Contestant
  readonly large: Contestant
  /** Whether the second may cost no more. */
  readonly aim: boolean
}

const pairs = (): ReadonlyArray<Pair> => {
  const ten = rolling(10)
  const thousand = rolling(1_000)
  const full = after(thousand, 1_000_000)
  const hundred = after(ten, 100_000)
  const million = after(ten, 1_000_000)
  return [
    {
      title: "past calls, in a row",
      small: from("after 10^3 calls", consecutive, after(consecutive, 1_000), 1_000),
      large: from("after 10^6 calls", consecutive, after(consecutive, 1_000_000), 1_000_000),
      aim: true
    },
    {
      title: "past calls, rolling",
      small: from("after 10^5 calls", ten, hundred, hundred.at),
      large: from("after 10^6 calls", ten, million, million.at),
      aim: true
    },
    {
      title: "openings",
      small: from("after 1 opening", consecutive, reopened(1), 1_000_000),
      large: from("after 10^3 openings", consecutive, reopened(1_000), 1_000_000_000),
      aim: true
    },
    {
      title: "silence, 10 full buckets",
      small: from("after 20 s", ten, million, million.at + 20_000),
      large: from("after 100 years", ten, million, million.at + 100 * year),
      aim: true
    },
    {
      title: "silence, 1 000 full buckets",
      small: from("after 2 000 s", thousand, full, full.at + 2_000_000),
      large: from("after 100 years", thousand, full, full.at + 100 * year),
      aim: true
    },
    {
      title: "buckets, no rotation",
      small: from("10 buckets", ten, million, million.at),
      large: from("1 000 buckets", thousand, full, full.at),
      aim: true
    },
    {
      title: "buckets, at a rotation",
      small: from("10 buckets", ten, million, million.at + 1_000),
      large: from("1 000 buckets", thousand, full, full.at + 1_000),
      aim: false
    }
  ]
}

/** Whether a call costs more for what went before. */
export const growth: Subject = {
  name: "growth",
  run: async () => {
    const rows: Array<ReadonlyArray<string>> = []
    const aims: Array<Aim> = []
    for (const { aim, large, small, title } of pairs()) {
      const figures = await measure([small, large])
      const [before, now] = [figure(figures, small.name), figure(figures, large.name)]
      rows.push([title, small.name, nanos(before), large.name, nanos(now), ratio(now, before)])
      // between two runs of the same code lie some per cent
      if (aim) aims.push({ what: `growth with ${title}`, value: now / before, atMost: 1.25, unit: "x" })
    }
    const tables: ReadonlyArray<Table> = [
      { title: "Growth: ns for acquire and report", columns: ["with", "", "ns", "", "ns", "ratio"], rows }
    ]
    return { tables, aims }
  }
}
