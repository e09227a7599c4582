import { createServer } from "node:net"
import { describe, it } from "@effect/vitest"
import type { Timeouts } from "@switchgear/providers/HttpProvider"
import * as OpenAiCompatible from "@switchgear/providers/OpenAiCompatible"
import * as Upstream from "@switchgear/testing/Upstream"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { assert } from "vitest"
import { operations, outcome, request, setup } from "./harness.js"

const long = "10 seconds"

describe("limits", () => {
  it.scopedLive("total ends a stream that is still well, and says so", () =>
    Effect.gen(function* () {
      const { provider, upstream } = yield* setup(
        "chat.completions",
        [Upstream.drip(10, { parts: Array.from({ length: 10_000 }, () => "x") })],
        { timeouts: { total: 150 } }
      )
      const { bytes, error } = yield* outcome(provider, request("chat.completions", true))
      assert.strictEqual(error?.failure.kind, "timeout")
      assert.strictEqual(error?.failure.code, "total_timeout")
      assert.include(error?.failure.message, "total")
      assert.include(bytes.toString(), `"content":"x"`)
      assert.strictEqual(yield* (yield* upstream.call(0)).closed, "left")
    })
  )

  it.scopedLive("a request's timeLeft goes before a longer total", () =>
    Effect.gen(function* () {
      const { provider } = yield* setup("messages", [Upstream.hangBeforeHeaders])
      const { error } = yield* outcome(provider, request("messages", true, { timeLeft: 60 }))
      assert.strictEqual(error?.failure.code, "total_timeout")
      assert.include(error?.failure.message, "60 ms")
    })
  )

  it.scopedLive("A5: answerWithin bounds a stream's first output, not its length, and a JSON answer as a whole", () =>
    Effect.gen(function* () {
      const parts = Array.from({ length: 12 }, () => "x")
      const slow = yield* setup("chat.completions", [Upstream.drip(30, { parts })])
      assert.isUndefined(
        (yield* outcome(slow.provider, request("chat.completions", true, { answerWithin: 250 }))).error
      )
      const silent = yield* setup("chat.completions", [Upstream.hangBeforeHeaders])
      const stream = yield* outcome(silent.provider, request("chat.completions", true, { answerWithin: 60 }))
      assert.strictEqual(stream.error?.failure.code, "firstOutput_timeout")
      assert.include(stream.error?.failure.message, "60 ms")
      const whole = yield* outcome(silent.provider, request("chat.completions", false, { answerWithin: 60 }))
      assert.strictEqual(whole.error?.failure.code, "total_timeout")
    })
  )

  it.scopedLive("connect includes the wait for a free connection; the call that waited never goes upstream", () =>
    Effect.gen(function* () {
      const { provider, upstream } = yield* setup("chat.completions", [Upstream.hangBeforeHeaders], {
        pool: { connections: 1 },
        timeouts: { connect: 60, firstOutput: long }
      })
      const first = yield* Effect.fork(provider.call(request("chat.completions", true)))
      yield* upstream.call(0)
      const { error } = yield* outcome(provider, request("chat.completions", true))
      assert.strictEqual(error?.failure.code, "connect_timeout")
      yield* Fiber.interrupt(first)
      yield* upstream.quiet
      yield* upstream.setScript([Upstream.ok()])
      assert.isUndefined((yield* outcome(provider, request("chat.completions", true))).error)
      assert.strictEqual(yield* upstream.count, 1)
    })
  )

  it.scopedLive("pings and lifecycle events do not disarm firstOutput, output does", () =>
    Effect.gen(function* () {
      for (const operation of operations) {
        const timeouts: Timeouts = { firstOutput: 100, idle: long, total: long }
        const silent = yield* setup(operation, [Upstream.pingsOnly(5)], { timeouts })
        const { error } = yield* outcome(silent.provider, request(operation, true))
        assert.strictEqual(error?.failure.code, "firstOutput_timeout")
        const slow = yield* setup(operation, [Upstream.drip(20, { parts: Array.from({ length: 12 }, () => "x") })], {
          timeouts: { ...timeouts, firstOutput: "2 seconds" }
        })
        assert.isUndefined((yield* outcome(slow.provider, request(operation, true))).error)
      }
    })
  )

  it.scopedLive(
    "a JSON answer may think for longer than a stream's firstOutput default, and as long as one that is set",
    () =>
      Effect.gen(function* () {
        const { provider } = yield* setup("chat.completions", [Upstream.slowHeaders(200)], {
          timeouts: { idle: 50, connect: long }
        })
        assert.isUndefined((yield* outcome(provider, request("chat.completions", false))).error)
        const impatient = yield* setup("chat.completions", [Upstream.slowHeaders(5000)], {
          timeouts: { firstOutput: 50 }
        })
        const { error } = yield* outcome(impatient.provider, request("chat.completions", false))
        assert.strictEqual(error?.failure.code, "firstOutput_timeout")
      })
  )

  it.scopedLive("idle rests while a slow reader holds the stream up", () =>
    Effect.gen(function* () {
      const { provider } = yield* setup("chat.completions", [Upstream.huge(4 * 1024 * 1024)], {
        timeouts: { idle: 100, total: long, firstOutput: long }
      })
      const answer = yield* provider.call(request("chat.completions", true))
      if (answer._tag !== "Stream") return assert.fail("no stream")
      const body = answer.body[Symbol.asyncIterator]()
      yield* Effect.promise(() => body.next())
      yield* Effect.sleep(400)
      let size = 0
      for (let next = yield* Effect.promise(() => body.next()); next.done !== true; ) {
        size += next.value.length
        next = yield* Effect.promise(() => body.next())
      }
      assert.isAbove(size, 3 * 1024 * 1024)
    })
  )

  it.scopedLive(
    "a peer that speaks no HTTP, and one that does not listen, are network errors without its address",
    () =>
      Effect.gen(function* () {
        const server = yield* Effect.acquireRelease(
          Effect.async<ReturnType<typeof createServer>>((resume) => {
            const server = createServer((socket) => {
              socket.on("error", () => undefined).resume()
              socket.end("\u0000\u0001 garbage\r\n\r\n")
            })
            server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
          }),
          (server) => Effect.async<void>((resume) => void server.close(() => resume(Effect.void)))
        )
        const address = server.address()
        const port = typeof address === "object" && address !== null ? address.port : 0
        for (const baseUrl of [
          `http://127.0.0.1:${port}/v1`,
          "http://127.0.0.1:1/v1",
          "http://no-such-host.invalid/v1"
        ]) {
          const provider = yield* OpenAiCompatible.make({ name: "p", baseUrl })
          const { error } = yield* outcome(provider, request("chat.completions", false))
          assert.strictEqual(error?.failure.kind, "network_error", JSON.stringify(error))
          const said = JSON.stringify(error)
          for (const secret of ["127.0.0.1", "no-such-host", `${port}`]) assert.notInclude(said, secret)
        }
      })
  )

  it.effect("a base URL or a limit that makes no sense is a defect that names it", () =>
    Effect.gen(function* () {
      const good = { name: "p", baseUrl: "http://127.0.0.1:1" }
      for (const options of [
        { ...good, baseUrl: "nonsense" },
        { ...good, baseUrl: "ftp://example.com" },
        { ...good, timeouts: { idle: 0 } },
        { ...good, timeouts: { total: Number.NaN } },
        { ...good, maxAnswer: 0 },
        { ...good, pool: { connections: -1 } }
      ]) {
        const exit = yield* Effect.exit(Effect.scoped(OpenAiCompatible.make(options)))
        assert.isTrue(Exit.isFailure(exit) && Cause.isDie(exit.cause), JSON.stringify(options))
      }
      yield* Effect.scoped(OpenAiCompatible.make({ ...good, timeouts: { total: Duration.infinity } }))
    })
  )
})
