import * as Breaker from "@switchgear/core/Breaker"
import type { Clock } from "effect/Clock"
import type { Status } from "../Transition.js"
import type { Cell } from "./cell.js"

/** The machine's view, with its times as wall time. */
export const viewOf = (cell: Cell, clock: Clock): Breaker.View => {
  const now = cell.now(clock)
  const offset = clock.unsafeCurrentTimeMillis() - Math.max(now, cell.state.at)
  const view = Breaker.observe(cell.policy, cell.state, now)
  return view.until === undefined
    ? { ...view, since: view.since + offset }
    : { ...view, since: view.since + offset, until: view.until + offset }
}

export const statusOf = (cell: Cell, clock: Clock): Status => ({
  name: cell.name,
  enforced: cell.settings.enforce,
  view: viewOf(cell, clock),
  counters: cell.counters(),
  transitions: cell.history === undefined ? [] : [...cell.history]
})
