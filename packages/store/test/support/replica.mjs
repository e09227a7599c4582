// One process of a fleet, told by its parent what to do. Run on the built packages, as a server's are.
import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
import * as CircuitBreakerRegistry from "@switchgear/breaker/CircuitBreakerRegistry"
import * as FaultyClock from "@switchgear/clock/FaultyClock"
import * as LiveClock from "@switchgear/clock/LiveClock"
import * as Breaker from "@switchgear/core/Breaker"
import * as Policy from "@switchgear/core/Policy"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Runtime from "effect/Runtime"
import * as Stream from "effect/Stream"

const settings = JSON.parse(process.argv[2])
const decode = (input) => {
  const decoded = Policy.decode(input)
  if (decoded._tag === "Failure") throw new Error(JSON.stringify(decoded.faults))
  return decoded.policy
}

const store = async () => {
  const url = Redacted.make(settings.url)
  // The limits are those of a busy test machine.
  if (settings.backend === "redis") {
    const RedisStore = await import("@switchgear/store/redis")
    return RedisStore.layer({ url, prefix: settings.space, commandTimeout: 60_000, connectTimeout: 60_000 })
  }
  const PostgresStore = await import("@switchgear/store/postgres")
  return PostgresStore.layer({
    url,
    schema: settings.space,
    queryTimeout: 60_000,
    connectTimeout: 60_000,
    maxConnections: 3
  })
}

/** ms on a clock that all processes of a machine share. */
const time = () => Number(process.hrtime.bigint()) / 1e6

const pending = new Map()
let calls = 0

/** The upstream is the parent: it answers whether the call has succeeded. */
const upstream = (breaker) =>
  Effect.flatMap(CircuitBreaker.view(breaker), ({ era, state }) =>
    Effect.async((resume) => {
      const id = calls++
      pending.set(id, resume)
      process.send({ is: "call", breaker: breaker.name, id, era, state, at: time() })
    })
  )

const program = Effect.gen(function* () {
  const registry = yield* CircuitBreakerRegistry.CircuitBreakerRegistry
  const runtime = yield* Effect.runtime()
  const run = Runtime.runFork(runtime)
  const guarded = (breaker) => Effect.exit(CircuitBreaker.guard(upstream(breaker), breaker))
  const counts = { made: 0, refused: 0 }
  let timer

  const load = (breaker, rate) => {
    const started = time()
    let made = 0
    clearInterval(timer)
    timer = setInterval(() => {
      const due = Math.floor(((time() - started) * rate) / 1_000)
      // What a busy machine has missed is not made up for, or it never is.
      made = Math.max(made, due - 25)
      for (; made < due; made++) {
        counts.made++
        run(
          Effect.map(guarded(breaker), (exit) => {
            if (exit._tag === "Failure" && CircuitBreaker.findOpen(exit.cause) !== undefined) counts.refused++
          })
        )
      }
    }, 2)
  }

  yield* Effect.forkScoped(
    Stream.runForEach(registry.changes, (transition) =>
      Effect.gen(function* () {
        // What counts is not to have heard of it, but to refuse the next call; where it opens for good, or it is a probe.
        let refuses = false
        if (transition.breaker.startsWith("trip")) {
          const breaker = yield* registry.get(transition.breaker)
          refuses = (yield* Effect.exit(CircuitBreaker.guard(Effect.void, breaker)))._tag === "Failure"
        }
        process.send({ is: "transition", transition, refuses, at: time() })
      })
    )
  )
  yield* Effect.forkScoped(
    Stream.runForEach(registry.events, (event) => Effect.sync(() => process.send({ is: "event", event })))
  )
  yield* Effect.yieldNow()

  const handle = (message) => {
    switch (message.do) {
      case "get":
        return Effect.map(registry.get(message.name), () => process.send({ is: "done" }))
      case "load":
        return Effect.map(registry.get(message.name), (breaker) => load(breaker, message.rate))
      case "stop":
        return Effect.sync(() => {
          clearInterval(timer)
          process.send({ is: "stopped", ...counts })
        })
      case "trip":
        return Effect.gen(function* () {
          const breaker = yield* registry.get(message.name)
          const at = time()
          for (let index = 0; index < message.times; index++) {
            const permit = yield* CircuitBreaker.unsafeAcquire(breaker)
            yield* CircuitBreaker.report(permit, Breaker.failure("server_error"))
          }
          process.send({ is: "tripped", at })
        })
      case "call":
        return Effect.flatMap(registry.get(message.name), guarded)
      case "answer":
        return Effect.sync(() => {
          pending.get(message.id)?.(message.ok ? Effect.void : Effect.fail({ kind: "server_error" }))
          pending.delete(message.id)
        })
      default:
        return Effect.void
    }
  }
  process.on("message", (message) => {
    run(handle(message)).addObserver((exit) => {
      if (exit._tag === "Failure") process.send({ is: "failed", error: Cause.pretty(exit.cause) })
    })
  })
  process.send({ is: "ready" })
  return yield* Effect.never
})

const Registry = CircuitBreakerRegistry.layerStored({
  policy: decode(settings.policy),
  policies: Object.fromEntries(Object.entries(settings.policies).map(([name, policy]) => [name, decode(policy)])),
  mode: "shared",
  storeWait: settings.storeWait ?? "1 minute",
  pollInterval: settings.pollInterval ?? "1 second"
}).pipe(Layer.provide(await store()))

const base = LiveClock.make()
const clock = settings.apart === 0 ? base : FaultyClock.make(base, [FaultyClock.jump(0, settings.apart, "wall")])

process.on("disconnect", () => process.exit(0))
Effect.runPromise(program.pipe(Effect.provide(Registry), Effect.scoped, Effect.withClock(clock))).catch((error) => {
  process.send({ is: "failed", error: String(error) })
  process.exit(1)
})
