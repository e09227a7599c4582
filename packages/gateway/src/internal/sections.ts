import type * as Fallback from "@switchgear/core/Fallback"
import { recommended } from "@switchgear/core/Fallback"
import type * as Policy from "@switchgear/core/Policy"
import { fallback } from "./coreDecoder.js"
import { array, type Decoder, duration, optional, required, struct, withDefault } from "./decoder.js"
import { type ModelConfig, models } from "./modelSection.js"
import { type ProviderConfig, provider } from "./providerSection.js"
import { baseUrl, host, port, size } from "./values.js"

// One table per section: a key that comes to the file is a row here, or in the section's own file.

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

export interface ByoConfig {
  /** The upstreams a caller may bring along; undefined: any that is https and public (ROUTING W7). */
  readonly allowedBaseUrls: ReadonlyArray<string> | undefined
}

const byo: Decoder<ByoConfig> = struct(
  { allowedBaseUrls: optional(array(baseUrl, "addresses")) },
  "what callers may bring along"
)

export interface RootConfig {
  readonly server: ServerConfig
  readonly providers: ReadonlyArray<ProviderConfig>
  readonly models: ReadonlyArray<ModelConfig>
  readonly fallback: Fallback.Settings
  readonly byo: ByoConfig
}

/** The whole file. */
export const root = (hosted: Policy.Policy): Decoder<RootConfig> =>
  struct(
    {
      server: withDefault(server, defaultServer),
      providers: required(array(provider(hosted), "providers", { min: 1 }), "list at least one provider"),
      models: required(models, "list at least one model"),
      fallback: withDefault(fallback, recommended),
      byo: withDefault(byo, { allowedBaseUrls: undefined })
    },
    "the gateway's configuration"
  )
