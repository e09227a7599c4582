import type { CircuitBreakerStore, StoreError } from "@switchgear/breaker/CircuitBreakerStore"
import { layerStoreMemory } from "@switchgear/breaker/CircuitBreakerStore"
import * as Budget from "@switchgear/routing/Budget"
import * as Cache from "@switchgear/routing/Cache"
import * as IdempotencyStore from "@switchgear/routing/IdempotencyStore"
import * as ModelPolicies from "@switchgear/routing/ModelPolicies"
import * as TelemetryStore from "@switchgear/routing/TelemetryStore"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import type { PolicyStoreConfig, StoreConfig, TelemetryConfig } from "./storeSections.js"

/** What a gateway keeps. */
export type Kept =
  | CircuitBreakerStore
  | ModelPolicies.ModelPolicies
  | IdempotencyStore.IdempotencyStore
  | TelemetryStore.TelemetryStore
  | Budget.Budgets

export type Stores = Kept | Cache.CacheStore

/** A store that could not be opened: which key of the configuration to look at, and what to do. */
export interface Refusal {
  readonly _tag: "Refusal"
  readonly path: string
  readonly message: string
}

const refusal = (path: string, message: string): Refusal => ({ _tag: "Refusal", path, message })

const memory: Layer.Layer<Kept> = Layer.mergeAll(
  layerStoreMemory,
  Layer.effect(ModelPolicies.ModelPolicies, Effect.orDie(ModelPolicies.makeMemory())),
  IdempotencyStore.layerMemory(),
  TelemetryStore.layerMemory(),
  Budget.layerMemory()
)

const drivers: Readonly<Record<string, string>> = {
  sqlite: "@effect/sql @effect/sql-libsql @libsql/client",
  postgres: "@effect/sql @effect/sql-pg pg",
  redis: "ioredis",
  clickhouse: "@clickhouse/client"
}

/** A backend's module, and with it its driver, only where it is asked for. */
const load = <M>(section: string, kind: string, module: () => Promise<M>): Effect.Effect<M, Refusal> =>
  Effect.tryPromise({
    try: module,
    catch: () => refusal(`${section}.kind`, `${kind} needs its driver: npm install ${drivers[kind] ?? ""}`)
  })

const opened =
  (section: string, place: string) =>
  (error: StoreError): Refusal => {
    switch (error.reason) {
      case "Full":
        return refusal(section, `${place} cannot be written: there is no room left where it is`)
      case "Corrupt":
        return refusal(section, `${place} holds what is not a store of ours, or one of a later version: name another`)
      case "Unavailable":
        return refusal(section, `${place} cannot be opened: may this user read and write it, and its folder?`)
    }
  }

const sqlite = (section: string, path: string, pollInterval: number) =>
  Layer.unwrapEffect(
    Effect.map(
      load(section, "sqlite", () => import("@switchgear/store/sqlite")),
      (module) =>
        Layer.mapError(module.layer({ path, pollInterval }), ({ message }) => refusal(`${section}.path`, message))
    )
  )

const postgres = (section: string, url: Redacted.Redacted, schema: string, pollInterval: number) =>
  Layer.unwrapEffect(
    Effect.map(
      load(section, "postgres", () => import("@switchgear/store/postgres")),
      (module) =>
        Layer.mapError(module.layer({ url, schema, pollInterval }), opened(`${section}.url`, "the database there"))
    )
  )

const nowhere = Redacted.make("")

const kept = ({ kind, namespace, path = "", pollInterval, url = nowhere }: StoreConfig): Layer.Layer<Kept, Refusal> => {
  switch (kind) {
    case "memory":
      return memory
    case "sqlite":
      return sqlite("store", path, pollInterval)
    case "postgres":
      return postgres("store", url, namespace, pollInterval)
    case "redis":
      // What Redis has no room for stays in this process.
      return Layer.merge(
        memory,
        Layer.unwrapEffect(
          Effect.map(
            load("store", "redis", () => import("@switchgear/store/redis")),
            (module) => module.layer({ url, prefix: `${namespace}:` })
          )
        )
      )
  }
}

const only = <E>(layer: Layer.Layer<Kept, E>): Layer.Layer<TelemetryStore.TelemetryStore, E> =>
  Layer.map(layer, Context.pick(TelemetryStore.TelemetryStore))

const telemetry = ({
  kind,
  namespace,
  path = "",
  url = nowhere
}: TelemetryConfig): Layer.Layer<TelemetryStore.TelemetryStore, Refusal> => {
  switch (kind) {
    case "memory":
      return TelemetryStore.layerMemory()
    case "sqlite":
      return only(sqlite("telemetry", path, 1000))
    case "postgres":
      return only(postgres("telemetry", url, namespace, 1000))
    case "clickhouse":
      return Layer.unwrapEffect(
        Effect.map(
          load("telemetry", "clickhouse", () => import("@switchgear/store/clickhouse")),
          (module) => module.layer({ url })
        )
      )
  }
}

type Policies = ModelPolicies.ModelPolicies | Budget.Budgets

const policies = (
  { kind, namespace, path = "", url = nowhere }: PolicyStoreConfig,
  pollInterval: number
): Layer.Layer<Policies, Refusal> =>
  Layer.map(
    kind === "sqlite"
      ? sqlite("policyStore", path, pollInterval)
      : postgres("policyStore", url, namespace, pollInterval),
    Context.pick(ModelPolicies.ModelPolicies, Budget.Budgets)
  )

const same = (store: StoreConfig, calls: TelemetryConfig): boolean =>
  store.kind === calls.kind &&
  store.path === calls.path &&
  store.namespace === calls.namespace &&
  (store.url === undefined ? "" : Redacted.value(store.url)) ===
    (calls.url === undefined ? "" : Redacted.value(calls.url))

/** The stores of a configuration. Telemetry is opened by itself only where it is kept elsewhere. */
export const layer = (config: {
  readonly store: StoreConfig
  readonly telemetry: TelemetryConfig
  readonly policyStore: PolicyStoreConfig | undefined
}): Layer.Layer<Stores, Refusal> => {
  const { policyStore, store, telemetry: calls } = config
  const all = Layer.merge(kept(store), Cache.layerMemory())
  const ruled = policyStore === undefined ? all : Layer.merge(all, policies(policyStore, store.pollInterval))
  return same(store, calls) ? ruled : Layer.merge(ruled, telemetry(calls))
}
