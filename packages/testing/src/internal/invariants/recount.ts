import type * as Breaker from "@switchgear/core/Breaker"
import { age } from "../naive/restart.js"
import { counted, taken as takenAs } from "../naive/rules.js"
import type { Counted, NaiveState } from "../naive/state.js"
import { isClosed, type Moment, type Run } from "./run.js"

const holding = (outcomes: ReadonlyArray<Counted>): NaiveState => ({
  held: "Closed",
  at: 0,
  era: 0,
  outcomes,
  leases: [],
  until: null,
  kept: null,
  openings: 0,
  recoveredAt: null
})

/** What a moment adds to the reports counted in its era (SEMANTICS R3, R4, S9), before a transition empties them. */
const add = (policy: Run["policy"], outcomes: ReadonlyArray<Counted>, moment: Moment): ReadonlyArray<Counted> => {
  const { before, now, step, taken } = moment
  if (step.do === "restart") {
    const elapsed = Math.max(0, step.elapsed ?? 0)
    return age(policy, holding(outcomes), now, elapsed, step.resumeAt ?? now).outcomes
  }
  const { outcome, permit, reported } = taken
  if (reported !== "Applied" || outcome === undefined || permit === undefined || !isClosed(before)) return outcomes
  const as = takenAs(policy, outcome)
  return as === "nothing" ? outcomes : [...outcomes, counted(policy, as, outcome, permit, now)]
}

/** SEMANTICS R3: whether the moment began an era with nothing counted. */
const begins = ({ after, before, step }: Moment): boolean =>
  step.do === "restart" ? !isClosed(after) : after.era !== before.era

/** The reports counted in the era, as the last moment found them and as it decided on them. */
export const recount = ({
  moments,
  policy
}: Run): { readonly decided: ReadonlyArray<Counted>; readonly left: ReadonlyArray<Counted> } => {
  let decided: ReadonlyArray<Counted> = []
  let left: ReadonlyArray<Counted> = []
  for (const moment of moments) {
    decided = add(policy, left, moment)
    left = begins(moment) ? [] : decided
  }
  return { decided, left }
}

/** Openings in force when a report comes (SEMANTICS C5). */
export const inForce = (policy: Run["policy"], state: Breaker.State, now: number): number => {
  if (!isClosed(state)) return state.openings
  return state.recoveredAt === null || now - state.recoveredAt >= policy.cooldown.resetAfter ? 0 : state.openings
}
