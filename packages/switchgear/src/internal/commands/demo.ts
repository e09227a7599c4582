import * as Config from "@switchgear/gateway/Config"
import * as Gateway from "@switchgear/gateway/Gateway"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { type CommandFailed, refused } from "../commandFailed.js"
import { openAiBanner, scriptedBanner } from "../demo/banner.js"
import * as text from "../demo/config.js"
import { demoUpstream } from "../demo/upstream.js"
import { logging } from "../logging.js"
import { write } from "../output.js"

interface Demo {
  readonly config: Config.GatewayConfig
  readonly banner: (url: string, data: string) => string
}

interface Given {
  readonly port: number
  /** The folder that keeps the state. */
  readonly data: string
}

/** A gateway that needs no configuration, until a signal comes. */
export const demo = (given: Given): Effect.Effect<never, CommandFailed> =>
  Effect.gen(function* () {
    const { banner, config } = yield* (process.env["OPENAI_API_KEY"] ?? "") === "" ? scripted(given) : openAi(given)
    const { url } = yield* serve(config)
    yield* write(banner(url, given.data))
    return yield* Effect.never
  }).pipe(
    Effect.catchTags({
      ConfigError: (error) => refused(error.message),
      ListenError: (error) => refused(error.message),
      InvalidRules: (error) => refused(error.message),
      PipelineConfigError: (error) => refused(error.message)
    }),
    Effect.scoped,
    Effect.provide(logging)
  )

const scripted = (given: Given): Effect.Effect<Demo, Config.ConfigError, Scope.Scope> =>
  Effect.gen(function* () {
    const primary = yield* demoUpstream({ name: "primary", answers: text.primaryAnswers })
    const backup = yield* demoUpstream({ name: "backup", answers: () => true })
    const config = yield* Config.decode(text.scripted(given, primary.baseUrl, backup.baseUrl), { env: process.env })
    return { config, banner: scriptedBanner }
  })

const openAi = (given: Given): Effect.Effect<Demo, Config.ConfigError> => {
  const env = { OPENAI_BASE_URL: "https://api.openai.com/v1", ...process.env }
  return Effect.map(Config.decode(text.openAi(given), { env }), (config) => ({ config, banner: openAiBanner }))
}

/** Where it was told to listen, or where there is room. */
const serve = (config: Config.GatewayConfig) =>
  Effect.gen(function* () {
    const parts = yield* Layer.build(Gateway.layerParts(config))
    return yield* Gateway.make(config).pipe(
      Effect.catchIf(
        (error) => error.reason === "InUse",
        () => Gateway.make({ ...config, server: { ...config.server, port: 0 } })
      ),
      Effect.provide(parts)
    )
  })
