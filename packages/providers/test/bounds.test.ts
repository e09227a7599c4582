import { describe, it } from "@effect/vitest"
import * as Upstream from "@switchgear/testing/Upstream"
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { assert } from "vitest"
import { canary, operations, outcome, over, request, setup } from "./harness.js"

const sse = { "content-type": "text/event-stream" }

describe("bounds", () => {
  it.scopedLive("a JSON answer over the bound is a server error, and its call is closed", () =>
    Effect.gen(function* () {
      const { provider, upstream } = yield* setup("chat.completions", [Upstream.huge(64 * 1024 * 1024)], {
        maxAnswer: 1024 * 1024
      })
      const { error } = yield* outcome(provider, request("chat.completions", false))
      assert.strictEqual(error?.failure.kind, "server_error")
      const call = yield* upstream.call(0)
      assert.strictEqual(yield* call.closed, "left")
      assert.isBelow(call.sent(), 32 * 1024 * 1024)
    })
  )

  it.scopedLive("an event over the bound, and too much before the first output, end the stream", () =>
    Effect.gen(function* () {
      const event = `data: {"choices":[{"delta":{"content":"${"x".repeat(200_000)}"}}]}\n\n`
      const first = `data: {"choices":[{"delta":{"content":"x"}}]}\n\n`
      const idle = `data: {"choices":[{"delta":{"role":"assistant"}}]}\n\n`.repeat(2_000)
      const cases = [
        { chunks: [event], committed: false },
        { chunks: [first, event], committed: true },
        { chunks: ["x".repeat(300_000)], committed: false },
        { chunks: [idle], committed: false }
      ]
      for (const { chunks, committed } of cases) {
        const { provider, upstream } = yield* setup("chat.completions", [Upstream.raw({ chunks, by: "hang" })], {
          maxEvent: 100_000
        })
        const result = yield* outcome(provider, request("chat.completions", true))
        assert.strictEqual(result.error?.failure.kind, "server_error")
        assert.strictEqual(result.committed, committed)
        yield* upstream.quiet
      }
    })
  )

  it.scopedLive("an error's body is read no further than 256 KiB", () =>
    Effect.gen(function* () {
      const chunks = Array.from({ length: 64 }, () => "y".repeat(16 * 1024))
      const { provider, upstream } = yield* setup("messages", [Upstream.raw({ status: 500, chunks, by: "hang" })])
      const { error } = yield* outcome(provider, request("messages", true))
      assert.strictEqual(error?.failure.kind, "server_error")
      assert.isBelow(error?.response?.body.length ?? 0, 400 * 1024)
      yield* upstream.quiet
    })
  )
})

/** Pieces of real answers among noise, so that runs get past the first byte. */
const piece = fc.oneof(
  fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
  fc
    .constantFrom(
      `{"choices":[{"message":{"content":"x"}}]}`,
      `data: {"choices":[{"delta":{"content":"x"}}]}\n\n`,
      `data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\r\n\r\n`,
      `data: [DONE]\n\n`,
      `event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"m"}}\n\n`,
      `event: message_start\ndata: {"type":"message_start"}\n\n`,
      `event: content_block_delta\ndata: {"type":"content_block_delta","delta":{"type":"text_delta","text":"x"}}\n\n`,
      `event: message_stop\ndata: {"type":"message_stop"}\n\n`,
      `data: [[[{"a":`,
      `: \u0000\n`,
      "\r",
      "\n"
    )
    .map((text) => Buffer.from(text))
)

describe("fuzz", () => {
  it.scopedLive(
    "any bytes, split anywhere, as JSON and as SSE: an answer or a ProviderError, no more bytes than came, none made up",
    () =>
      Effect.gen(function* () {
        let chunks: ReadonlyArray<Buffer> = []
        let headers = sse
        const upstream = yield* Upstream.make(() => Upstream.raw({ chunks, headers }))
        const providers = yield* Effect.forEach(operations, (operation) => over(upstream, operation))
        const runtime = yield* Effect.runtime<never>()
        const run = (stream: boolean, at: number) => {
          const [operation, provider] = [operations[at % 3] ?? "messages", providers[at % 3]]
          if (provider === undefined) return assert.fail("no provider")
          return outcome(provider, request(operation, stream))
        }
        yield* Effect.promise(() =>
          fc.assert(
            fc.asyncProperty(
              fc.array(piece, { maxLength: 8 }),
              fc.boolean(),
              fc.constantFrom("text/event-stream", "application/json", "text/plain"),
              fc.nat(2),
              async (pieces, stream, type, at) => {
                chunks = pieces
                headers = { "content-type": type }
                const result = await Effect.runPromise(Effect.provide(run(stream, at), runtime))
                const all = Buffer.concat(pieces)
                assert.isTrue(all.subarray(0, result.bytes.length).equals(result.bytes))
                if (result.error === undefined) assert.strictEqual(result.bytes.length, all.length)
                assert.notInclude(JSON.stringify(result), canary)
              }
            ),
            { numRuns: Number(process.env["FUZZ_RUNS"] ?? 300) }
          )
        )
        yield* upstream.quiet
        assert.strictEqual(yield* upstream.left, 0)
      })
  )
})
