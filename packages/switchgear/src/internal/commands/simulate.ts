import * as Explain from "@switchgear/simulator/Explain"
import * as ReportTable from "@switchgear/simulator/ReportTable"
import type { RunReport } from "@switchgear/simulator/RunReport"
import * as Scenario from "@switchgear/simulator/Scenario"
import * as Scenarios from "@switchgear/simulator/Scenarios"
import * as Simulator from "@switchgear/simulator/Simulator"
import * as Arr from "effect/Array"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { type CommandFailed, refused } from "../commandFailed.js"
import { isPlain, write } from "../output.js"
import { hasPlace, writeText } from "../simulate/file.js"
import { namedPolicy } from "../simulate/policies.js"
import { progressBar } from "../simulate/progress.js"

export interface Options {
  readonly scenario: Option.Option<string>
  readonly policies: ReadonlyArray<string>
  readonly seed: number
  readonly runs: number
  readonly json: boolean
  /** Where to write the reports as a page. */
  readonly html: Option.Option<string>
  /** A time of the first run, as a duration. */
  readonly explain: Option.Option<string>
}

const listed = `scenarios that come with it:\n${Scenarios.names.map((name) => `  ${name}\n`).join("")}or the path of a YAML file of your own\n`

const find = (name: string): Effect.Effect<Scenario.Scenario, CommandFailed> => {
  const isFile = /[/.]/.test(name)
  if (!isFile && !Scenarios.isName(name)) return refused(`there is no scenario "${name}"; ${listed.trimEnd()}`)
  const loaded = Scenarios.isName(name) ? Scenarios.get(name) : Scenario.load(name)
  return Effect.catchTag(loaded, "ScenarioError", (error) => refused(error.message))
}

/** Runs a scenario under one policy or several, and shows what they are worth. */
export const simulate = (options: Options): Effect.Effect<void, CommandFailed> =>
  Effect.gen(function* () {
    if (Option.isNone(options.scenario)) return yield* write(listed)
    const { json, policies: names, runs, seed } = options
    if (!Number.isSafeInteger(seed) || seed < 0) return yield* refused(`--seed must be 0 or more, got ${seed}`)
    if (runs < 1) return yield* refused(`--runs must be at least 1, got ${runs}`)
    const scenario = yield* find(options.scenario.value)
    const policies = names.length === 0 ? [Simulator.ownPolicy(scenario)] : yield* Effect.forEach(names, namedPolicy)
    if (Option.isSome(options.explain)) return yield* explain(scenario, options.explain.value, policies, seed, json)
    if (Option.isSome(options.html)) yield* hasPlace(options.html.value)
    const reports = yield* Effect.acquireUseRelease(
      progressBar,
      (bar) =>
        Effect.forEach(policies, (policy, index) =>
          Simulator.run(scenario, {
            policy,
            seed,
            runs,
            onProgress: (progress) => bar.show((index + progress) / policies.length, policy.name)
          })
        ),
      (bar) => Effect.sync(bar.clear)
    ).pipe(Effect.catchTag("PipelineConfigError", (error) => refused(error.message)))
    if (!Arr.isNonEmptyReadonlyArray(reports)) return
    if (Option.isSome(options.html)) yield* writePage(options.html.value, reports)
    if (json) return yield* write(`${JSON.stringify(reports, null, 2)}\n`)
    const { stdout } = process
    yield* write(ReportTable.render(reports, { width: stdout.columns, colours: !isPlain(stdout) }))
    if (Option.isSome(options.html)) yield* write(`\nThe page is ${options.html.value}\n`)
  })

/** What draws the page is loaded where a page is asked for. */
const writePage = (path: string, reports: Arr.NonEmptyReadonlyArray<RunReport>): Effect.Effect<void, CommandFailed> =>
  Effect.flatMap(
    Effect.promise(() => import("@switchgear/simulator/ReportPage")),
    (ReportPage) => writeText(path, ReportPage.render(reports))
  )

const units: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 }

/** Seconds, `5m`, `1h2m3s`, or a duration in words; ms. */
const timeOf = (text: string): number | undefined => {
  const short = text.replace(/\s/g, "")
  if (/^\d+(\.\d+)?$/.test(short)) return Math.round(Number(short) * 1_000)
  if (/^(\d+(\.\d+)?[smh])+$/.test(short)) {
    const parts = Array.from(short.matchAll(/(\d+(?:\.\d+)?)([smh])/g))
    return Math.round(parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * (units[unit ?? "s"] ?? 0), 0))
  }
  return Option.getOrUndefined(
    Option.map(Duration.decodeUnknown(text.trim()), (it) => Math.round(Duration.toMillis(it)))
  )
}

const explain = (
  scenario: Scenario.Scenario,
  when: string,
  policies: ReadonlyArray<Simulator.NamedPolicy>,
  seed: number,
  json: boolean
): Effect.Effect<void, CommandFailed> =>
  Effect.gen(function* () {
    const time = timeOf(when)
    if (time === undefined || time > scenario.duration) {
      const end = Duration.format(scenario.duration)
      return yield* refused(`--explain ${when}: write a time of the run such as 330 (seconds) or 5m30s, at most ${end}`)
    }
    const found = yield* Effect.forEach(policies, (policy) => Explain.at(scenario, time, { policy, seed })).pipe(
      Effect.catchTag("PipelineConfigError", (error) => refused(error.message))
    )
    if (json) return yield* write(`${JSON.stringify(found, null, 2)}\n`)
    yield* write(`${found.map((one) => Explain.render(one).join("\n")).join("\n\n")}\n`)
  })
