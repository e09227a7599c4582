import * as Figure from "../../Figure.js"
import type { RunReport } from "../../RunReport.js"
import { amount } from "./amounts.js"

/** What a report is called among those it is shown with. */
export const labels = (reports: ReadonlyArray<RunReport>): ReadonlyArray<string> => {
  const several = new Set(reports.map(({ scenario }) => scenario)).size > 1
  return reports.map(({ policy, scenario }) => {
    const name = policy === "none" ? "no breaker" : policy
    return several ? `${name}, ${scenario}` : name
  })
}

/** Reports by their index. */
export interface Ranking {
  /** The best mean. */
  readonly leader: number
  /** Others whose interval meets the leader's. */
  readonly level: ReadonlyArray<number>
  /** Those whose interval does not. */
  readonly behind: ReadonlyArray<number>
}

/** Who did best at a figure; `undefined` where less than two have it, or no direction is better. */
export const ranking = (figure: Figure.Figure, reports: ReadonlyArray<RunReport>): Ranking | undefined => {
  if (figure.better === "neither") return undefined
  const known = reports.flatMap(({ figures }, index) => {
    const estimate = figures[figure.name]
    return estimate === null ? [] : [{ index, estimate }]
  })
  const [first, ...others] = known
  if (first === undefined || others.length === 0) return undefined
  const sign = figure.better === "higher" ? 1 : -1
  const leader = others.reduce(
    (leads, one) => (sign * (one.estimate.mean - leads.estimate.mean) > 0 ? one : leads),
    first
  )
  const rest = known.filter((one) => one !== leader)
  const meets = ({ estimate }: (typeof known)[number]): boolean =>
    estimate.low <= leader.estimate.high && leader.estimate.low <= estimate.high
  return {
    leader: leader.index,
    level: rest.filter(meets).map(({ index }) => index),
    behind: rest.filter((one) => !meets(one)).map(({ index }) => index)
  }
}

/** How a report stands at a figure at which another is behind: it leads (as does who has the same mean), or it is level. */
export const standing = (
  figure: Figure.Figure,
  reports: ReadonlyArray<RunReport>,
  index: number
): "highest" | "lowest" | "level" | undefined => {
  const ranks = ranking(figure, reports)
  if (ranks === undefined || ranks.behind.length === 0 || ranks.behind.includes(index)) return undefined
  const meanOf = (report: number): number | undefined => reports[report]?.figures[figure.name]?.mean
  if (meanOf(index) === undefined) return undefined
  if (meanOf(index) !== meanOf(ranks.leader)) return "level"
  return figure.better === "higher" ? "highest" : "lowest"
}

const list = (items: ReadonlyArray<string>): string =>
  items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`

const are = (items: ReadonlyArray<unknown>): string => (items.length === 1 ? "is" : "are")

const compared = (
  reports: ReadonlyArray<RunReport>,
  { does, name, what }: { readonly name: Figure.FigureName; readonly does: string; readonly what: string }
): string | undefined => {
  const figure = Figure.all.find((one) => one.name === name)
  const ranks = figure === undefined ? undefined : ranking(figure, reports)
  if (figure === undefined || ranks === undefined) return undefined
  const names = labels(reports)
  const valueOf = (index: number): string => {
    const estimate = reports[index]?.figures[name]
    return estimate == null ? "" : amount(figure.unit, estimate.mean)
  }
  const said = (index: number): string => `${names[index]} (${valueOf(index)})`
  const { behind, leader, level } = ranks
  if (behind.length === 0) {
    const all = [leader, ...level].sort((a, b) => a - b)
    const same = new Set(all.map(valueOf)).size === 1
    return same
      ? `No difference in ${what}: ${valueOf(leader)} under each.`
      : `No clear difference in ${what}: ${list(all.map(said))}.`
  }
  const near = level.length === 0 ? "" : `${list(level.map(said))} ${are(level)} level with it; `
  return `${names[leader]} ${does}: ${valueOf(leader)}; ${near}${list(behind.map(said))} ${are(behind)} behind.`
}

/** The comparison in a few sentences; of one report, how many of its calls were answered. */
export const verdict = (reports: ReadonlyArray<RunReport>): ReadonlyArray<string> => {
  const [first, second] = reports
  if (first === undefined) return []
  if (second === undefined) {
    const { availability } = first.figures
    return availability === null ? [] : [`${amount("share", availability.mean)} of the calls were answered in the end.`]
  }
  const said = [
    compared(reports, { name: "availability", does: "answered most calls", what: "the calls answered" }),
    compared(reports, {
      name: "addedLatencyP99",
      does: "made the slowest answers (p99) wait least",
      what: "what the slowest answers (p99) waited"
    }),
    compared(reports, { name: "wasted", does: "wasted fewest calls on a sick provider", what: "wasted calls" })
  ].filter((sentence) => sentence !== undefined)
  return reports.some(({ runs }) => runs === 1)
    ? [...said, "This is a single run: only more runs can tell a difference from chance."]
    : said
}
