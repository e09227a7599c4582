import * as Backtest from "@switchgear/simulator/Backtest"
import * as Simulator from "@switchgear/simulator/Simulator"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { type CommandFailed, refused } from "../commandFailed.js"
import { readText } from "../input.js"
import { write } from "../output.js"
import { namedPolicy } from "../simulate/policies.js"
import { aligned } from "../simulate/table.js"

/** Puts a log through policies and shows what each would have done. */
export const backtest = (
  file: string,
  names: ReadonlyArray<string>,
  json: boolean
): Effect.Effect<void, CommandFailed> =>
  Effect.gen(function* () {
    if (names.length === 0) return yield* refused("--policy: name at least one policy to put the log through")
    const policies = yield* Effect.forEach(names, (name) =>
      Effect.flatMap(namedPolicy(name), ({ policy }) =>
        policy === undefined
          ? refused(`--policy ${Simulator.none.name}: without a breaker the log is what happens; name a policy`)
          : Effect.succeed({ name, policy })
      )
    )
    const log = yield* Effect.mapError(Backtest.decode(yield* readText(file), { source: file }), (error) =>
      refused(error.message)
    )
    const reports = policies.map((policy) => Backtest.run(log, policy))
    yield* write(json ? `${JSON.stringify(reports, null, 2)}\n` : reports.map(render).join("\n"))
  })

const between = (best: number, worst: number, show: (value: number) => string = String): string =>
  show(best) === show(worst) ? show(best) : `${show(best)} … ${show(worst)}`

const time = (ms: number): string => (ms === 0 ? "0 s" : Duration.format(Math.round(ms)))

const render = ({ policy, targets, unknown }: Backtest.BacktestReport): string => {
  const rows = targets.map(({ best, calls, failed, refusedInLife, target, worst }) => [
    target,
    String(calls),
    String(failed),
    String(refusedInLife),
    between(best.openings, worst.openings),
    between(best.openFor, worst.openFor, time),
    between(best.refusedBad, worst.refusedBad),
    between(best.refusedGood, worst.refusedGood),
    between(best.guessed, worst.guessed)
  ])
  const head = ["", "calls", "failed", "refused", "opens", "open for", "failures avoided", "successes lost", "unknown"]
  return `${policy}\n\n${aligned([head, ...rows])}\n${unknown.map((line) => `- ${line}\n`).join("")}`
}
