/**
 * Reports as text for a terminal.
 *
 * @since 0.1.0
 */
import { facts } from "./internal/report/facts.js"
import { coloured, cut, plain, wrapped } from "./internal/report/terminal.js"
import { textFigures } from "./internal/report/textFigures.js"
import { textTimeline } from "./internal/report/textTimeline.js"
import { labels, verdict } from "./internal/report/verdict.js"
import { stateLabel, states } from "./internal/report/words.js"
import type { RunReport } from "./RunReport.js"

/**
 * How a table is shown.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** Columns of the terminal, at least 40. Default 80. */
  readonly width?: number | undefined
  /** Whether to paint with escape sequences. Default: no. Nothing is told by colour alone. */
  readonly colours?: boolean | undefined
  /** Whether to show the first run over time below the figures. Default: yes. */
  readonly timeline?: boolean | undefined
}

const legend = states.map(({ letter, state }) => `${letter} ${stateLabel(state)}`).join("  ")

/**
 * A comparison of reports of one scenario under several policies, or a single one: the verdict, all figures with their
 * intervals, and what happened over time. No line is wider than `width`. The same reports give the same text.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as ReportTable from "@switchgear/simulator/ReportTable"
 * import * as Scenario from "@switchgear/simulator/Scenario"
 * import * as Simulator from "@switchgear/simulator/Simulator"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function*() {
 *   const scenario = yield* Scenario.decode({
 *     name: "dead primary",
 *     description: "The only provider fails for a minute.",
 *     duration: "3 minutes",
 *     arrivals: { kind: "constant", rate: 1 },
 *     providers: [{ name: "openai", phases: [{ kind: "outage", from: "1 minute", to: "2 minutes" }] }],
 *     models: [{ name: "gpt-4o", provider: "openai" }]
 *   })
 *   return ReportTable.render([yield* Simulator.run(scenario)], { width: 72 })
 * })
 * const text = await Effect.runPromise(program)
 * assert.ok(text.split("\n").every((line) => line.length <= 72))
 * ```
 *
 * @since 0.1.0
 * @category rendering
 */
export const render = (reports: readonly [RunReport, ...ReadonlyArray<RunReport>], options: Options = {}): string => {
  const [first] = reports
  const width = Math.max(40, Math.floor(options.width ?? 80))
  const paint = options.colours === true ? coloured : plain
  const names = labels(reports)
  const lines = [
    ...wrapped(first.scenario, width).map((line) => paint("bold", line)),
    ...wrapped(first.description, width),
    ...wrapped(facts(first), width).map((line) => paint("dim", line)),
    "",
    ...verdict(reports).flatMap((sentence) => wrapped(sentence, width)),
    "",
    ...textFigures(reports, width, paint)
  ]
  if (options.timeline === false) return `${lines.join("\n")}\n`
  const over = reports.flatMap((report, index) => [
    "",
    paint("bold", cut(names[index] ?? "", width)),
    ...textTimeline(report, width, paint)
  ])
  return `${[...lines, ...over, "", paint("dim", cut(`${legend}  ▒ sick`, width))].join("\n")}\n`
}
