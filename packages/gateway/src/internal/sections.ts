import { recommended } from "@switchgear/core/Fallback"
import type * as Policy from "@switchgear/core/Policy"
import type * as Redacted from "effect/Redacted"
import { fallback, policy } from "./coreDecoder.js"
import * as Cursor from "./cursor.js"
import {
  array,
  type Decoder,
  declares,
  duration,
  literal,
  mentions,
  optional,
  required,
  struct,
  text,
  withDefault
} from "./decoder.js"
import { list } from "./faults.js"
import { baseUrl, headerSafe, host, port, secret, size } from "./values.js"

// One table per section: a key that comes to the file is a row here.

export interface ServerConfig {
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  /** ms that running calls get at the end (ROUTING W8). */
  readonly drain: number
  /** ms before a stream that is held back sends its first comment (ROUTING W9). */
  readonly holdBack: number
  /** bytes of a request's body (ROUTING W5). */
  readonly bodyLimit: number
}

const defaultServer: ServerConfig = {
  host: "127.0.0.1",
  port: 8787,
  drain: 30_000,
  holdBack: 25_000,
  bodyLimit: 10 * 1024 * 1024
}

const server: Decoder<ServerConfig> = struct(
  {
    host: withDefault(host, defaultServer.host),
    port: withDefault(port, defaultServer.port),
    drain: withDefault(duration("the time running calls get at the end"), defaultServer.drain),
    holdBack: withDefault(duration("the time before a held-back stream sends a comment"), defaultServer.holdBack),
    bodyLimit: withDefault(size, defaultServer.bodyLimit)
  },
  "the server"
)

export interface BreakerConfig {
  readonly policy: Policy.Policy
}

const breaker = (hosted: Policy.Policy): Decoder<BreakerConfig> =>
  struct({ policy: withDefault(policy, hosted) }, "a breaker")

/** Providers that speak OpenAI's wire; the kind says whose errors they are. */
const kinds = ["openai-compatible", "openai", "openrouter"] as const

export type ProviderKind = (typeof kinds)[number]

export interface TimeoutsConfig {
  readonly connect?: number | undefined
  readonly firstOutput?: number | undefined
  readonly idle?: number | undefined
  readonly total?: number | undefined
}

export interface ProviderConfig {
  readonly name: string
  readonly kind: ProviderKind
  readonly baseUrl: string
  readonly apiKey: Redacted.Redacted<string> | undefined
  /** ms; limits left out are the provider's defaults. */
  readonly timeouts: TimeoutsConfig
  readonly breaker: BreakerConfig
}

const timeouts: Decoder<TimeoutsConfig> = struct(
  {
    connect: optional(duration("a limit")),
    firstOutput: optional(duration("a limit")),
    idle: optional(duration("a limit")),
    total: optional(duration("a limit"))
  },
  "the limits of a call"
)

const provider = (hosted: Policy.Policy): Decoder<ProviderConfig> =>
  struct(
    {
      name: required(headerSafe(declares("provider")), "give the provider a name that models refer to"),
      kind: required(literal("kind of provider", ...kinds), `write one of ${list(kinds)}`),
      baseUrl: required(baseUrl, 'give its address, such as "https://api.openai.com/v1"'),
      apiKey: optional(secret),
      timeouts: withDefault(timeouts, {}),
      breaker: withDefault(breaker(hosted), { policy: hosted })
    },
    "a provider"
  )

export interface ModelConfig {
  /** What clients ask for. */
  readonly name: string
  readonly provider: string
  /** What the provider knows it by. */
  readonly upstream: string
  readonly fallbackChain: ReadonlyArray<string>
}

/** ROUTING F2: at most 8 entries; blank and repeated ones are dropped. */
const chain: Decoder<ReadonlyArray<string>> = (at) => {
  const entry: Decoder<string> = (item) => {
    const value = Cursor.scalar(item)
    return value === null || (typeof value === "string" && value.trim() === "") ? "" : mentions("model")(item)
  }
  const names = array(entry, "models", { max: 8 })(at)
  return names === undefined ? undefined : [...new Set(names)].filter((name) => name !== "")
}

const modelFields = struct(
  {
    name: required(headerSafe(declares("model")), "give the name that clients ask for"),
    provider: required(mentions("provider"), "name the provider that serves it"),
    upstream: optional(text("the name the provider knows the model by")),
    fallbackChain: withDefault(chain, [])
  },
  "a model"
)

const model: Decoder<ModelConfig> = (at) => {
  const fields = modelFields(at)
  return fields === undefined ? undefined : { ...fields, upstream: fields.upstream ?? fields.name }
}

/** The whole file. */
export const root = (hosted: Policy.Policy) =>
  struct(
    {
      server: withDefault(server, defaultServer),
      providers: required(array(provider(hosted), "providers", { min: 1 }), "list at least one provider"),
      models: required(array(model, "models", { min: 1 }), "list at least one model"),
      fallback: withDefault(fallback, recommended)
    },
    "the gateway's configuration"
  )
