import type { Mode } from "@switchgear/breaker/CircuitBreakerRegistry"
import * as Redacted from "effect/Redacted"
import * as Cursor from "./cursor.js"
import { type Decoder, duration, literal, optional, required, struct, text, withDefault } from "./decoder.js"
import { secret } from "./values.js"

export const modes = ["local", "durable", "shared"] as const

export const mode: Decoder<Mode> = literal("mode of a breaker", ...modes)

export interface StoreConfig {
  readonly kind: "memory" | "sqlite" | "postgres" | "redis"
  /** Of SQLite: the file. */
  readonly path: string | undefined
  /** Of PostgreSQL and Redis: where they are, credentials and all. */
  readonly url: Redacted.Redacted<string> | undefined
  /** Of PostgreSQL the schema, of Redis what all keys begin with: for several gateways that share a server and nothing else. */
  readonly namespace: string
  /** Of breakers that have none of their own. */
  readonly mode: Mode
  /** What shared breakers do while the store is away. */
  readonly onStoreFailure: "local" | "closed"
  /** ms until what changed elsewhere is known here, if nobody told of it. */
  readonly pollInterval: number
}

export interface TelemetryConfig {
  readonly kind: "memory" | "sqlite" | "postgres" | "clickhouse"
  readonly path: string | undefined
  readonly url: Redacted.Redacted<string> | undefined
  readonly namespace: string
  /** ms that calls are kept; undefined: for ever, as far as this goes. */
  readonly retention: number | undefined
}

export interface PolicyStoreConfig {
  readonly kind: "sqlite" | "postgres"
  readonly path: string | undefined
  readonly url: Redacted.Redacted<string> | undefined
  readonly namespace: string
}

type Kind = StoreConfig["kind"] | TelemetryConfig["kind"]

const addresses: Readonly<Record<Exclude<Kind, "memory" | "sqlite">, readonly [test: RegExp, example: string]>> = {
  postgres: [/^postgres(?:ql)?:\/\//, "postgres://user:password@host:5432/database"],
  redis: [/^rediss?:\/\//, "redis://host:6379"],
  clickhouse: [/^https?:\/\//, "http://user:password@host:8123/database"]
}

interface Placed {
  readonly kind: Kind
  readonly path: string | undefined
  readonly url: Redacted.Redacted<string> | undefined
}

/** Each kind has its own way to say where it is. An address is never shown: it may hold a password. */
const checkPlace = (at: Cursor.Cursor, { kind, path, url }: Placed): boolean => {
  const place = (key: string) => Cursor.entries(at)?.find((entry) => entry.key === key)?.value ?? at
  if (kind === "memory" || kind === "sqlite") {
    if (url !== undefined) Cursor.fault(place("url"), `is not for the kind ${kind}; remove it`)
    if (kind === "sqlite" && path === undefined) Cursor.fault(at, "of kind sqlite needs the path of its file")
    if (kind === "memory" && path !== undefined) Cursor.fault(place("path"), "is not for the kind memory; remove it")
    return url === undefined && (kind === "sqlite") === (path !== undefined)
  }
  const [test, example] = addresses[kind]
  if (path !== undefined) Cursor.fault(place("path"), `is not for the kind ${kind}; remove it`)
  if (url === undefined) Cursor.fault(at, `of kind ${kind} needs a url such as "${example}"`)
  else if (!test.test(Redacted.value(url))) {
    Cursor.fault(place("url"), `must be an address such as "${example}"`)
    return false
  }
  return path === undefined && url !== undefined
}

const namespace: Decoder<string> = (at) => {
  const value = text("a name such as switchgear")(at)
  if (value === undefined || /^[a-z][a-z0-9_]{0,62}$/.test(value)) return value
  return Cursor.fault(at, "must be a letter and up to 62 more of a-z, 0-9 and _")
}

const storeFields = struct(
  {
    kind: required(
      literal("kind of store", "memory", "sqlite", "postgres", "redis"),
      "write one of memory, sqlite, postgres, redis"
    ),
    path: optional(text("the path of a file")),
    url: optional(secret),
    namespace: withDefault(namespace, "switchgear"),
    mode: optional(mode),
    onStoreFailure: withDefault(literal("way to go on without the store", "local", "closed"), "local"),
    pollInterval: withDefault(duration("the time until what changed elsewhere is known"), 1000)
  },
  "the store"
)

export const defaultStore: StoreConfig = {
  kind: "memory",
  path: undefined,
  url: undefined,
  namespace: "switchgear",
  mode: "local",
  onStoreFailure: "local",
  pollInterval: 1000
}

/** A file is one process's; what others reach is for many. */
const modeOf: Readonly<Record<StoreConfig["kind"], Mode>> = {
  memory: "local",
  sqlite: "durable",
  postgres: "shared",
  redis: "shared"
}

export const store: Decoder<StoreConfig> = (at) => {
  const found = storeFields(at)
  if (found === undefined || !checkPlace(at, found)) return undefined
  const { kind, mode = modeOf[kind] } = found
  if (kind === "memory" && mode !== "local") {
    return Cursor.fault(at, `keeps nothing that is ${mode}: choose another kind, or leave mode out`)
  }
  return { ...found, mode }
}

const telemetryFields = struct(
  {
    kind: required(
      literal("kind of store", "memory", "sqlite", "postgres", "clickhouse"),
      "write one of memory, sqlite, postgres, clickhouse"
    ),
    path: optional(text("the path of a file")),
    url: optional(secret),
    namespace: withDefault(namespace, "switchgear"),
    retention: optional(duration("the time that calls are kept"))
  },
  "where telemetry is kept"
)

export const telemetry: Decoder<TelemetryConfig> = (at) => {
  const found = telemetryFields(at)
  return found !== undefined && checkPlace(at, found) ? found : undefined
}

const policyStoreFields = struct(
  {
    kind: required(literal("kind of store", "sqlite", "postgres"), "write one of sqlite, postgres"),
    path: optional(text("the path of a file")),
    url: optional(secret),
    namespace: withDefault(namespace, "switchgear")
  },
  "where policies, clients and budgets are kept"
)

export const policyStore: Decoder<PolicyStoreConfig> = (at) => {
  const found = policyStoreFields(at)
  return found !== undefined && checkPlace(at, found) ? found : undefined
}

/** Beside the breakers, where that can be; the last calls in memory otherwise. */
export const telemetryOf = ({ kind, namespace, path, url }: StoreConfig): TelemetryConfig =>
  kind === "sqlite" || kind === "postgres"
    ? { kind, path, url, namespace, retention: undefined }
    : { kind: "memory", path: undefined, url: undefined, namespace, retention: undefined }
