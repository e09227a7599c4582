/**
 * A process under load that waits to be killed: breakers that open and recover, breakers that only count, calls that
 * commit their answers, and telemetry. It writes down what it was told, line by line, into the file that is its standard
 * output; what is written there outlives it.
 */
import { writeSync } from "node:fs"
import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
import * as Registry from "@switchgear/breaker/CircuitBreakerRegistry"
import * as Claim from "@switchgear/core/Claim"
import * as Policy from "@switchgear/core/Policy"
import { IdempotencyStore } from "@switchgear/routing/IdempotencyStore"
import { TelemetryStore } from "@switchgear/routing/TelemetryStore"
import * as RedisStore from "@switchgear/store/redis"
import * as Sqlite from "@switchgear/store/sqlite"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Random from "effect/Random"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { rowOf } from "../support/rows.js"
import { type Line, names, who } from "./line.js"

const [kind = "", place = "", life = "0"] = process.argv.slice(2)

const say = (line: Line): void => void writeSync(1, `${JSON.stringify(line)}\n`)

/** These open and recover all the time. */
const restless = Policy.consecutive({ failureThreshold: 3, cooldown: { base: 300 } })
/** These stay open for longer than a process lives. */
const slow = Policy.consecutive({ failureThreshold: 3, cooldown: { base: "20 seconds" } })
/** These only count. */
const counting = Policy.rolling({
  window: 600_000,
  bucketPeriod: 1_000,
  minSamples: 1_000_000_000,
  failureRateThreshold: 1
})

const policies = Object.fromEntries([
  ...names.slow.map((name) => [name, slow]),
  ...names.counting.map((name) => [name, counting])
])

const fails = (breaker: CircuitBreaker.CircuitBreaker) =>
  Effect.ignore(CircuitBreaker.guard(Effect.fail("down"), breaker))

const load = (registry: Registry.Service) =>
  Effect.gen(function* () {
    const restless = yield* Effect.forEach(names.restless, registry.get)
    const slow = yield* Effect.forEach(names.slow, registry.get)
    const counting = yield* Effect.forEach(names.counting, registry.get)
    const call = (breaker: CircuitBreaker.CircuitBreaker, chance: number) =>
      Effect.flatMap(Random.next, (luck) =>
        luck < chance ? fails(breaker) : Effect.ignore(CircuitBreaker.guard(Effect.void, breaker))
      )
    const round = Effect.gen(function* () {
      for (const breaker of restless) yield* call(breaker, 0.6)
      for (const breaker of slow) yield* call(breaker, 0.5)
      for (const breaker of counting) {
        yield* fails(breaker)
        const { failures } = yield* CircuitBreaker.view(breaker)
        say({ _tag: "Count", breaker: breaker.name, at: yield* Clock.currentTimeMillis, failures: failures ?? 0 })
      }
      yield* Effect.sleep(2)
    })
    return yield* Effect.forever(round)
  })

const answers = Effect.gen(function* () {
  const store = yield* IdempotencyStore
  let next = 0
  const one = Effect.gen(function* () {
    const key = `${life}-${next++}`
    const claim = { org: "acme", key }
    if ((yield* store.claim(claim, who, Claim.defaults))._tag !== "Claimed") return
    const answer = {
      _tag: "Answer",
      stream: false,
      status: 200,
      headers: {},
      body: new TextEncoder().encode(key),
      model: "m",
      provider: "p",
      substituted: false
    } as const
    if ((yield* store.commit(claim, who, answer, Claim.defaults)) === "Committed") say({ _tag: "Committed", key })
    yield* Effect.sleep(5)
  })
  return yield* Effect.forever(Effect.ignore(one))
})

const rows = Effect.gen(function* () {
  const store = yield* TelemetryStore
  let next = 0
  const one = Effect.gen(function* () {
    const batch = `${life}-${next++}`
    yield* store.append(Array.from({ length: 20 }, (_, i) => rowOf(`${batch}-${i}`)))
    say({ _tag: "Appended", batch })
    yield* Effect.sleep(10)
  })
  return yield* Effect.forever(Effect.ignore(one))
})

const announced = (registry: Registry.Service) =>
  Stream.runForEach(registry.changes, ({ breaker, era, from, to }) =>
    Effect.gen(function* () {
      const found = yield* registry.find(breaker)
      const view = found._tag === "Some" ? yield* CircuitBreaker.view(found.value) : undefined
      say({
        _tag: "Announced",
        breaker,
        from,
        to,
        era,
        // Of that very Open: it may have moved on.
        until: view?.state === "Open" && view.era === era ? view.until : undefined
      })
    })
  )

const life1 = Effect.gen(function* () {
  const registry = yield* Registry.makeStored({ policy: restless, policies })
  for (const name of [...names.restless, ...names.slow, ...names.counting]) {
    const { transitions, view } = yield* Effect.flatMap(registry.get(name), CircuitBreaker.status)
    say({
      _tag: "Found",
      breaker: name,
      at: yield* Clock.currentTimeMillis,
      state: view.state,
      until: view.until,
      failures: view.failures ?? 0,
      transitions: transitions.map(({ era, from, to }) => ({ era, from, to }))
    })
  }
  yield* Effect.fork(announced(registry))
  yield* Effect.yieldNow()
  say({ _tag: "Ready" })
  return registry
})

const main =
  kind === "sqlite"
    ? Effect.flatMap(life1, (registry) =>
        Effect.all([load(registry), answers, rows], { concurrency: "unbounded", discard: true })
      ).pipe(Effect.scoped, Effect.provide(Sqlite.layer({ path: place })))
    : Effect.flatMap(life1, (registry) =>
        Effect.all([load(registry), answers], { concurrency: "unbounded", discard: true })
      ).pipe(
        Effect.scoped,
        Effect.provide(
          Layer.suspend(() =>
            RedisStore.layer({
              url: Redacted.make("redis://127.0.0.1:6379"),
              prefix: place,
              // A store that is too late is a store that is away: another matter.
              connectTimeout: 30_000,
              commandTimeout: 30_000
            })
          )
        )
      )

await Effect.runPromise(main)
