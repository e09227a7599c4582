import { describe } from "@effect/vitest"
import { CircuitBreakerStore } from "@switchgear/breaker/CircuitBreakerStore"
import * as Claim from "@switchgear/core/Claim"
import { Budgets } from "@switchgear/routing/Budget"
import { IdempotencyStore } from "@switchgear/routing/IdempotencyStore"
import { ModelPolicies } from "@switchgear/routing/ModelPolicies"
import { TelemetryStore } from "@switchgear/routing/TelemetryStore"
import * as PostgresStore from "@switchgear/store/postgres"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { afterAll, beforeAll } from "vitest"
import * as losses from "../support/losses.js"
import { create, drop } from "../support/postgres.js"
import { rowOf } from "../support/rows.js"

const database = `switchgear_loss_${process.pid}`

beforeAll(() => create(database), 60_000)
afterAll(() => drop(database), 60_000)

const at = (queryTimeout: number) => (port: number) =>
  PostgresStore.layer({
    url: Redacted.make(`postgres://postgres@127.0.0.1:${port}/${database}`),
    queryTimeout,
    connectTimeout: queryTimeout,
    maxConnections: 4
  })

describe("PostgreSQL", () => {
  losses.telemetry(5_432, at(10_000))
  losses.claims(5_432, at(10_000))
  losses.bounded(5_432, at(1_000), [
    Effect.flatMap(CircuitBreakerStore, (store) => store.modify("a", (stored) => [1, stored])),
    Effect.flatMap(CircuitBreakerStore, (store) => store.entries),
    Effect.flatMap(CircuitBreakerStore, (store) => store.remove("a")),
    Effect.flatMap(IdempotencyStore, (store) =>
      store.claim({ org: "acme", key: "a" }, { owner: "o", fingerprint: "f" }, Claim.defaults)
    ),
    Effect.flatMap(TelemetryStore, (store) => store.append([rowOf("a")])),
    Effect.flatMap(TelemetryStore, (store) => store.aggregate(1_000)),
    Effect.flatMap(ModelPolicies, (store) => store.putClient({ keyHash: "h", org: "acme" })),
    Effect.flatMap(ModelPolicies, (store) => store.rules),
    Effect.flatMap(Budgets, (store) => store.charge("acme", 1_000, { tokens: 1, usd: 1 }))
  ])
})
