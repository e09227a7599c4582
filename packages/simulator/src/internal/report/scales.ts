import type { RunReport } from "../../RunReport.js"
import { roundUp } from "./ticks.js"

/** Scales that several charts share, in calls a second. */
export interface Scales {
  /** Of the calls of clients. */
  readonly traffic: number
  /** Of the calls that reach a provider. */
  readonly calls: number
}

/** Calls a second by bin. The last bin may be cut by the end of the run. */
export const rates = ({ durationMs, timeline }: RunReport, bins: ReadonlyArray<number>): ReadonlyArray<number> =>
  bins.map((calls, index) => calls / (Math.min(timeline.binMs, durationMs - index * timeline.binMs) / 1000))

const most = (numbers: ReadonlyArray<number>): number => numbers.reduce((max, value) => Math.max(max, value), 0)

/** Scales on which all the reports can be drawn. */
export const scalesOf = (reports: ReadonlyArray<RunReport>): Scales => {
  const traffic = reports.flatMap((report) => rates(report, report.timeline.arrivals))
  const calls = reports.flatMap((report) => report.timeline.providers.flatMap(({ calls }) => rates(report, calls)))
  return { traffic: roundUp(most(traffic)), calls: roundUp(most(calls)) }
}
