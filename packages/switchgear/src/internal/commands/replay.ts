import * as Breaker from "@switchgear/core/Breaker"
import * as Policy from "@switchgear/core/Policy"
import * as Snapshot from "@switchgear/core/Snapshot"
import * as Trace from "@switchgear/core/Trace"
import * as Effect from "effect/Effect"
import { type CommandFailed, found, refused } from "../commandFailed.js"
import { readJson } from "../input.js"
import { isRead, write } from "../output.js"

const machine = Trace.machine({ breaker: Breaker, policy: Policy, snapshot: Snapshot })

/** Plays traces on the machine; `print` shows every step instead of judging (SEMANTICS, "Trace format"). */
export const replay = (file: string, print: boolean): Effect.Effect<void, CommandFailed> =>
  Effect.gen(function* () {
    const decoded = Trace.decode(yield* readJson(file))
    if (decoded._tag === "Failure") {
      const faults = decoded.faults.map(({ path, message }) => `  ${path === "" ? "" : `${path}: `}${message}`)
      return yield* refused([`${file}: these are no traces:`, ...faults].join("\n"))
    }
    if (print) return yield* printSteps(decoded.value)
    const replays = decoded.value.map((trace) => Trace.run(machine, trace))
    const failed = replays.filter((each) => each.mismatches.length > 0)
    yield* write(failed.flatMap((each) => each.mismatches.map(renderMismatch)).join(""))
    const steps = replays.reduce((sum, each) => sum + each.observed.length, 0)
    yield* write(
      `${replays.length} traces, ${steps} steps: ${replays.length - failed.length} passed, ${failed.length} failed\n`
    )
    if (failed.length > 0) return yield* found()
  })

const printSteps = (traces: ReadonlyArray<Trace.Trace>): Effect.Effect<void> =>
  Effect.gen(function* () {
    for (const trace of traces) {
      if (!isRead()) return
      const { observed } = Trace.run(machine, trace)
      yield* write(observed.map((each) => `${JSON.stringify(each)}\n`).join(""))
    }
  })

const renderMismatch = (each: Trace.Mismatch): string => {
  const where = each.step === undefined ? "" : `, step ${each.step} (at ${each.at}, ${each.do})`
  return `${each.id}${where}: ${each.field}: expected ${JSON.stringify(each.expected)}, got ${JSON.stringify(each.actual)}\n`
}
