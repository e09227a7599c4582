import type { Row } from "@switchgear/routing/TelemetryStore"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"

const { Array: List, Boolean: Bool, NullOr, Number: Num, String: Str, Struct } = Schema

const RowSchema: Schema.Schema<Row> = Struct({
  id: Str,
  at: Num,
  org: Str,
  requestedModel: Str,
  servedModel: NullOr(Str),
  servedProvider: NullOr(Str),
  outcome: Str,
  status: Num,
  attempts: List(Struct({ model: Str, provider: Str, kind: Str, latency: NullOr(Num), state: NullOr(Str) })),
  latency: Num,
  timeToFirstOutput: NullOr(Num),
  tokensIn: NullOr(Num),
  tokensOut: NullOr(Num),
  cost: NullOr(Num),
  originalModel: NullOr(Str),
  fallbackModel: NullOr(Str),
  fallbackReason: Str,
  replayed: Bool,
  cached: Bool,
  byo: Bool,
  notes: List(Str)
})

const decode = Schema.decodeUnknownEither(Schema.parseJson(RowSchema))

/** A row of telemetry from its JSON text; `undefined` if it is none. */
export const decodeRow = (text: string): Row | undefined => Either.getOrUndefined(decode(text))
