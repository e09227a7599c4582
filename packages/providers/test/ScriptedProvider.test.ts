import { describe, it } from "@effect/vitest"
import * as VirtualClock from "@switchgear/clock/VirtualClock"
import type * as Provider from "@switchgear/providers/Provider"
import { Provider as ProviderTag } from "@switchgear/providers/Provider"
import * as Scripted from "@switchgear/providers/ScriptedProvider"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { assert } from "vitest"
import { outcome, request } from "./harness.js"

const all: ReadonlyArray<Provider.Operation> = ["chat.completions", "responses", "embeddings", "messages"]
const streaming = all.filter((operation) => operation !== "embeddings")

const virtually = <A, E>(effect: Effect.Effect<A, E>) => Effect.provide(effect, VirtualClock.layer)

interface Row {
  readonly step: Scripted.Step
  readonly json: string
  readonly sse: string
}

const rows: ReadonlyArray<Row> = [
  { step: Scripted.ok("hi"), json: "ok", sse: "ok" },
  { step: Scripted.drip(["a", "b"], "1 second"), json: "ok", sse: "ok" },
  { step: Scripted.status(429, { type: "x" }), json: "rate_limit x", sse: "rate_limit x" },
  { step: Scripted.status(500, { type: "x" }), json: "server_error x", sse: "server_error x" },
  { step: Scripted.hang, json: "timeout total_timeout", sse: "timeout firstOutput_timeout" },
  { step: Scripted.reset, json: "network_error ECONNRESET", sse: "network_error ECONNRESET" },
  { step: Scripted.cut(["a"]), json: "network_error ECONNRESET", sse: "network_error after output" },
  { step: Scripted.cut([]), json: "network_error ECONNRESET", sse: "network_error" },
  { step: Scripted.errorFrame([]), json: "overloaded overloaded_error", sse: "overloaded overloaded_error" },
  {
    step: Scripted.errorFrame(["a"]),
    json: "overloaded overloaded_error",
    sse: "overloaded overloaded_error after output"
  }
]

describe("ScriptedProvider", () => {
  for (const operation of streaming) {
    rows.forEach((row, index) => {
      it.live(`${operation}: ${row.step.name} (${index}) ends as it would over a socket`, () =>
        Effect.gen(function* () {
          for (const stream of [false, true]) {
            const provider = Scripted.make("p", [row.step])
            const { committed, error } = yield* outcome(provider, request(operation, stream))
            const code = error?.failure.code === undefined ? "" : ` ${error.failure.code}`
            const said = error === undefined ? "ok" : `${error.failure.kind}${code}${committed ? " after output" : ""}`
            assert.strictEqual(said, stream ? row.sse : row.json)
          }
        }).pipe(virtually)
      )
    })
  }

  it.live("answers every operation", () =>
    Effect.gen(function* () {
      for (const operation of all) {
        const { answer, error } = yield* outcome(Scripted.make("p", [Scripted.ok()]), request(operation, false))
        assert.isUndefined(error, operation)
        assert.strictEqual(answer?._tag, "Json")
      }
    })
  )

  it.live("takes its time on Effect's clock, part by part", () =>
    Effect.gen(function* () {
      const provider = Scripted.make("p", [Scripted.drip(["a", "b", "c"], "20 seconds")])
      const start = yield* Clock.currentTimeMillis
      const answer = yield* provider.call(request("messages", true))
      assert.strictEqual((yield* Clock.currentTimeMillis) - start, 20_000)
      if (answer._tag !== "Stream") return assert.fail("no stream")
      const body = answer.body[Symbol.asyncIterator]()
      const text: Array<string> = []
      for (let next = yield* Effect.promise(() => body.next()); next.done !== true; ) {
        text.push(Buffer.from(next.value).toString())
        next = yield* Effect.promise(() => body.next())
      }
      assert.strictEqual((yield* Clock.currentTimeMillis) - start, 60_000)
      assert.include(text[0], "message_start")
      assert.include(text.at(-1), "message_stop")
    }).pipe(virtually)
  )

  it.live("idle is the time between parts, to the millisecond", () =>
    Effect.gen(function* () {
      for (const [every, fails] of [
        [999, false],
        [1000, true]
      ] as const) {
        const provider = Scripted.make("p", [Scripted.drip(["a", "b"], every)], { timeouts: { idle: 1000 } })
        const { error } = yield* outcome(provider, request("chat.completions", true))
        assert.strictEqual(error?.failure.code, fails ? "idle_timeout" : undefined)
      }
    }).pipe(virtually)
  )

  it.live("a script may look at the request", () =>
    Effect.gen(function* () {
      const provider = Scripted.make("p", (request, index) =>
        request.model === "m" && index === 0 ? Scripted.status(404) : Scripted.ok()
      )
      assert.strictEqual(
        (yield* outcome(provider, request("messages", false))).error?.failure.kind,
        "model_unavailable"
      )
      assert.isUndefined((yield* outcome(provider, request("messages", false))).error)
    })
  )

  it.live("counts its calls and those that were interrupted; a left stream waits for nothing", () =>
    Effect.gen(function* () {
      const provider = Scripted.make("p", [Scripted.hang, Scripted.drip(["a", "b"], "1 hour")], {
        timeouts: { firstOutput: "3 hours", idle: "3 hours", total: "3 hours" }
      })
      const fiber = yield* Effect.fork(provider.call(request("messages", true)))
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(fiber)
      assert.strictEqual(yield* provider.interrupted, 1)
      const answer = yield* provider.call(request("messages", true))
      if (answer._tag !== "Stream") return assert.fail("no stream")
      const body = answer.body[Symbol.asyncIterator]()
      yield* Effect.promise(() => body.next())
      const pending = body.next()
      yield* Effect.promise(async () => body.return?.())
      assert.isTrue((yield* Effect.promise(() => pending)).done)
      assert.strictEqual(yield* provider.calls, 2)
    }).pipe(virtually)
  )

  it.live("is a layer", () =>
    Effect.gen(function* () {
      const provider = yield* ProviderTag
      assert.isUndefined((yield* outcome(provider, request("messages", false))).error)
    }).pipe(Effect.provide(Scripted.make("p", [Scripted.ok()]).layer))
  )
})
