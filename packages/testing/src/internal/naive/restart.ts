import { rollingRule } from "./count.js"
import { type Counted, freshEra, type NaiveState, type PlainPolicy, plus } from "./state.js"

/**
 * SEMANTICS S9: everything is `elapsed` ms older on a clock that now reads `resumeAt`. Times are exact; buckets age by
 * whole buckets, since a snapshot keeps a bucket's number and not the times in it.
 */
export const age = (
  policy: PlainPolicy,
  state: NaiveState,
  at: number,
  elapsed: number,
  resumeAt: number
): NaiveState => {
  const moved = (time: number): number => plus(resumeAt, plus(plus(time, -at), -elapsed))
  const rolling = rollingRule(policy)
  const movedBucket = (bucket: number | null): number | null => {
    if (rolling === null || bucket === null) return null
    const behind = Math.floor(at / rolling.bucketPeriod) - bucket + Math.floor(elapsed / rolling.bucketPeriod)
    return Math.floor(resumeAt / rolling.bucketPeriod) - behind
  }
  const movedOutcome = (outcome: Counted): Counted => ({
    ...outcome,
    at: moved(outcome.at),
    bucket: movedBucket(outcome.bucket)
  })
  // a HalfOpen comes back as an Open at its deadline: its leases died with the process
  if (state.held === "HalfOpen") {
    return freshEra(state, "Open", resumeAt, { openings: state.openings, until: resumeAt })
  }
  return {
    held: state.held,
    at: resumeAt,
    // permits of before are stale
    era: state.era + 1,
    outcomes: state.outcomes.map(movedOutcome),
    leases: [],
    until: state.until === null ? null : moved(state.until),
    kept: state.kept === null ? null : moved(state.kept),
    openings: state.openings,
    recoveredAt: state.recoveredAt === null ? null : moved(state.recoveredAt)
  }
}
