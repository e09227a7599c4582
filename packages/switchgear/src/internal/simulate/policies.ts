import * as Policy from "@switchgear/core/Policy"
import * as Config from "@switchgear/gateway/Config"
import * as Simulator from "@switchgear/simulator/Simulator"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { type CommandFailed, refused } from "../commandFailed.js"
import { readText } from "../input.js"

/** A preset, `none`, or a file with a policy in JSON or YAML. */
export const namedPolicy = (name: string): Effect.Effect<Simulator.NamedPolicy, CommandFailed> => {
  if (name === Simulator.none.name) return Effect.succeed(Simulator.none)
  const isPreset = Object.hasOwn(Policy.presets, name)
  if (!isPreset && !/[/]|\.(json|ya?ml)$/.test(name)) {
    return refused(
      `--policy ${name}: is no preset and no file; presets: ${Object.keys(Policy.presets).join(", ")}; none is no breaker at all`
    )
  }
  const text = isPreset ? Effect.succeed(JSON.stringify(name)) : readText(name)
  return Effect.flatMap(text, (text) =>
    Either.match(Config.decodePolicy(text, { source: name }), {
      onLeft: (error) => refused(error.message),
      onRight: (policy) => Effect.succeed({ name, policy })
    })
  )
}
