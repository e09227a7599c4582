import * as Cursor from "./cursor.js"
import { type Decoder, duration, integer, optional, required, struct } from "./decoder.js"

export interface TimeoutsConfig {
  readonly connect?: number | undefined
  readonly firstOutput?: number | undefined
  readonly idle?: number | undefined
  readonly total?: number | undefined
}

export const timeouts: Decoder<TimeoutsConfig> = struct(
  {
    connect: optional(duration("a limit")),
    firstOutput: optional(duration("a limit")),
    idle: optional(duration("a limit")),
    total: optional(duration("a limit"))
  },
  "the limits of a call"
)

export interface RetriesConfig {
  /** Attempts beyond the first. */
  readonly max: number
  /** ms */
  readonly base?: number | undefined
  /** ms */
  readonly cap?: number | undefined
}

const retriesFields = struct(
  {
    max: required(
      integer("how many attempts may follow the first", 0, 10),
      "say how many attempts may follow the first"
    ),
    base: optional(duration("the longest pause before the first retry")),
    cap: optional(duration("the longest pause"))
  },
  "the retries inside one target"
)

export const retries: Decoder<RetriesConfig> = (at) => {
  const found = retriesFields(at)
  if (found?.base === undefined || found.cap === undefined || found.base <= found.cap) return found
  return Cursor.fault(at, "base must not be longer than cap")
}
