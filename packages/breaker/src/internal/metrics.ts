import * as Breaker from "@switchgear/core/Breaker"
import type { Clock } from "effect/Clock"
import { globalValue } from "effect/GlobalValue"
import * as Metric from "effect/Metric"
import * as MetricKey from "effect/MetricKey"
import * as MetricState from "effect/MetricState"
import type { Counters } from "../Transition.js"
import type { Cell } from "./cell.js"

const counter = (name: string, description: string): MetricKey.MetricKey.Counter<number> =>
  MetricKey.counter(name, { description, incremental: true })

/** The families; each gets the label `breaker`. */
export const series = {
  admissions: counter("switchgear_breaker_admissions", "Calls by admission: admitted or rejected"),
  outcomes: counter("switchgear_breaker_outcomes", "Reported outcomes: success, failure, ignored or released"),
  transitions: counter("switchgear_breaker_transitions", "Transitions between states"),
  state: MetricKey.gauge("switchgear_breaker_state", {
    description: "State: 0 Closed, 1 Degraded, 2 HalfOpen, 3 Open, -1 none"
  }),
  storesAway: MetricKey.gauge("switchgear_breaker_stores_away", {
    description: "Registries whose store does not answer"
  })
}

/** Where a label's numbers are read. */
export interface Source {
  readonly cells: () => Iterable<Cell>
  readonly clock: Clock
}

/** What one label shows: the breakers that bear it, and what those that have gone had counted. */
interface Label {
  readonly sources: Set<Source>
  readonly retired: { -readonly [K in keyof Counters]: number }
}

/** Effect's metrics live as long as the process, so these do. */
const labels = globalValue(Symbol.for("@switchgear/breaker/metrics"), () => new Map<string, Label>())

const severity = { Closed: 0, Degraded: 1, HalfOpen: 2, Open: 3 } as const

const total = (label: Label, field: keyof Counters): number => {
  let sum = label.retired[field]
  for (const source of label.sources) {
    for (const cell of source.cells()) sum += cell[field]
  }
  return sum
}

const highest = (label: Label): number => {
  let state = -1
  for (const { cells, clock } of label.sources) {
    for (const cell of cells()) {
      const observed = Breaker.observe(cell.policy, cell.state, cell.now(clock)).state
      state = Math.max(state, severity[observed])
    }
  }
  return state
}

/**
 * Effect has no metric that is computed when it is read, but a registry entry is a plain object that snapshots and
 * exporters ask for its value: ours answers from the cells.
 */
const show = (breaker: string, label: Label): void => {
  const count = (key: MetricKey.MetricKey.Counter<number>, field: keyof Counters): void => {
    const hook = Metric.globalMetricRegistry.get(key)
    hook.get = () => MetricState.counter(total(label, field))
  }
  const admissions = MetricKey.tagged(series.admissions, "breaker", breaker)
  count(MetricKey.tagged(admissions, "admission", "admitted"), "admitted")
  count(MetricKey.tagged(admissions, "admission", "rejected"), "rejected")
  const outcomes = MetricKey.tagged(series.outcomes, "breaker", breaker)
  count(MetricKey.tagged(outcomes, "outcome", "success"), "succeeded")
  count(MetricKey.tagged(outcomes, "outcome", "failure"), "failed")
  count(MetricKey.tagged(outcomes, "outcome", "ignored"), "ignored")
  count(MetricKey.tagged(outcomes, "outcome", "released"), "released")
  count(MetricKey.tagged(series.transitions, "breaker", breaker), "transitions")
  const gauge = Metric.globalMetricRegistry.get(MetricKey.tagged(series.state, "breaker", breaker))
  gauge.get = () => MetricState.gauge(highest(label))
}

const labelOf = (name: string): Label => {
  let label = labels.get(name)
  if (label === undefined) {
    label = {
      sources: new Set(),
      retired: { admitted: 0, rejected: 0, succeeded: 0, failed: 0, ignored: 0, released: 0, transitions: 0 }
    }
    labels.set(name, label)
    show(name, label)
  }
  return label
}

const add = (retired: Label["retired"], counters: Counters, sign: 1 | -1): void => {
  retired.admitted += sign * counters.admitted
  retired.rejected += sign * counters.rejected
  retired.succeeded += sign * counters.succeeded
  retired.failed += sign * counters.failed
  retired.ignored += sign * counters.ignored
  retired.released += sign * counters.released
  retired.transitions += sign * counters.transitions
}

/** Keeps what a breaker had counted that is no longer among its label's sources. */
export const retire = (name: string, counters: Counters): void => add(labelOf(name).retired, counters, 1)

/** The opposite of `retire`, for a breaker that comes back with all it had counted. */
export const revive = (name: string, counters: Counters): void => add(labelOf(name).retired, counters, -1)

/** Shows the source's breakers under a name. Gives what takes them away again, their counts kept. */
export const publish = (name: string, source: Source): (() => void) => {
  const { retired, sources } = labelOf(name)
  sources.add(source)
  return () => {
    if (!sources.delete(source)) return
    for (const cell of source.cells()) add(retired, cell.counters(), 1)
  }
}

const away = globalValue(Symbol.for("@switchgear/breaker/storesAway"), () => ({ count: 0 }))

/** A store that is away, until what it gives is called. */
export const storeGone = (): (() => void) => {
  away.count++
  Metric.globalMetricRegistry.get(series.storesAway).get = () => MetricState.gauge(away.count)
  return () => void away.count--
}
