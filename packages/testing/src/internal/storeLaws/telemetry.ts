import { type Row, type Service, samplesOf, TelemetryStore } from "@switchgear/routing/TelemetryStore"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { fresh, type Law, same } from "./law.js"

const kinds = ["served", "served", "served", "timeout", "server_error", "client_fault"]

const rowOf = (id: string, i: number, at: number): Row => {
  const kind = kinds[i % kinds.length] ?? "served"
  const served = kind === "served" || i % 2 === 0
  const substituted = served && kind !== "served"
  return {
    id: `${id}-${i}`,
    at,
    org: "acmé\u0000",
    requestedModel: "gpt-4o",
    servedModel: served ? "gpt-4o" : null,
    servedProvider: served ? "openai" : null,
    outcome: served ? "success" : kind,
    status: served ? 200 : 502,
    attempts: [
      { model: "gpt-4o", provider: `provider-${i % 5}`, kind, latency: i % 7 === 0 ? null : i, state: "Closed" }
    ],
    latency: i,
    timeToFirstOutput: i % 3 === 0 ? null : i / 2,
    tokensIn: i,
    tokensOut: null,
    cost: i / 1_000,
    originalModel: substituted ? "gpt-4o" : null,
    fallbackModel: substituted ? "llama" : null,
    fallbackReason: substituted ? kind : "",
    replayed: i % 11 === 0,
    cached: false,
    byo: i % 13 === 0,
    notes: i % 17 === 0 ? ["idempotency_unavailable"] : []
  }
}

const law = (
  name: string,
  check: (store: Service, id: string, now: number) => Law<never>["check"]
): Law<TelemetryStore> => ({
  name,
  check: Effect.gen(function* () {
    const store = yield* TelemetryStore
    yield* store.purge(-3_600_000)
    const now = yield* Clock.currentTimeMillis
    yield* Effect.ensuring(check(store, yield* fresh, now), Effect.ignore(store.purge(-3_600_000)))
  })
})

const byProvider = (samples: ReturnType<typeof samplesOf>) =>
  [...samples].sort((a, b) => (a.provider < b.provider ? -1 : 1))

export const laws: ReadonlyArray<Law<TelemetryStore>> = [
  law("rows come back as they were, the latest first", (store, id, now) =>
    Effect.gen(function* () {
      const rows = Array.from({ length: 40 }, (_, i) => rowOf(id, i, now - 1_000 + i))
      yield* store.append(rows.slice(0, 25))
      yield* store.append(rows.slice(25))
      yield* store.append([])
      yield* same("recent", yield* store.recent(30), rows.slice(10).reverse())
      yield* same("none", yield* store.recent(0), [])
    })
  ),
  law("the aggregate is what samplesOf says of the rows in the window", (store, id, now) =>
    Effect.gen(function* () {
      // None of them is near the window's edge, so that a slow machine gives the same sums.
      const age = (i: number): number => (i < 600 ? i * 1_000 : 1_200_000 + i * 1_000)
      const rows = Array.from({ length: 1_200 }, (_, i) => rowOf(id, i, now - age(i)))
      yield* store.append(rows)
      const expected = samplesOf(rows.slice(0, 600))
      yield* same("aggregate", byProvider(yield* store.aggregate(900_000)), byProvider(expected))
    })
  ),
  law("purge drops what is older and says how much", (store, id, now) =>
    Effect.gen(function* () {
      yield* store.append(Array.from({ length: 20 }, (_, i) => rowOf(id, i, now - i * 60_000)))
      yield* same("gone", yield* store.purge(570_000), 10)
      yield* same("left", (yield* store.recent(100)).length, 10)
    })
  )
]
