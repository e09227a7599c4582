import type * as Claim from "@switchgear/core/Claim"
import type { Failure } from "@switchgear/failures/Failure"
import type { Stored } from "@switchgear/routing/IdempotencyStore"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"

const { Boolean: Bool, Literal, Number: Num, String: Str, Struct, Union } = Schema

const headers = Schema.Record({ key: Str, value: Str })
const body = Schema.Uint8ArrayFromBase64
const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })

const FailureSchema = Struct({
  kind: Literal(
    "rate_limit",
    "quota_exhausted",
    "overloaded",
    "server_error",
    "timeout",
    "network_error",
    "auth",
    "model_unavailable",
    "context_length",
    "content_filter",
    "client_fault",
    "cancelled",
    "circuit_open",
    "unknown"
  ),
  scope: Literal("provider", "provider+model", "host", "account", "project", "key", "key+model", "model", "none"),
  status: optional(Num),
  retryAfter: optional(Num),
  code: optional(Str),
  message: Str
}) satisfies Schema.Schema<Failure, Failure>

const StoredSchema = Union(
  Struct({
    _tag: Literal("Answer"),
    stream: Bool,
    status: Num,
    headers,
    body,
    model: Str,
    provider: Str,
    substituted: Bool
  }),
  Struct({
    _tag: Literal("Failed"),
    model: Str,
    provider: Str,
    failure: FailureSchema,
    response: Schema.optional(Struct({ status: Num, headers, body }))
  })
)

const owned = { owner: Str, fingerprint: Str, until: Num }

const Record = Schema.parseJson(
  Union(
    Struct({ _tag: Literal("Pending"), ...owned }),
    Struct({ _tag: Literal("Completed"), ...owned, result: StoredSchema })
  )
)

const encode = Schema.encodeSync(Record)
const decode = Schema.decodeUnknownEither(Record)

/** A claim's record as JSON text, bodies in base64. */
export const encodeRecord = (record: NonNullable<Claim.Record<Stored>>): string => encode(record)

/** What cannot be read is nothing: the call is made again. */
export const decodeRecord = (text: string): Claim.Record<Stored> => Either.getOrUndefined(decode(text))
