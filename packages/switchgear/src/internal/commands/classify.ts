import * as Cases from "@switchgear/failures/Cases"
import * as Effect from "effect/Effect"
import { type CommandFailed, found, refused } from "../commandFailed.js"
import { readJson } from "../input.js"
import { write } from "../output.js"

/** Says what recorded answers mean; `print` shows every verdict instead of judging. */
export const classify = (file: string, print: boolean): Effect.Effect<void, CommandFailed> =>
  Effect.gen(function* () {
    const decoded = Cases.decodeAll(yield* readJson(file))
    if (decoded._tag === "Failure") {
      const faults = decoded.faults.map(({ path, message }) => `  ${path === "" ? "" : `${path}: `}${message}`)
      return yield* refused([`${file}: these are no recorded answers:`, ...faults].join("\n"))
    }
    const verdicts = decoded.value.map((one) => ({ expect: one.expect, result: Cases.run(one) }))
    if (print) return yield* write(verdicts.map(({ result }) => `${JSON.stringify(result)}\n`).join(""))
    const lines = verdicts.flatMap(({ expect, result }) =>
      Cases.mismatches(expect, result).map(
        (field) =>
          `${result.id}: ${field}: expected ${JSON.stringify(expect?.[field])}, got ${JSON.stringify(result[field] ?? null)}\n`
      )
    )
    const failed = verdicts.filter(({ expect, result }) => Cases.mismatches(expect, result).length > 0).length
    yield* write(lines.join(""))
    yield* write(`${verdicts.length} answers: ${verdicts.length - failed} as expected, ${failed} not\n`)
    if (failed > 0) return yield* found()
  })
