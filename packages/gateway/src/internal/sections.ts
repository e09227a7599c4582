import * as Dedupe from "@switchgear/core/Dedupe"
import * as Fallback from "@switchgear/core/Fallback"
import { presets, type Settings } from "@switchgear/routing/Presets"
import * as Duration from "effect/Duration"
import * as Redacted from "effect/Redacted"
import { fallback } from "./coreDecoder.js"
import * as Cursor from "./cursor.js"
import { array, type Decoder, duration, literal, optional, required, struct, withDefault } from "./decoder.js"
import { type ModelConfig, models } from "./modelSection.js"
import { type PipelineConfig, pipelineFields } from "./pipelineSections.js"
import { type ProviderConfig, provider } from "./providerSection.js"
import {
  defaultStore,
  type PolicyStoreConfig,
  policyStore,
  type StoreConfig,
  store,
  type TelemetryConfig,
  telemetry,
  telemetryOf
} from "./storeSections.js"
import { baseUrl, host, isLoopback, port, secret, size } from "./values.js"

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
  /** What `/admin/*` is asked with; undefined: it answers only callers on the gateway's own machine. */
  readonly adminToken: Redacted.Redacted<string> | undefined
}

const defaultServer: ServerConfig = {
  host: "127.0.0.1",
  port: 8787,
  drain: 30_000,
  holdBack: 25_000,
  bodyLimit: 10 * 1024 * 1024,
  adminToken: undefined
}

const adminToken: Decoder<Redacted.Redacted<string>> = (at) => {
  const token = secret(at)
  if (token === undefined || Redacted.value(token).length >= 16) return token
  return Cursor.fault(at, "has fewer than 16 characters and could be guessed; make one with: openssl rand -hex 32")
}

const server: Decoder<ServerConfig> = struct(
  {
    host: withDefault(host, defaultServer.host),
    port: withDefault(port, defaultServer.port),
    drain: withDefault(duration("the time running calls get at the end"), defaultServer.drain),
    holdBack: withDefault(duration("the time before a held-back stream sends a comment"), defaultServer.holdBack),
    bodyLimit: withDefault(size, defaultServer.bodyLimit),
    adminToken: optional(adminToken)
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

export interface RootConfig extends PipelineConfig {
  readonly server: ServerConfig
  readonly providers: ReadonlyArray<ProviderConfig>
  readonly models: ReadonlyArray<ModelConfig>
  readonly fallback: Fallback.Settings
  readonly byo: ByoConfig
  readonly store: StoreConfig
  readonly telemetry: TelemetryConfig
  /** undefined: in the store, where that can be. */
  readonly policyStore: PolicyStoreConfig | undefined
}

const presetNames = ["recommended", "ibex", "nrLlm", "omniRoute"] as const
const preset = literal("preset", ...presetNames)

/** What the file's `preset` names: it is read first, because what other keys leave out is the preset's. */
const presetOf = (at: Cursor.Cursor): Settings => {
  const given = Cursor.entries(at)?.find(({ key }) => key === "preset")?.value
  const name = given === undefined ? undefined : presetNames.find((each) => each === Cursor.scalar(given))
  return presets[name ?? "recommended"]
}

const walkOf = (settings: Settings): keyof typeof Fallback.presets =>
  settings.fallback === Fallback.ibex ? "ibex" : settings.fallback === Fallback.nrLlm ? "nrLlm" : "recommended"

/** The whole file. */
export const root: Decoder<RootConfig> = (at) => {
  const settings = presetOf(at)
  const found = struct(
    {
      preset: optional(preset),
      server: withDefault(server, defaultServer),
      providers: required(array(provider(settings.breaker), "providers", { min: 1 }), "list at least one provider"),
      models: required(models, "list at least one model"),
      fallback: withDefault(fallback(walkOf(settings)), settings.fallback),
      byo: withDefault(byo, { allowedBaseUrls: undefined }),
      store: withDefault(store, defaultStore),
      telemetry: optional(telemetry),
      policyStore: optional(policyStore),
      ...pipelineFields(settings, Duration.toMillis)
    },
    "the gateway's configuration"
  )(at)
  if (found === undefined) return undefined
  const { dedupe, preset: _, telemetry: kept, ...rest } = found
  // What is kept in a store may hold clients; whether it does is known when it is open.
  if (!isLoopback(rest.server.host) && rest.clients.length === 0 && !keepsClients(rest)) {
    at.file.reading.faults.push({
      ...Cursor.below(at, ["server", "host"]),
      message:
        "is an address that others reach, and without clients everyone could use the providers' keys: list clients " +
        '("switchgear keys add ORG" makes one), or listen on 127.0.0.1'
    })
    return undefined
  }
  const counting = dedupe === "off" ? undefined : dedupe
  if (counting !== undefined && !keepsRates(at, rest.providers)) return undefined
  if (rest.store.kind === "memory" && !staysLocal(at, rest.providers)) return undefined
  return { ...rest, dedupe: counting, telemetry: kept ?? telemetryOf(rest.store) }
}

const keepsClients = ({ policyStore, store }: Pick<RootConfig, "policyStore" | "store">): boolean =>
  policyStore !== undefined || store.kind === "sqlite" || store.kind === "postgres"

const staysLocal = (at: Cursor.Cursor, providers: ReadonlyArray<ProviderConfig>): boolean => {
  let good = true
  for (const { breakers, name } of providers) {
    const kept = breakers.find(({ mode }) => mode !== undefined && mode !== "local")
    if (kept === undefined) continue
    good = false
    at.file.reading.faults.push({
      ...Cursor.below(at, ["store"]),
      message: `is missing, and the breaker of provider "${name}" is to be ${kept.mode}: name a store, or take its mode out`
    })
  }
  return good
}

/** A rate is of all outcomes: what counts once would hide it (STORES, "Recording an outcome"). */
const keepsRates = (at: Cursor.Cursor, providers: ReadonlyArray<ProviderConfig>): boolean => {
  const rolling = providers.filter(({ breakers }) => breakers.some(({ policy: { trip } }) => Dedupe.check(trip)))
  for (const { name } of rolling) {
    at.file.reading.faults.push({
      ...Cursor.below(at, ["dedupe"]),
      message: `counts the failures of a moment once, which would hide the rate that the breaker of provider "${name}" trips by: give it a Consecutive trip, or set dedupe: false`
    })
  }
  return rolling.length === 0
}
