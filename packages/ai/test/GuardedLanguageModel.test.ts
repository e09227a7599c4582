import * as LanguageModel from "@effect/ai/LanguageModel"
import { assert, describe, it } from "@effect/vitest"
import * as FallbackLanguageModel from "@switchgear/ai/FallbackLanguageModel"
import * as GuardedLanguageModel from "@switchgear/ai/GuardedLanguageModel"
import * as Scripted from "@switchgear/ai/ScriptedLanguageModel"
import { errorPart, finish, ok, status, stream, wait } from "@switchgear/ai/ScriptedLanguageModel"
import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
import * as CircuitBreakerRegistry from "@switchgear/breaker/CircuitBreakerRegistry"
import * as VirtualClock from "@switchgear/clock/VirtualClock"
import * as Policy from "@switchgear/core/Policy"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FastCheck from "effect/FastCheck"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"

const prompt = "Hello"
const ask = LanguageModel.generateText({ prompt })
const parts = LanguageModel.streamText({ prompt })
const Breakers = CircuitBreakerRegistry.layer({ policy: Policy.consecutive({ failureThreshold: 2 }) })
const breaker = (key: string) =>
  Effect.flatMap(CircuitBreakerRegistry.CircuitBreakerRegistry, (registry) => registry.get(key))

const guarded = (model: Scripted.ScriptedLanguageModel, options: GuardedLanguageModel.ModelOptions = {}) =>
  GuardedLanguageModel.withCircuitBreaker(model.layer, { ...options, key: "m" }).pipe(
    Layer.provideMerge(Breakers),
    Layer.provideMerge(VirtualClock.layer)
  )

describe("a guarded model", () => {
  it.live("is refused at once while its circuit is open, and findOpen says so", () => {
    const model = Scripted.make([status(503)])
    return Effect.gen(function* () {
      yield* Effect.replicateEffect(Effect.ignore(ask), 2)
      const open = CircuitBreaker.findOpen(yield* Effect.flip(ask))
      assert.deepStrictEqual([open?.breaker, open?.state, open?.retryAfterMillis], ["m", "Open", 30_000])
      assert.isDefined(CircuitBreaker.findOpen(yield* Effect.flip(Stream.runDrain(parts))))
      assert.strictEqual(yield* model.calls, 2)
    }).pipe(Effect.provide(guarded(model)))
  })

  it.live("tells the policy a 429's Retry-After", () => {
    const model = Scripted.make([status(429, { headers: { "retry-after": "90" } })])
    const policy = Policy.consecutive({ failureThreshold: 2, cooldown: { honorRetryAfter: true } })
    return Effect.gen(function* () {
      yield* Effect.replicateEffect(Effect.ignore(ask), 2)
      const open = CircuitBreaker.findOpen(yield* Effect.flip(ask))
      assert.strictEqual(open?.retryAfterMillis, 90_000)
    }).pipe(
      Effect.provide(
        GuardedLanguageModel.withCircuitBreaker(model.layer, { key: "m" }).pipe(
          Layer.provide(CircuitBreakerRegistry.layer({ policy })),
          Layer.provideMerge(VirtualClock.layer)
        )
      )
    )
  })

  it.live("a reader who leaves after output has been answered; before it, released", () => {
    const model = Scripted.make([stream([wait("5 seconds"), "a", wait("5 seconds"), "b", finish])])
    return Effect.gen(function* () {
      yield* Stream.runDrain(
        Stream.take(
          Stream.filter(parts, (part) => part.type === "text-delta"),
          1
        )
      )
      yield* Effect.ignore(Effect.timeout(Stream.runDrain(parts), "1 second"))
      const { counters } = yield* CircuitBreaker.status(yield* breaker("m"))
      assert.deepStrictEqual([counters.succeeded, counters.failed, counters.released], [1, 0, 1])
    }).pipe(Effect.provide(guarded(model)))
  })

  it.live("a slow reader meets no limit: his time is not the model's", () => {
    const model = Scripted.make([stream([...Array.from({ length: 40 }, () => "x"), finish])])
    return Effect.gen(function* () {
      yield* Stream.runForEach(parts, () => Effect.sleep("2 minutes"))
      const { counters } = yield* CircuitBreaker.status(yield* breaker("m"))
      assert.deepStrictEqual([counters.succeeded, counters.failed], [1, 0])
    }).pipe(Effect.provide(guarded(model, { timeouts: { total: "1 day" } })))
  })

  it.live("a guarded model as a target: its refusal is a refusal to the walk", () => {
    const inner = Scripted.make([status(503)])
    const target = GuardedLanguageModel.withCircuitBreaker(inner.layer, { key: "inner" })
    const Model = FallbackLanguageModel.layer({
      targets: [
        { name: "outer", layer: target },
        { name: "backup", layer: Scripted.make([ok("backup")]).layer }
      ]
    }).pipe(Layer.provideMerge(Breakers), Layer.provideMerge(VirtualClock.layer))
    return Effect.gen(function* () {
      const answers = yield* Effect.replicateEffect(ask, 4)
      assert.deepStrictEqual(
        answers.map(({ text }) => text),
        ["backup", "backup", "backup", "backup"]
      )
      assert.strictEqual(yield* inner.calls, 2)
    }).pipe(Effect.provide(Model))
  })
})

describe("settings of the walk", () => {
  const both = (
    settings: Omit<FallbackLanguageModel.Options, "targets">,
    models: ReadonlyArray<Scripted.ScriptedLanguageModel>
  ) => {
    const [first, ...rest] = models.map((model, index) => ({ name: `m${index}`, layer: model.layer }))
    assert.isDefined(first)
    return FallbackLanguageModel.layer({ ...settings, targets: [first, ...rest] }).pipe(
      Layer.provideMerge(Breakers),
      Layer.provideMerge(VirtualClock.layer)
    )
  }

  it.live('lastResort "soonest" calls one target although all are open (ROUTING F10)', () => {
    const primary = Scripted.make([status(503), status(503), ok("after all")])
    const backup = Scripted.make([status(503)])
    return Effect.gen(function* () {
      yield* Effect.replicateEffect(Effect.ignore(ask), 2)
      assert.strictEqual((yield* ask).text, "after all")
      assert.strictEqual((yield* CircuitBreaker.view(yield* breaker("m0"))).state, "Open")
    }).pipe(Effect.provide(both({ lastResort: "soonest" }, [primary, backup])))
  })

  it.live("a dead primary does not flood its backup (ROUTING F13)", () => {
    const backup = Scripted.make([ok("backup")])
    return Effect.gen(function* () {
      yield* Effect.replicateEffect(Effect.ignore(ask), 60)
      assert.strictEqual(yield* backup.calls, 30)
    }).pipe(Effect.provide(both({}, [Scripted.make([status(503)]), backup])))
  })

  it.live("the chain by its breakers' states (ROUTING H4)", () => {
    const models = [Scripted.make([status(503)]), Scripted.make([ok("1")]), Scripted.make([ok("2")])]
    return Effect.gen(function* () {
      yield* CircuitBreaker.forceOpen(yield* breaker("m1"))
      assert.strictEqual((yield* ask).text, "2")
    }).pipe(Effect.provide(both({}, models)))
  })

  const item = FastCheck.oneof(
    { weight: 4, arbitrary: FastCheck.constantFrom("a", "b", "") },
    { weight: 2, arbitrary: FastCheck.constant(wait("20 seconds")) },
    { weight: 1, arbitrary: FastCheck.constant(wait("2 minutes")) },
    { weight: 1, arbitrary: FastCheck.constant(errorPart({ type: "overloaded_error", message: "busy" })) },
    { weight: 1, arbitrary: FastCheck.constant<Scripted.StreamItem>({ type: "response-metadata", id: "m" }) }
  )
  const step = FastCheck.oneof(
    FastCheck.tuple(FastCheck.array(item, { maxLength: 6 }), FastCheck.boolean()).map(([items, whole]) =>
      stream(whole ? [...items, finish] : items)
    ),
    FastCheck.constantFrom(status(503), status(400), Scripted.hang, Scripted.networkError())
  )
  /** What a target says if all goes well, in capitals or not, so that one can tell who spoke. */
  const words = (one: Scripted.Step, index: number): string =>
    one._tag === "Stream"
      ? one.items
          .filter((part) => typeof part === "string")
          .join("")
          .replaceAll(/./g, (c) => `${c}${index}`)
      : ""
  const marked = (one: Scripted.Step, index: number): Scripted.Step =>
    one._tag === "Stream"
      ? stream(one.items.map((part) => (typeof part === "string" && part !== "" ? `${part}${index}` : part)))
      : one

  it.live.prop(
    "a reader sees one target's words, from their beginning, and all of them if the stream ends well; no target is called twice (ROUTING F7, F12)",
    [FastCheck.array(step, { minLength: 1, maxLength: 4 }), FastCheck.integer({ min: 1, max: 3 })],
    ([steps, maxDepth]) => {
      const models = steps.map((one, index) => Scripted.make([marked(one, index)]))
      return Effect.gen(function* () {
        let seen = ""
        const exit = yield* parts.pipe(
          Stream.runForEach((part) =>
            Effect.sync(() => {
              if (part.type === "text-delta") seen += part.delta
            })
          ),
          Effect.exit
        )
        const texts = steps.map(words)
        assert.isTrue(
          texts.some((text) => (Exit.isSuccess(exit) ? text === seen && seen !== "" : text.startsWith(seen))),
          seen
        )
        const calls = yield* Effect.forEach(models, (model) => model.calls)
        assert.isTrue(calls.every((count) => count <= 1))
        assert.isAtMost(
          calls.reduce((a, b) => a + b, 0),
          1 + maxDepth
        )
      }).pipe(Effect.provide(both({ maxDepth }, models)))
    },
    { fastCheck: { numRuns: 40 } }
  )
})
