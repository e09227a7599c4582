import * as Config from "@switchgear/gateway/Config"
import * as Gateway from "@switchgear/gateway/Gateway"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { type CommandFailed, refused } from "../commandFailed.js"
import { logging } from "../logging.js"
import { write } from "../output.js"

/** Serves a configuration until a signal comes. */
export const gateway = (file: string): Effect.Effect<never, CommandFailed> =>
  Config.load(file, process.env).pipe(
    Effect.flatMap((config) => Layer.launch(announced.pipe(Layer.provide(Gateway.layerConfigured(config))))),
    Effect.catchTags({
      ConfigError: (error) => refused(error.message),
      ListenError: (error) => refused(error.message),
      InvalidRules: (error) => refused(`${file}: ${error.message}`),
      PipelineConfigError: (error) => refused(`${file}: ${error.message}`)
    }),
    Effect.provide(logging)
  )

const announced = Layer.effectDiscard(
  Effect.gen(function* () {
    const { url } = yield* Gateway.Gateway
    yield* write(`switchgear: listening on ${url}\n`)
  })
)
