import type * as AiError from "@effect/ai/AiError"
import * as LanguageModel from "@effect/ai/LanguageModel"
import * as Tool from "@effect/ai/Tool"
import * as Toolkit from "@effect/ai/Toolkit"
import { assert, describe, it } from "@effect/vitest"
import * as FallbackLanguageModel from "@switchgear/ai/FallbackLanguageModel"
import * as ModelFailure from "@switchgear/ai/ModelFailure"
import * as Scripted from "@switchgear/ai/ScriptedLanguageModel"
import { errorPart, finish, hang, networkError, ok, status, stream, wait } from "@switchgear/ai/ScriptedLanguageModel"
import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
import * as CircuitBreakerRegistry from "@switchgear/breaker/CircuitBreakerRegistry"
import * as VirtualClock from "@switchgear/clock/VirtualClock"
import * as Policy from "@switchgear/core/Policy"
import * as Cause from "effect/Cause"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

type Settings = Omit<FallbackLanguageModel.Options, "targets">
const prompt = "Hello"
const ask = LanguageModel.generateText({ prompt })

/** What a reader of the stream sees, and how it ends. */
const read = Effect.gen(function* () {
  const seen: Array<string> = []
  const exit = yield* LanguageModel.streamText({ prompt }).pipe(
    Stream.runForEach((part) => Effect.sync(() => seen.push(part.type === "text-delta" ? part.delta : part.type))),
    Effect.exit
  )
  return { seen: seen.filter((one) => !one.startsWith("text-")), exit }
})

const counters = (name: string) =>
  Effect.gen(function* () {
    const registry = yield* CircuitBreakerRegistry.CircuitBreakerRegistry
    return (yield* CircuitBreaker.status(yield* registry.get(name))).counters
  })

const fallback = (models: ReadonlyArray<Scripted.ScriptedLanguageModel>, settings: Settings = {}) => {
  const [first, ...rest] = models.map((model, index) => ({ name: `m${index}`, layer: model.layer }))
  assert.isDefined(first)
  return FallbackLanguageModel.layer({ ...settings, targets: [first, ...rest] }).pipe(
    Layer.provideMerge(CircuitBreakerRegistry.layer({ policy: Policy.consecutive({ failureThreshold: 2 }) })),
    Layer.provideMerge(VirtualClock.layer)
  )
}

const failure = <A>(exit: Exit.Exit<A, AiError.AiError>): AiError.AiError => {
  assert.isTrue(Exit.isFailure(exit))
  const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
  return error as AiError.AiError
}

describe("a failure moves on before output (ROUTING F4)", () => {
  const overloaded = { type: "overloaded_error", message: "Overloaded" }
  const moving: ReadonlyArray<readonly [string, Scripted.Step]> = [
    ["503", status(503)],
    ["429", status(429, { headers: { "retry-after": "7" } })],
    ["401 of our own key", status(401)],
    ["a refused connection", networkError()],
    ["an error part", stream([errorPart(overloaded)])],
    [
      "an error part after metadata and empty deltas",
      stream([{ type: "response-metadata" }, "", errorPart(overloaded)])
    ],
    ["a stream that ends without a finish", stream([])],
    ["an empty answer", ok("")],
    ["a finish in error", Scripted.parts([{ type: "finish", reason: "error", usage: noUsage() }])],
    ["a hang", hang]
  ]
  for (const [name, step] of moving) {
    it.live(`${name}: generateText and streamText give the backup's answer`, () => {
      const primary = Scripted.make([step])
      const backup = Scripted.make([ok("backup")])
      return Effect.gen(function* () {
        assert.strictEqual((yield* ask).text, "backup")
        const { exit, seen } = yield* read
        assert.isTrue(Exit.isSuccess(exit))
        assert.deepStrictEqual(seen, ["backup", "finish"])
        assert.strictEqual((yield* counters("m0")).failed, 2)
        assert.strictEqual((yield* counters("m1")).succeeded, 2)
      }).pipe(Effect.provide(fallback([primary, backup])))
    })
  }

  const staying: ReadonlyArray<readonly [string, Scripted.Step]> = [
    ["400", status(400)],
    ["422", status(422)],
    ["a defect", Scripted.die(new Error("bug"))]
  ]
  for (const [name, step] of staying) {
    it.live(`${name} stays where it is`, () => {
      const backup = Scripted.make([ok("backup")])
      return Effect.gen(function* () {
        assert.isTrue(Exit.isFailure(yield* Effect.exit(ask)))
        assert.isTrue(Exit.isFailure((yield* read).exit))
        assert.strictEqual(yield* backup.calls, 0)
      }).pipe(Effect.provide(fallback([Scripted.make([step]), backup])))
    })
  }
})

function noUsage() {
  return { inputTokens: undefined, outputTokens: undefined, totalTokens: undefined }
}

describe("after output never (ROUTING F7)", () => {
  const dying: ReadonlyArray<readonly [string, ReadonlyArray<Scripted.StreamItem>]> = [
    ["an error part", ["Hel", errorPart({ type: "overloaded_error", message: "Overloaded" })]],
    ["a cut", ["Hel"]],
    ["silence", ["Hel", wait("2 minutes"), "lo", finish]]
  ]
  for (const [name, items] of dying) {
    it.live(`${name} after output fails the stream, and counts`, () => {
      const backup = Scripted.make([ok("backup")])
      return Effect.gen(function* () {
        const { exit, seen } = yield* read
        assert.deepStrictEqual(seen, ["Hel"])
        assert.isTrue(Exit.isFailure(exit))
        assert.strictEqual(yield* backup.calls, 0)
        assert.strictEqual((yield* counters("m0")).failed, 1)
      }).pipe(Effect.provide(fallback([Scripted.make([stream(items)]), backup])))
    })
  }

  it.live("a reader never sees a part of the target that failed", () =>
    Effect.gen(function* () {
      const parts = Chunk.toReadonlyArray(yield* Stream.runCollect(LanguageModel.streamText({ prompt })))
      assert.deepStrictEqual(
        parts.map((part) => part.type),
        ["text-start", "text-delta", "text-end", "finish"]
      )
    }).pipe(
      Effect.provide(
        fallback(
          [
            Scripted.make([stream([{ type: "response-metadata", id: "a" }, "", errorPart("down")]), status(500)]),
            Scripted.make([ok("backup")])
          ],
          { on: ["unknown", "server_error", "overloaded"] }
        )
      )
    )
  )
})

describe("what a failed walk answers", () => {
  it.live("the primary's own error by default, the last's if asked (ROUTING F6)", () => {
    const models = [Scripted.make([status(500)]), Scripted.make([status(529)])]
    const statusOf = Effect.map(
      Effect.flip(ask),
      (error) => error._tag === "HttpResponseError" && error.response.status
    )
    return Effect.gen(function* () {
      assert.strictEqual(yield* Effect.provide(statusOf, fallback(models)), 500)
      assert.strictEqual(yield* Effect.provide(statusOf, fallback(models, { surface: "last" })), 529)
      const all = yield* Effect.flip(ask).pipe(Effect.provide(fallback(models, { surface: "exhausted" })))
      assert.strictEqual(all.message, "FallbackLanguageModel.generateText: All 2 targets failed")
    })
  })

  it.live("all circuits open: the refusal that ends first, found in the AiError (ROUTING F10)", () => {
    const late = status(503)
    const model = fallback([Scripted.make([late]), Scripted.make([late])])
    return Effect.gen(function* () {
      // m1 opens first, so that it may be tried first
      yield* Effect.replicateEffect(Effect.ignore(ask), 2)
      const open = FallbackLanguageModel.findOpen(yield* Effect.flip(ask))
      assert.strictEqual(open?.breaker, "m0")
      assert.strictEqual(open?.retryAfterMillis, 30_000)
      const registry = yield* CircuitBreakerRegistry.CircuitBreakerRegistry
      yield* Effect.sleep("10 seconds")
      yield* CircuitBreaker.forceOpen(yield* registry.get("m0"))
      const other = CircuitBreaker.findOpen(yield* Effect.flip(ask))
      assert.strictEqual(other?.breaker, "m1")
      assert.strictEqual(other?.retryAfterMillis, 20_000)
      const streamed = CircuitBreaker.findOpen(failure((yield* read).exit))
      assert.strictEqual(streamed?.breaker, "m1")
    }).pipe(Effect.provide(model))
  })

  it.live("an open circuit is no hop: maxDepth counts calls (ROUTING F3)", () => {
    const models = [Scripted.make([status(503)]), Scripted.make([status(503)]), Scripted.make([ok("third")])]
    return Effect.gen(function* () {
      yield* Effect.replicateEffect(Effect.ignore(ask), 2)
      assert.strictEqual((yield* ask).text, "third")
    }).pipe(Effect.provide(fallback(models)))
  })
})

describe("a caller who leaves (ROUTING F9)", () => {
  for (const [name, call] of [
    ["generateText", Effect.asVoid(ask)],
    ["streamText", Stream.runDrain(LanguageModel.streamText({ prompt }))]
  ] as const) {
    it.live(`${name}: no further target is called, and nothing counts`, () => {
      const primary = Scripted.make([hang])
      const backup = Scripted.make([ok("backup")])
      return Effect.gen(function* () {
        const fiber = yield* Effect.fork(call)
        yield* Effect.sleep("1 second")
        yield* Fiber.interrupt(fiber)
        assert.strictEqual(yield* primary.calls, 1)
        assert.strictEqual(yield* backup.calls, 0)
        assert.strictEqual((yield* counters("m0")).failed, 0)
      }).pipe(Effect.provide(fallback([primary, backup])))
    })
  }

  it.live("an Effect.timeout around a call is a caller who leaves", () => {
    const backup = Scripted.make([ok("backup")])
    return Effect.gen(function* () {
      assert.strictEqual((yield* Effect.flip(Effect.timeout(ask, "1 second")))._tag, "TimeoutException")
      assert.strictEqual(yield* backup.calls, 0)
      assert.strictEqual((yield* counters("m0")).failed, 0)
    }).pipe(Effect.provide(fallback([Scripted.make([hang]), backup])))
  })
})

describe("the caller's own code is nobody's health", () => {
  class Boom extends Schema.TaggedError<Boom>()("Boom", {}) {}
  const Rain = Tool.make("Rain", { success: Schema.String, failure: Boom, parameters: { city: Schema.String } })
  const kit = Toolkit.make(Rain)
  const call = Scripted.toolCall("Rain", { city: "Ghent" })

  for (const way of ["generateText", "streamText"] as const) {
    const run = (toolkit: typeof kit) =>
      way === "generateText"
        ? Effect.asVoid(LanguageModel.generateText({ prompt, toolkit }))
        : Stream.runDrain(LanguageModel.streamText({ prompt, toolkit }))

    it.live(`${way}: a tool that fails runs once, moves nowhere and counts as an answer`, () => {
      let runs = 0
      const tools = kit.toLayer({
        Rain: () =>
          Effect.zipRight(
            Effect.sync(() => runs++),
            Effect.fail(new Boom())
          )
      })
      const backup = Scripted.make([call])
      return Effect.gen(function* () {
        const error = yield* Effect.flip(run(kit))
        assert.strictEqual(error._tag, "Boom")
        assert.strictEqual(runs, 1)
        assert.strictEqual(yield* backup.calls, 0)
        const { failed, succeeded } = yield* counters("m0")
        assert.deepStrictEqual([failed, succeeded], [0, 1])
      }).pipe(Effect.provide(tools), Effect.provide(fallback([Scripted.make([call]), backup])))
    })

    it.live(`${way}: a slow tool meets no limit of the model`, () => {
      const tools = kit.toLayer({ Rain: () => Effect.as(Effect.sleep("1 hour"), "no") })
      return Effect.gen(function* () {
        yield* run(kit)
        assert.strictEqual((yield* counters("m0")).succeeded, 1)
      }).pipe(Effect.provide(tools), Effect.provide(fallback([Scripted.make([call])])))
    })
  }

  it.live("an answer that does not fit the schema is an answer", () => {
    const backup = Scripted.make([Scripted.object({ n: 1 })])
    const schema = Schema.Struct({ n: Schema.Number })
    const count = LanguageModel.generateObject({ prompt, schema })
    const models = () => [Scripted.make([Scripted.object({ n: "one" })]), backup]
    return Effect.gen(function* () {
      const error = yield* Effect.flip(count).pipe(Effect.zip(counters("m0")), Effect.provide(fallback(models())))
      assert.strictEqual(error[0]._tag, "MalformedOutput")
      assert.strictEqual(ModelFailure.failureOf(error[0]).kind, "client_fault")
      assert.deepStrictEqual([error[1].failed, error[1].succeeded], [0, 1])
      // who wants another model to try says so
      const moved = yield* count.pipe(Effect.provide(fallback(models(), { on: ["client_fault"] })))
      assert.deepStrictEqual(moved.value, { n: 1 })
    })
  })
})

describe("limits", () => {
  it.live("a reasoning model that says little in an hour is waited for", () => {
    const items = Array.from({ length: 100 }, () => [wait("59 seconds"), "."]).flat()
    return Effect.gen(function* () {
      const { exit } = yield* read
      assert.isTrue(Exit.isSuccess(exit))
    }).pipe(Effect.provide(fallback([Scripted.make([stream([...items, finish])])], { timeouts: { total: "3 hours" } })))
  })

  it.live("empty deltas do not disarm the first limit", () => {
    const pings = Array.from({ length: 20 }, () => [wait("10 seconds"), ""]).flat()
    return Effect.gen(function* () {
      assert.deepStrictEqual((yield* read).seen, ["backup", "finish"])
      assert.strictEqual(yield* Effect.map(VirtualClock.elapsed, String), "Duration(1m)")
    }).pipe(
      Effect.provide(fallback([Scripted.make([stream([...pings, "late", finish])]), Scripted.make([ok("backup")])]))
    )
  })
})

describe("probes", () => {
  const items = Array.from({ length: 35 }, () => ["x", wait("1 second")]).flat()
  it.live("streams of 35 s recover a breaker while they run (SEMANTICS R7)", () =>
    Effect.gen(function* () {
      yield* Effect.replicateEffect(Effect.ignore(ask), 2)
      yield* Effect.sleep("30 seconds")
      const fiber = yield* Effect.fork(read)
      yield* Effect.sleep("2 seconds")
      const registry = yield* CircuitBreakerRegistry.CircuitBreakerRegistry
      const view = yield* CircuitBreaker.view(yield* registry.get("m0"))
      assert.strictEqual(view.state, "Closed")
      assert.isTrue(Exit.isSuccess((yield* Fiber.join(fiber)).exit))
    }).pipe(Effect.provide(fallback([Scripted.make([status(503), status(503), stream([...items, finish])])])))
  )

  it.live("a probe that is interrupted gives its lease back (DESIGN 3)", () =>
    Effect.gen(function* () {
      yield* Effect.replicateEffect(Effect.ignore(ask), 2)
      yield* Effect.sleep("30 seconds")
      const fiber = yield* Effect.fork(ask)
      yield* Effect.sleep("1 second")
      yield* Fiber.interrupt(fiber)
      assert.strictEqual((yield* ask).text, "back")
    }).pipe(Effect.provide(fallback([Scripted.make([status(503), status(503), hang, ok("back")])])))
  )
})

describe("the layer", () => {
  it.live("builds its targets once, and what they share once (not per call)", () => {
    let built = 0
    class Client extends Effect.Service<Client>()("Client", { sync: () => ({ built: ++built }) }) {}
    const model = () =>
      Layer.provide(Layer.unwrapEffect(Effect.map(Client, () => Scripted.make([ok("one")]).layer)), Client.Default)
    return Effect.gen(function* () {
      yield* Effect.replicateEffect(ask, 3)
      assert.strictEqual(built, 1)
    }).pipe(
      Effect.provide(
        FallbackLanguageModel.layer({
          targets: [
            { name: "a", layer: model() },
            { name: "b", layer: model() }
          ]
        })
      ),
      Effect.provide(CircuitBreakerRegistry.layer({ policy: Policy.hosted }))
    )
  })

  it("names every fault of its options", () => {
    const { layer } = Scripted.make([ok("")])
    const bad = () =>
      FallbackLanguageModel.layer({
        targets: [
          { name: "a", layer },
          { name: " a ", layer },
          { name: "", layer }
        ]
      })
    assert.throws(bad, /targets\.1\.name.*\n.*targets\.2\.name/)
    assert.throws(() => FallbackLanguageModel.layer({ targets: [{ name: "a", layer }], maxDepth: 0 }), /maxDepth/)
  })
})
