import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import { write } from "./output.js"

/** Lines of `key=value` on stdout, written ten times a second in one piece: a line at a time would slow every call. */
export const logging: Layer.Layer<never> = Logger.replaceScoped(
  Logger.defaultLogger,
  Logger.batched(Logger.logfmtLogger, "100 millis", (lines) =>
    lines.length === 0 ? Effect.void : write(`${lines.join("\n")}\n`)
  )
)
