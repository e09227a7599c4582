import type * as Breaker from "@switchgear/core/Breaker"
import type * as Policy from "@switchgear/core/Policy"
import type * as Trace from "@switchgear/core/Trace"
import { firstViolation, moment } from "../../Invariants.js"
import * as LockStep from "../../LockStep.js"
import * as Machines from "../../Machines.js"
import type { NaiveState } from "../../NaiveBreaker.js"
import type { Moment } from "../invariants/run.js"
import { boundaries } from "./boundaries.js"
import type { Alphabet } from "./policies.js"

/** Both machines after a history, and all that led there. */
export interface BreakerWorld {
  readonly pair: LockStep.Pair<Breaker.State, NaiveState>
  readonly moments: ReadonlyArray<Moment>
  readonly difference: LockStep.Difference | null
  readonly now: number
}

const commands = (at: number): ReadonlyArray<Trace.Step> => [
  { at, do: "forceOpen" },
  { at, do: "forceOpen", for: 7 },
  { at, do: "forceClosed" },
  { at, do: "auto" },
  { at, do: "reset" }
]

const calls = ["a", "b"]

export const breakerWorld = (policy: Policy.Policy, alphabet: Alphabet, prefix: ReadonlyArray<Trace.Step> = []) => {
  const step = (world: BreakerWorld, taking: Trace.Step): BreakerWorld => {
    const index = world.moments.length
    const { difference, next, taken } = LockStep.take(Machines.real, Machines.naive, policy, world.pair, taking, index)
    const last = moment(taking, world.pair.left.state, taken)
    return { pair: next, moments: [...world.moments, last], difference, now: taken.now }
  }
  const actions = ({ now, pair: { left, right } }: BreakerWorld): ReadonlyArray<Trace.Step> => {
    const boundary = boundaries(policy, right.state, now)[0]
    const times = (boundary === undefined ? [now + 1] : [boundary - 1, boundary, boundary + 1]).filter((at) => at > now)
    return [
      ...calls.map((call): Trace.Step => ({ at: now, do: "acquire", call })),
      // only a call that has a permit can report, and it may do so again
      ...calls
        .filter((call) => left.permits.has(call))
        .flatMap((call) => alphabet.reports.map((report): Trace.Step => ({ ...report, at: now, call }))),
      ...(alphabet.back === undefined ? [] : [now - alphabet.back])
        .concat(times)
        .map((at): Trace.Step => ({ at, do: "observe" })),
      ...(alphabet.commands ? commands(now) : []),
      { at: now, do: "restart", elapsed: boundary === undefined ? 1 : boundary - now }
    ]
  }
  const check = ({ difference, moments }: BreakerWorld): string | null => {
    if (difference !== null) return `the naive machine differs: ${JSON.stringify(difference)}`
    const violation = firstViolation({ machine: Machines.real, policy, moments })
    return violation === null ? null : JSON.stringify(violation)
  }
  const begin = prefix[0]?.at ?? 0
  const pair = LockStep.start(Machines.real, Machines.naive, policy, begin)
  const fresh: BreakerWorld = { pair, moments: [], difference: null, now: begin }
  return { start: prefix.reduce(step, fresh), actions, step, check }
}
