import type { ProviderKind } from "@switchgear/failures/ProviderKind"
import type * as Provider from "@switchgear/providers/Provider"
import { ProviderError } from "@switchgear/providers/Provider"
import * as Translated from "@switchgear/providers/Translated"
import type * as Wire from "@switchgear/providers/Wire"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import type { Dispatcher } from "undici"
import { assert, describe, it } from "vitest"
import { Exchange } from "../src/internal/exchange.js"
import { limits } from "../src/internal/limits.js"
import { Mask } from "../src/internal/mask.js"
import { Meaning } from "../src/internal/meaning.js"
import { Wheel } from "../src/internal/wheel.js"
import { request } from "./harness.js"
import { cut, places } from "./wireArbitrary.js"

/** Longer by `scripts/fuzz.mjs`. */
const seed = process.env["FUZZ_SEED"]
const runs = { numRuns: Number(process.env["FUZZ_RUNS"] ?? 500), ...(seed !== undefined && { seed: Number(seed) }) }

const maxAnswer = 600
const maxEvent = 500
const maxError = 256 * 1024

/** A response as it comes off a socket: its head, its bytes in pieces, and how it ends. */
interface Arrival {
  readonly status: number
  readonly type: string | undefined
  readonly chunks: ReadonlyArray<Uint8Array>
  readonly ending: "end" | "reset" | "silence"
}

/** undici's part: hands over what arrives until the exchange hangs up. */
class Connection implements Dispatcher.DispatchController {
  readonly aborted = false
  reason: Error | null = null
  paused = false
  over = false

  abort(reason: Error): void {
    this.reason = reason
    this.over = true
  }
  pause(): void {
    this.paused = true
  }
  resume(): void {
    this.paused = false
  }
}

/** Time stands still: only what the test expires is over. */
const clock: Clock.Clock = Object.assign(Object.create(Clock.make()), { sleep: () => Effect.never })

/** A provider over HTTP but for the socket: the exchange is the real one. */
const over = (kind: ProviderKind, operation: Provider.Operation, arrival: Arrival): Provider.Provider => ({
  name: "fuzzed",
  operations: [operation],
  call: (asked) =>
    Effect.async<Provider.Answer, ProviderError>((resume) => {
      const wheel = new Wheel(clock, 5)
      const connection = new Connection()
      const mask = new Mask("sk-canary-5f0c1d2e3b4a59687766", "upstream.example")
      const pool = { dispatch: () => true }
      const line = { name: "fuzzed", pool, limits: limits(), wheel, clock, maxAnswer, maxEvent }
      const exchange = new Exchange(line, new Meaning(kind, mask.needles), asked, mask, resume)
      exchange.start("/", [])
      exchange.onRequestStart(connection)
      const headers = arrival.type === undefined ? {} : { "content-type": arrival.type }
      exchange.onResponseStart(connection, arrival.status, headers)
      for (const chunk of arrival.chunks) {
        if (connection.over) break
        exchange.onResponseData(connection, Buffer.from(chunk))
      }
      if (!connection.over && arrival.ending === "end") exchange.onResponseEnd()
      else if (!connection.over && arrival.ending === "reset") {
        exchange.onResponseError(connection, Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" }))
      } else if (!connection.over) exchange.expire(Number.POSITIVE_INFINITY)
      wheel.close()
    })
})

interface Outcome {
  readonly error: ProviderError | undefined
  readonly json: Uint8Array | undefined
  readonly chunks: ReadonlyArray<Uint8Array>
}

/** Reads to the end. Nothing here waits for anything but what has been said, so what does not come never will. */
const outcome = async (provider: Provider.Provider, asked: Provider.ProviderRequest): Promise<Outcome> => {
  const result = await Effect.runPromise(Effect.either(provider.call(asked)))
  if (result._tag === "Left") return { error: result.left, json: undefined, chunks: [] }
  if (result.right._tag === "Json") return { error: undefined, json: result.right.body, chunks: [] }
  const chunks: Array<Uint8Array> = []
  try {
    for await (const chunk of result.right.body) chunks.push(chunk)
  } catch (error) {
    if (error instanceof ProviderError) return { error, json: undefined, chunks }
    throw error
  }
  return { error: undefined, json: undefined, chunks }
}

/** Bytes of any kind among pieces of real answers, so that runs get past the first byte; some are larger than the bounds. */
const piece = fc.oneof(
  { weight: 3, arbitrary: fc.uint8Array({ maxLength: 60 }) },
  {
    weight: 5,
    arbitrary: fc
      .constantFrom(
        '{"id":"c","choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}',
        '{"id":"m","type":"message","content":[{"type":"text","text":"x"}],"stop_reason":"end_turn"}',
        '{"choices":[{"message":{"tool_calls":[{"function":{"name":"f","arguments":"{"}}]}}]}',
        '{"error":{"message":"no","type":"server_error"}}',
        '[{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","details":[{"retryDelay":"1e999s"}]}}]',
        'data: {"choices":[{"delta":{"content":"x"}}]}\n\n',
        'data: {"choices":[{"delta":{"role":"assistant"}}]}\n\n',
        'data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]}}]}\n\n',
        'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\r\n\r\n',
        "data: [DONE]\n\n",
        'event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"m"}}\n\n',
        'event: message_start\ndata: {"type":"message_start","message":{"id":"m"}}\n\n',
        'event: content_block_start\ndata: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}\n\n',
        'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"x"}}\n\n',
        'event: message_delta\ndata: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}\n\n',
        'event: message_stop\ndata: {"type":"message_stop"}\n\n',
        ": ping\n\n",
        'data: [[[{"a":',
        "\r",
        "\n",
        "\ufeff",
        " ".repeat(300)
      )
      .map((text) => new TextEncoder().encode(text))
  },
  { weight: 1, arbitrary: fc.integer({ min: 400, max: 900 }).map((length) => new Uint8Array(length).fill(120)) }
)

const arrival: fc.Arbitrary<Arrival> = fc
  .record({
    status: fc.constantFrom(200, 200, 200, 201, 204, 301, 400, 429, 500, 599),
    type: fc.constantFrom("text/event-stream", "application/json", "text/html", undefined),
    pieces: fc.array(piece, { maxLength: 10 }),
    places,
    ending: fc.constantFrom<Arrival["ending"]>("end", "end", "reset", "silence")
  })
  .map(({ ending, pieces, places, status, type }) => ({
    status,
    type,
    chunks: cut(Buffer.concat(pieces), places).filter((chunk) => chunk.length > 0),
    ending
  }))

const operation = fc.constantFrom<Wire.Dialect>("chat.completions", "messages")
const kindOf = (operation: Wire.Dialect): ProviderKind => (operation === "messages" ? "anthropic" : "openai-compatible")

const largest = (chunks: ReadonlyArray<Uint8Array>): number => Math.max(0, ...chunks.map((chunk) => chunk.length))

describe("fuzz", () => {
  it("any bytes, cut anywhere, as JSON and as SSE: an answer or a ProviderError, within the bounds, and no byte made up", async () => {
    await fc.assert(
      fc.asyncProperty(operation, fc.boolean(), arrival, async (operation, stream, arrival) => {
        const result = await outcome(over(kindOf(operation), operation, arrival), request(operation, stream))
        const all = Buffer.concat(arrival.chunks)
        const passed = Buffer.concat(result.json === undefined ? result.chunks : [result.json])
        assert.isTrue(all.subarray(0, passed.length).equals(passed))
        if (result.error === undefined && arrival.ending === "end") assert.strictEqual(passed.length, all.length)
        assert.isAtMost(result.json?.length ?? 0, maxAnswer)
        assert.isAtMost(result.error?.response?.body.length ?? 0, maxError + largest(arrival.chunks))
      }),
      runs
    )
  })

  it("before its first output a stream is held back up to the bound, not a byte further", async () => {
    const idle = new TextEncoder().encode('data: {"choices":[{"delta":{"role":"assistant"}}]}\n\n')
    const output = new TextEncoder().encode('data: {"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}\n\n')
    await fc.assert(
      fc.asyncProperty(fc.nat(30), places, async (count, places) => {
        const before = Buffer.concat(Array.from({ length: count }, () => idle))
        const chunks = [...cut(before, places), output]
        const arrival: Arrival = { status: 200, type: "text/event-stream", chunks, ending: "end" }
        const result = await outcome(over("openai", "chat.completions", arrival), request("chat.completions", true))
        if (before.length > maxEvent) assert.strictEqual(result.error?.failure.kind, "server_error")
        else assert.strictEqual(Buffer.concat(result.chunks).length, before.length + output.length)
      }),
      runs
    )
  })

  it("the same for a client of the other dialect: an answer or a ProviderError, and whole events only", async () => {
    await fc.assert(
      fc.asyncProperty(operation, fc.boolean(), arrival, async (operation, stream, arrival) => {
        const provider = Translated.make(over(kindOf(operation), operation, arrival))
        const client = operation === "messages" ? "chat.completions" : "messages"
        const result = await outcome(provider, request(client, stream))
        if (result.json !== undefined) JSON.parse(Buffer.from(result.json).toString())
        const text = Buffer.concat(result.chunks).toString()
        assert.isTrue(text === "" || text.endsWith("\n\n"))
        const last = client === "messages" ? "event: message_stop" : "data: [DONE]"
        if (stream && result.error === undefined && result.json === undefined) assert.include(text, last)
        // an error may come behind a good end; a cut is never given one
        if (result.error?.failure.kind === "network_error") assert.notInclude(text, last)
        if (result.error?.response !== undefined) JSON.parse(Buffer.from(result.error.response.body).toString())
      }),
      runs
    )
  })
})
