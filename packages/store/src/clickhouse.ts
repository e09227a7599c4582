/**
 * Telemetry in ClickHouse, for those who ask it questions of their own. Needs `@clickhouse/client`; any server from 18.16
 * on will do.
 *
 * The table `llm_traces` is made on first use: a call a row, with `original_model` and `fallback_model` (null without a
 * substitution) and `fallback_reason`. A batch that is sent twice, as the answer to the first was lost, is there once for
 * a query with `FINAL`.
 *
 * *Gotchas.* Windows and ages are cut to the server's second. `purge` is a mutation, which rewrites a table's parts: once
 * an hour is often enough.
 *
 * @since 0.1.0
 */
import { TelemetryStore } from "@switchgear/routing/TelemetryStore"
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as client from "./internal/clickhouse/client.js"
import * as telemetry from "./internal/clickhouse/telemetry.js"

/**
 * Where it is, and how long to wait for it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** `http://` or `https://`, with user, password and `/database` where needed. */
  readonly url: Redacted.Redacted
  /** ms to wait for an answer. No call waits for it. Default 5 000. */
  readonly requestTimeout?: number | undefined
}

/**
 * Opens the store; closed with the layer. Starting does not need the server.
 *
 * @since 0.1.0
 * @category layers
 * @example
 * ```ts
 * import * as Telemetry from "@switchgear/routing/Telemetry"
 * import { TelemetryStore } from "@switchgear/routing/TelemetryStore"
 * import * as ClickHouseStore from "@switchgear/store/clickhouse"
 * import * as Effect from "effect/Effect"
 * import * as Redacted from "effect/Redacted"
 *
 * const Store = ClickHouseStore.layer({ url: Redacted.make("http://127.0.0.1:8123") }) // Layer<TelemetryStore>
 * export const telemetry = Effect.flatMap(TelemetryStore, (store) =>
 *   Telemetry.make({ store, retention: "30 days" })).pipe(Effect.provide(Store))
 * ```
 */
export const layer = ({ requestTimeout = 5_000, url }: Options): Layer.Layer<TelemetryStore> =>
  Layer.scoped(TelemetryStore, Effect.map(client.make(Redacted.value(url), requestTimeout), telemetry.make))

/**
 * {@link layer}, from configuration.
 *
 * @since 0.1.0
 * @category layers
 * @example
 * ```ts
 * import * as ClickHouseStore from "@switchgear/store/clickhouse"
 * import * as Config from "effect/Config"
 *
 * export const Store = ClickHouseStore.layerConfig({ url: Config.redacted("CLICKHOUSE_URL") })
 * ```
 */
export const layerConfig = (options: Config.Config.Wrap<Options>): Layer.Layer<TelemetryStore, ConfigError> =>
  Layer.unwrapEffect(Effect.map(Config.unwrap(options), layer))
