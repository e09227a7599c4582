import { assert, describe, it } from "@effect/vitest"
import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
import * as VirtualClock from "@switchgear/clock/VirtualClock"
import * as Fallback from "@switchgear/core/Fallback"
import * as Router from "@switchgear/routing/Router"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Redacted from "effect/Redacted"
import { asked, breakerOf, fail, failed, json, oneFailure, provider, request, setup, trip } from "./helpers.js"

const settings = (input: Fallback.SettingsInput) => Fallback.make({ budget: 1, ...input })

describe("Router: what is answered", () => {
  it.scoped("a healthy primary serves alone", () =>
    Effect.gen(function* () {
      const [a, b] = [provider("a", json), provider("b", json)]
      const { router } = yield* setup([a, b])
      const routed = yield* router.route(request())
      assert.deepStrictEqual([routed.model, routed.provider, routed.substituted, asked(b)], ["m0", "a", false, 0])
      assert.deepStrictEqual(
        routed.attempts.map((one) => one._tag),
        ["Served"]
      )
    })
  )

  it.scoped("a failure moves on to the hop, with the body as it came but for the model's name (W6)", () =>
    Effect.gen(function* () {
      const [a, b] = [provider("a", fail("server_error", { status: 502 })), provider("b", json)]
      const { router } = yield* setup([a, b])
      const body = new TextEncoder().encode(`{ "messages": [], "model" : "m0", "seed": 1.0 }`)
      const routed = yield* router.route(request({ body }))
      assert.deepStrictEqual([routed.model, routed.substituted], ["m1", true])
      const sent = [a, b].map((one) => new TextDecoder().decode(one.requests[0]?.body))
      assert.deepStrictEqual(sent, [
        `{ "messages": [], "model" : "up0", "seed": 1.0 }`,
        `{ "messages": [], "model" : "up1", "seed": 1.0 }`
      ])
      assert.deepStrictEqual([a.requests[0]?.model, b.requests[0]?.model], ["up0", "up1"])
    })
  )

  it.scoped("F6: the surface chooses among the errors that attempts had", () =>
    Effect.gen(function* () {
      for (const [surface, expected] of [
        ["primary", ["timeout"]],
        ["last", ["overloaded"]],
        ["exhausted", ["timeout", "overloaded"]]
      ] as const) {
        const fakes = [provider("a", fail("timeout")), provider("b", fail("overloaded"))]
        const { router } = yield* setup(fakes, { fallback: settings({ surface }) })
        const { attempts, reason } = failed(yield* Effect.either(router.route(request())))
        const errors = reason._tag === "Exhausted" ? reason.errors : [reason]
        const kinds: ReadonlyArray<string> = errors.map((one) =>
          one._tag === "Failed" ? one.error.failure.kind : one._tag
        )
        assert.deepStrictEqual(kinds, expected)
        assert.strictEqual(attempts.length, 2)
      }
    })
  )

  it.scoped("F5: a denied hop is skipped; a policy that cannot be asked ends with the primary's error", () =>
    Effect.gen(function* () {
      const fakes = [provider("a", fail("timeout")), provider("b", json), provider("c", json)]
      const { router } = yield* setup(fakes)
      const routed = yield* router.route(request({ allow: (model) => Effect.succeed(model !== "m1") }))
      assert.strictEqual(routed.model, "m2")
      assert.deepStrictEqual(routed.attempts[1], { _tag: "Skipped", model: "m1", hop: true, reason: "denied" })

      const down = (model: string) => (model === "m0" ? Effect.succeed(true) : Effect.fail("down"))
      const { reason } = failed(yield* Effect.either(router.route(request({ allow: down }))))
      assert(reason._tag === "Failed" && reason.error.failure.kind === "timeout")
      assert.deepStrictEqual(fakes.map(asked), [2, 0, 1])
    })
  )

  it.scoped("F5: the primary's own policy", () =>
    Effect.gen(function* () {
      const fake = provider("a", json)
      const { router } = yield* setup([fake])
      const ask = (over: Partial<Router.Request>) =>
        Effect.map(Effect.either(router.route(request(over))), (result) => failed(result).reason._tag)
      assert.strictEqual(yield* ask({ allow: () => Effect.succeed(false) }), "NotAllowed")
      assert.strictEqual(yield* ask({ allow: () => Effect.fail("down") }), "PolicyUnavailable")
      assert.strictEqual(yield* ask({ model: "gpt-9" }), "UnknownModel")
      assert.strictEqual(asked(fake), 0)
    })
  )

  it.scoped("F2: a request's own chain takes the place of the model's; what it names in vain is skipped", () =>
    Effect.gen(function* () {
      const { router } = yield* setup([provider("a", fail("timeout")), provider("b", json), provider("c", json)])
      const routed = yield* router.route(request({ chain: ["gone", " m2 "] }))
      assert.strictEqual(routed.model, "m2")
      assert.deepStrictEqual(routed.attempts[1], { _tag: "Skipped", model: "gone", hop: true, reason: "unknown" })
      const none = failed(yield* Effect.either(router.route(request({ chain: [] }))))
      assert.strictEqual(none.attempts.length, 1)
      const off = failed(yield* Effect.either(router.route(request({ fallback: false }))))
      assert.strictEqual(off.attempts.length, 1)
    })
  )

  it.scoped("F4: what is too long goes to a larger window only", () =>
    Effect.gen(function* () {
      const fakes = [provider("a", fail("context_length", { status: 400, scope: "none" })), provider("b", json)]
      const breaker = yield* breakerOf("any")
      const router = yield* Router.make({
        providers: fakes.map((provider) => ({ provider, breaker })),
        models: [
          { name: "m0", provider: "a", contextWindow: 8_000, fallbackChain: ["small", "large"] },
          { name: "small", provider: "b", contextWindow: 4_000 },
          { name: "large", provider: "b", contextWindow: 128_000 }
        ]
      })
      const routed = yield* router.route(request())
      assert.deepStrictEqual(
        routed.attempts.map((one) => [one.model, one._tag]),
        [
          ["m0", "Failed"],
          ["small", "Skipped"],
          ["large", "Served"]
        ]
      )
    })
  )

  it.scoped("F10: all open: the soonest retryAfter, nothing called; 429 if limits opened them all", () =>
    Effect.gen(function* () {
      for (const [kinds, status] of [
        [["timeout", "rate_limit"], 503],
        [["rate_limit", "quota_exhausted"], 429]
      ] as const) {
        const fakes = [provider("a", json), provider("b", json)]
        const { breakers, router } = yield* setup(fakes, { policy: oneFailure })
        const [first, second] = breakers
        assert(first !== undefined && second !== undefined)
        yield* trip(first, kinds[0])
        yield* trip(second, kinds[1])
        const { reason } = failed(yield* Effect.either(router.route(request())))
        const cooldown = 30_000
        assert.deepStrictEqual(reason, { _tag: "Refused", kind: "circuit_open", status, retryAfter: 30_000, cooldown })
        assert.deepStrictEqual(fakes.map(asked), [0, 0])
      }
    })
  )

  it.scoped("F10: the last resort is called outside its breaker's count", () =>
    Effect.gen(function* () {
      const fakes = [provider("a", json), provider("b", json)]
      const { breakers, router } = yield* setup(fakes, {
        policy: oneFailure,
        fallback: settings({ lastResort: "soonest" })
      })
      for (const breaker of breakers) yield* trip(breaker)
      const routed = yield* router.route(request())
      assert.deepStrictEqual([routed.model, routed.substituted], ["m0", false])
      const last = routed.attempts.at(-1)
      assert(last?._tag === "Served" && last.lastResort && last.state === "Open")
      assert.strictEqual(fakes[0]?.requests[0]?.retry, "none")
      for (const breaker of breakers) assert.strictEqual((yield* CircuitBreaker.view(breaker)).state, "Open")
    })
  )

  it.scoped("F11: all that does not fit together is refused at once, with names", () =>
    Effect.gen(function* () {
      const breaker = yield* breakerOf("any")
      const refused = yield* Effect.flip(
        Router.make({
          providers: [
            { provider: provider("a", json), breaker, maxConcurrent: 0 },
            { provider: provider("a", json), breaker }
          ],
          models: [
            { name: "x", provider: "a", fallbackChain: ["y", "z"] },
            { name: "x", provider: "b", fallbackChain: Array.from({ length: 9 }, () => "x") }
          ]
        })
      )
      assert.deepStrictEqual(
        refused.faults.map((fault) => fault.path),
        [
          "providers.0.maxConcurrent",
          "providers.1",
          "models.1",
          "models.1.provider",
          "models.0.fallbackChain.0",
          "models.0.fallbackChain.1",
          "models.1.fallbackChain"
        ]
      )
      assert.match(refused.message, /there is no model "z"; there are "x"/)
    })
  )

  it.scoped("F12: two names of one (provider, model) pair are one target", () =>
    Effect.gen(function* () {
      const fake = provider("a", fail("timeout"))
      const breaker = yield* breakerOf("a")
      const router = yield* Router.make({
        providers: [{ provider: fake, breaker }],
        models: [
          { name: "m0", provider: "a", upstream: "u", fallbackChain: ["alias"] },
          { name: "alias", provider: "a", upstream: "u" }
        ]
      })
      yield* Effect.flip(router.route(request()))
      assert.strictEqual(asked(fake), 1)
    })
  )

  it.scoped("F12: a target waits for a Retry-After only if it is the last, and a probe never retries", () =>
    Effect.gen(function* () {
      const fakes = [provider("a", fail("timeout")), provider("b", json)]
      const { router } = yield* setup(fakes, { policy: oneFailure })
      yield* router.route(request())
      assert.deepStrictEqual([fakes[0]?.requests[0]?.retry, fakes[1]?.requests[0]?.retry], ["now", "wait"])
      yield* Effect.sleep("30 seconds")
      const again = yield* router.route(request())
      assert(again.attempts[0]?._tag === "Failed" && again.attempts[0].probe)
      assert.strictEqual(fakes[0]?.requests[1]?.retry, "none")
    }).pipe(Effect.provide(VirtualClock.layer))
  )

  it.scoped("A5: a probe must be answered within its lease, an ordinary call need not", () =>
    Effect.gen(function* () {
      const fakes = [provider("a", fail("timeout")), provider("b", json)]
      const { router } = yield* setup(fakes, { policy: oneFailure })
      yield* router.route(request())
      yield* Effect.sleep("30 seconds")
      yield* router.route(request())
      const within = fakes[0]?.requests.map((each) => each.answerWithin)
      assert.deepStrictEqual(within, [undefined, oneFailure.halfOpen.probeTimeout])
    }).pipe(Effect.provide(VirtualClock.layer))
  )

  it.scoped(
    "W6: a hop that cannot carry the request is passed over, with the field's name, and its breaker counts nothing",
    () =>
      Effect.gen(function* () {
        const [a, b, c] = [provider("a", fail("timeout")), provider("b", json), provider("c", json)]
        const mute = Object.assign(b, { cannotCarry: () => ["top_k"] })
        const { router } = yield* setup([a, mute, c], { fallback: Fallback.make({ maxDepth: 2 }) })
        const routed = yield* router.route(request())
        assert.deepStrictEqual([routed.provider, mute.requests.length], ["c", 0])
        assert.deepStrictEqual(routed.attempts[1], {
          _tag: "Skipped",
          model: "m1",
          hop: true,
          reason: "ineligible",
          obstacle: "it cannot carry top_k"
        })
      })
  )

  it.scoped("F13: a dead primary sends its backup no more than the share of first attempts beyond 20", () =>
    Effect.gen(function* () {
      const fakes = [provider("a", fail("timeout")), provider("b", json)]
      const { router } = yield* setup(fakes, { fallback: Fallback.make({ budget: 0.5 }) })
      const results = yield* Effect.replicateEffect(Effect.either(router.route(request())), 200)
      assert.strictEqual(results.filter(Either.isRight).length, 100)
      const [over] = results.filter(Either.isLeft)
      assert.deepStrictEqual(over?.left.attempts[1], { _tag: "Skipped", model: "m1", hop: true, reason: "over_budget" })
      assert.deepStrictEqual(fakes.map(asked), [200, 100])
    })
  )

  it.scopedLive("F14: a call over maxConcurrent moves on and counts against nobody", () =>
    Effect.gen(function* () {
      const fakes = [provider("a", { does: "hang" }), provider("b", json)]
      const { breakers, router } = yield* setup(fakes, { maxConcurrent: 1 })
      const first = yield* Effect.fork(Effect.scoped(router.route(request())))
      yield* Effect.yieldNow()
      const routed = yield* router.route(request())
      assert.deepStrictEqual(routed.attempts[0], {
        _tag: "Refused",
        model: "m0",
        provider: "a",
        hop: false,
        kind: "saturated"
      })
      const alone = failed(yield* Effect.either(router.route(request({ fallback: false }))))
      assert.deepStrictEqual(alone.reason, { _tag: "Refused", kind: "saturated", status: 503, retryAfter: 0 })
      yield* Fiber.interrupt(first)
      assert.strictEqual(fakes[0]?.interrupted, 1)
      for (const breaker of breakers) {
        assert.deepInclude((yield* CircuitBreaker.status(breaker)).counters, { failed: 0, rejected: 0 })
      }
    })
  )

  it.scoped("F8: a caller's own key has no fallback and touches no breaker", () =>
    Effect.gen(function* () {
      const fakes = [provider("a", json, fail("auth", { status: 401, scope: "key" })), provider("b", json)]
      const { breakers, router } = yield* setup(fakes, { policy: oneFailure })
      const [first] = breakers
      assert(first !== undefined)
      yield* trip(first)
      const before = yield* CircuitBreaker.status(first)
      const own = request({ apiKey: Redacted.make("sk-own") })
      assert.strictEqual((yield* router.route(own)).model, "m0")
      const { attempts } = failed(yield* Effect.either(router.route(own)))
      assert.strictEqual(attempts.length, 1)
      assert.deepStrictEqual(yield* CircuitBreaker.status(first), before)
      assert.strictEqual(fakes[0]?.requests[0]?.apiKey, own.apiKey)
    })
  )

  it.scoped("H4: a chain's healthy targets come first, if so set", () =>
    Effect.gen(function* () {
      for (const preferHealthyState of [true, false]) {
        const fakes = [provider("a", fail("timeout")), provider("b", json), provider("c", json)]
        const { breakers, router } = yield* setup(fakes, {
          policy: oneFailure,
          fallback: settings({ preferHealthyState })
        })
        if (breakers[1] !== undefined) yield* trip(breakers[1])
        const routed = yield* router.route(request())
        assert.deepStrictEqual(
          routed.attempts.map((one) => one.model),
          preferHealthyState ? ["m0", "m2"] : ["m0", "m1", "m2"]
        )
      }
    })
  )

  it.scoped("H2: a chain is sorted by health, if so set", () =>
    Effect.gen(function* () {
      const fakes = [provider("a", fail("timeout")), provider("b", json), provider("c", json)]
      const breaker = yield* breakerOf("any")
      const router = yield* Router.make({
        providers: fakes.map((provider) => ({ provider, breaker })),
        models: [
          { name: "m0", provider: "a", fallbackChain: ["m1", "m2"] },
          { name: "m1", provider: "b" },
          { name: "m2", provider: "c" }
        ],
        fallback: settings({ reorderByHealth: true }),
        health: (provider) => (provider === "b" ? 0.1 : undefined)
      })
      assert.strictEqual((yield* router.route(request())).model, "m2")
    })
  )

  it.scoped("a provider's defect is reported as a failure and passes through", () =>
    Effect.gen(function* () {
      const { breakers, router } = yield* setup([provider("a", { does: "die" }), provider("b", json)], {
        policy: oneFailure
      })
      const exit = yield* Effect.exit(router.route(request()))
      assert(Exit.isFailure(exit) && exit.cause._tag === "Die")
      const [first] = breakers
      assert(first !== undefined)
      assert.strictEqual((yield* CircuitBreaker.view(first)).state, "Open")
    })
  )
})
