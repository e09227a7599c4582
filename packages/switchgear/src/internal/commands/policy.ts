import * as Policy from "@switchgear/core/Policy"
import * as Config from "@switchgear/gateway/Config"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import { describe } from "../../Describe.js"
import { type CommandFailed, found, refused } from "../commandFailed.js"
import { readText } from "../input.js"
import { write } from "../output.js"

interface Options {
  readonly file: Option.Option<string>
  readonly preset: Option.Option<string>
  readonly json: boolean
}

/** Checks a policy, shows it with its defaults, and says what it will do. */
export const policy = ({ file, json, preset }: Options): Effect.Effect<void, CommandFailed> =>
  Effect.gen(function* () {
    const chosen = yield* choose(file, preset)
    yield* write(`${JSON.stringify(chosen, null, 2)}\n`)
    if (!json) yield* write(`\n${describe(chosen).join("\n")}\n`)
  })

const choose = (
  file: Option.Option<string>,
  preset: Option.Option<string>
): Effect.Effect<Policy.Policy, CommandFailed> => {
  if (Option.isSome(file) === Option.isSome(preset)) {
    return refused(`give either a file or --preset NAME; presets: ${Object.keys(Policy.presets).join(", ")}`)
  }
  if (Option.isSome(file)) {
    const path = file.value
    return Effect.flatMap(readText(path), (text) =>
      Either.mapLeft(Config.decodePolicy(text, { source: path }), (error) => found(error.message))
    )
  }
  const name = Option.getOrElse(preset, () => "")
  return Either.mapLeft(Config.decodePolicy(JSON.stringify(name), { source: "--preset" }), (error) =>
    refused(error.faults.map((fault) => fault.message).join("\n"))
  )
}
