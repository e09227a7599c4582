import { assert, describe, it } from "@effect/vitest"
import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
import * as VirtualClock from "@switchgear/clock/VirtualClock"
import * as Fallback from "@switchgear/core/Fallback"
import * as Policy from "@switchgear/core/Policy"
import { type Answer, type Provider, ProviderError } from "@switchgear/providers/Provider"
import * as Router from "@switchgear/routing/Router"
import * as Effect from "effect/Effect"
import {
  asked,
  breakerOf,
  type FakeProvider,
  fail,
  failed,
  failing,
  json,
  oneFailure,
  provider,
  readAll,
  request,
  setup,
  trip
} from "./helpers.js"

describe("Router: streams", () => {
  const stream = (chunks: number, tail: "ends" | "breaks" | "hangs") =>
    ({ does: "stream", yields: 0, chunks, tail }) as const
  const counters = (breaker: CircuitBreaker.CircuitBreaker | undefined) =>
    breaker === undefined ? Effect.die("no breaker") : Effect.map(CircuitBreaker.status(breaker), (one) => one.counters)

  it.scopedLive("a stream is one report, at its end", () =>
    Effect.gen(function* () {
      const { breakers, router } = yield* setup([provider("a", stream(3, "ends"))])
      const { answer } = yield* router.route(request({ stream: true }))
      assert.deepInclude(yield* counters(breakers[0]), { succeeded: 0, failed: 0 })
      assert.strictEqual(yield* Effect.promise(() => readAll(answer)), 3)
      assert.deepInclude(yield* counters(breakers[0]), { succeeded: 1, failed: 0, released: 0 })
    })
  )

  it.scopedLive("F7: a stream that breaks after output ends with its error, counts, and calls nobody else", () =>
    Effect.gen(function* () {
      const fakes = [provider("a", stream(2, "breaks")), provider("b", json)]
      const { breakers, router } = yield* setup(fakes)
      const { answer } = yield* router.route(request({ stream: true }))
      const error = yield* Effect.flip(Effect.tryPromise({ try: () => readAll(answer), catch: (error) => error }))
      assert(error instanceof ProviderError && error.failure.kind === "network_error")
      assert.deepInclude(yield* counters(breakers[0]), { succeeded: 0, failed: 1 })
      assert.deepStrictEqual(fakes.map(asked), [1, 0])
    })
  )

  it.scopedLive("a reader who leaves releases and closes the upstream call", () =>
    Effect.gen(function* () {
      const fake = provider("a", stream(2, "hangs"))
      const { breakers, router } = yield* setup([fake])
      const { answer } = yield* router.route(request({ stream: true }))
      assert(answer._tag === "Stream")
      yield* Effect.promise(async () => {
        for await (const _ of answer.body) break
      })
      assert.strictEqual(fake.openBodies, 0)
      assert.deepInclude(yield* counters(breakers[0]), { succeeded: 0, failed: 0, released: 1 })
    })
  )

  it.scopedLive("a stream that nobody reads is closed with its scope", () =>
    Effect.gen(function* () {
      const fake = provider("a", stream(2, "hangs"))
      const { breakers, router } = yield* setup([fake], { maxConcurrent: 1 })
      for (let time = 0; time < 3; time++) {
        yield* Effect.scoped(router.route(request({ stream: true })))
        assert.strictEqual(fake.openBodies, 0)
      }
      assert.deepInclude(yield* counters(breakers[0]), { released: 3 })
    })
  )

  it.scopedLive("R7: a probe's stream closes the breaker at its first output; should it break, that counts", () =>
    Effect.gen(function* () {
      const policy = Policy.consecutive({ failureThreshold: 1, cooldown: { base: 1 } })
      const { breakers, router } = yield* setup([provider("a", stream(1, "breaks"))], { policy })
      const [breaker] = breakers
      assert(breaker !== undefined)
      yield* trip(breaker)
      yield* Effect.sleep(2)
      const routed = yield* router.route(request({ stream: true }))
      const [probe] = routed.attempts
      assert(probe?._tag === "Served" && probe.probe && probe.state === "HalfOpen")
      assert.strictEqual((yield* CircuitBreaker.view(breaker)).state, "Closed")
      yield* Effect.ignore(Effect.tryPromise(() => readAll(routed.answer)))
      assert.notStrictEqual((yield* CircuitBreaker.view(breaker)).cause, undefined)
    })
  )
})

describe("Router: nested breakers (DESIGN 6)", () => {
  const nested = (fake: FakeProvider) =>
    Effect.gen(function* () {
      const [whole, host, model] = [
        yield* breakerOf("p", oneFailure),
        yield* breakerOf("h", oneFailure),
        yield* breakerOf("m", oneFailure)
      ]
      const router = yield* Router.make({
        providers: [{ provider: fake, breaker: whole, hostBreaker: host }],
        models: [{ name: "m0", provider: fake.name, breaker: model }]
      })
      return { router, all: [whole, host, model] }
    })
  const states = (all: ReadonlyArray<CircuitBreaker.CircuitBreaker>) =>
    Effect.forEach(all, (one) => Effect.map(CircuitBreaker.view(one), (view) => view.state))

  it.scoped("a failure counts in the breakers whose key covers its scope", () =>
    Effect.gen(function* () {
      for (const [scope, expected] of [
        ["provider", ["Open", "Closed", "Closed"]],
        ["host", ["Open", "Open", "Closed"]],
        ["key+model", ["Open", "Closed", "Open"]],
        ["account", ["Open", "Closed", "Closed"]]
      ] as const) {
        const { all, router } = yield* nested(provider("a", fail("server_error", { scope })))
        yield* Effect.ignore(router.route(request()))
        const found: ReadonlyArray<string> = yield* states(all)
        assert.deepStrictEqual(found, expected)
        for (const one of all) {
          const { admitted, failed, ignored } = (yield* CircuitBreaker.status(one)).counters
          assert.strictEqual(admitted, failed + ignored)
        }
      }
    })
  )

  it.scopedLive(
    "a stream that is a probe for one breaker and a plain call for another is reported to each in its way",
    () =>
      Effect.gen(function* () {
        const { all, router } = yield* nested(provider("a", { does: "stream", yields: 0, chunks: 1, tail: "ends" }))
        const [whole] = all
        assert(whole !== undefined)
        yield* trip(whole)
        yield* Effect.sleep("30 seconds")
        const { answer } = yield* router.route(request({ stream: true }))
        const succeeded = Effect.forEach(all, (one) =>
          Effect.map(CircuitBreaker.status(one), (status) => status.counters.succeeded)
        )
        assert.deepStrictEqual(yield* succeeded, [1, 0, 0])
        yield* Effect.promise(() => readAll(answer))
        assert.deepStrictEqual(yield* succeeded, [1, 1, 1])
      }).pipe(Effect.provide(VirtualClock.layer))
  )

  it.scoped("permits are taken all or none: a refusal gives back a probe's lease", () =>
    Effect.gen(function* () {
      const fake = provider("a", json)
      const { all, router } = yield* nested(fake)
      const [whole, , model] = all
      assert(whole !== undefined && model !== undefined)
      yield* trip(whole)
      yield* CircuitBreaker.forceOpen(model)
      yield* Effect.sleep("30 seconds")
      const { reason } = failed(yield* Effect.either(router.route(request())))
      assert.deepStrictEqual(reason, { _tag: "Refused", kind: "circuit_open", status: 503 })
      assert.deepInclude(yield* CircuitBreaker.view(whole), { state: "HalfOpen", leases: 0 })
      assert.strictEqual(asked(fake), 0)
    }).pipe(Effect.provide(VirtualClock.layer))
  )
})

describe("Router: under time", () => {
  it.scopedLive(
    "after the cooldown exactly one of 50 concurrent callers probes, the others are served by the fallback",
    () =>
      Effect.gen(function* () {
        let healthy = false
        let calls = 0
        const a: Provider = {
          name: "a",
          call: ({ body }) =>
            Effect.suspend((): Effect.Effect<Answer, ProviderError> => {
              calls++
              if (!healthy) return Effect.fail(failing("server_error", { status: 500 }))
              return Effect.delay(Effect.succeed({ _tag: "Json", status: 200, headers: {}, body }), "1 second")
            })
        }
        const breaker = yield* breakerOf(
          "a",
          Policy.consecutive({ failureThreshold: 3, cooldown: { base: "30 seconds" } })
        )
        const router = yield* Router.make({
          providers: [
            { provider: a, breaker },
            { provider: provider("b", json), breaker: yield* breakerOf("b") }
          ],
          models: [
            { name: "m0", provider: "a", fallbackChain: ["m1"] },
            { name: "m1", provider: "b" }
          ],
          fallback: Fallback.make({ budget: 1 })
        })
        const ask = Effect.scoped(router.route(request()))
        yield* Effect.replicateEffect(ask, 10)
        yield* Effect.sleep("29999 millis")
        yield* ask
        assert.strictEqual(calls, 3)
        healthy = true
        yield* Effect.sleep("1 millis")
        const served = yield* Effect.replicateEffect(ask, 50, { concurrency: "unbounded" })
        assert.strictEqual(calls, 4)
        assert.strictEqual(served.filter((one) => one.substituted).length, 49)
        assert.strictEqual((yield* CircuitBreaker.view(breaker)).state, "Closed")
      }).pipe(Effect.provide(VirtualClock.layer))
  )

  it.scoped("a provider that streams where none was asked has failed, and its stream is closed", () =>
    Effect.gen(function* () {
      let closed = 0
      const body: AsyncIterable<Uint8Array> = {
        [Symbol.asyncIterator]: () => ({
          next: () => new Promise(() => undefined),
          return: async () => {
            closed++
            return { done: true, value: undefined }
          }
        })
      }
      const fake = provider("a", json)
      const answer = { _tag: "Stream", status: 200, headers: {}, body } as const
      const streaming = Object.assign(fake, { call: () => Effect.succeed(answer) })
      for (const limit of [{}, { maxConcurrent: 1 }]) {
        const { router } = yield* setup([streaming], limit)
        closed = 0
        for (let call = 0; call < 2; call++) {
          const error = yield* Effect.flip(router.route(request()))
          assert.strictEqual(error.reason._tag, "Failed")
        }
        assert.strictEqual(closed, 2)
      }
    })
  )
})
