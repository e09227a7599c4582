import { describe, it } from "@effect/vitest"
import type * as Provider from "@switchgear/providers/Provider"
import { ProviderError } from "@switchgear/providers/Provider"
import * as Upstream from "@switchgear/testing/Upstream"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { assert } from "vitest"
import { operations, outcome, request, setup } from "./harness.js"

/** Generous: what is awaited is the upstream's own event, and the aim is 100 ms on an idle machine. */
const soon = "5 seconds"

const bodyOf = (answer: Provider.Answer): AsyncIterator<Uint8Array> => {
  if (answer._tag !== "Stream") return assert.fail("no stream")
  return answer.body[Symbol.asyncIterator]()
}

describe("a caller who leaves closes the upstream call", () => {
  const hung: ReadonlyArray<readonly [when: string, behaviour: Upstream.Behaviour]> = [
    ["before headers", Upstream.hangBeforeHeaders],
    ["after headers", Upstream.hangAfterHeaders],
    ["amid pings", Upstream.pingsOnly(5)]
  ]
  for (const operation of operations) {
    for (const stream of [false, true]) {
      for (const [when, behaviour] of hung) {
        it.scopedLive(`${operation}, ${stream ? "SSE" : "JSON"}: ${when}`, () =>
          Effect.gen(function* () {
            const { provider, upstream } = yield* setup(operation, [behaviour])
            const fiber = yield* Effect.fork(provider.call(request(operation, stream)))
            const call = yield* upstream.call(0)
            yield* Fiber.interrupt(fiber)
            assert.strictEqual(yield* Effect.timeout(call.closed, soon), "left")
          })
        )
      }
    }

    it.scopedLive(`${operation}: during a JSON body`, () =>
      Effect.gen(function* () {
        const { provider, upstream } = yield* setup(operation, [Upstream.drip(50)])
        const fiber = yield* Effect.fork(provider.call(request(operation, false)))
        const call = yield* upstream.call(0)
        yield* Effect.repeat(Effect.sleep(2), { until: () => call.sent() > 0 })
        yield* Fiber.interrupt(fiber)
        assert.strictEqual(yield* Effect.timeout(call.closed, soon), "left")
      })
    )

    it.scopedLive(`${operation}: mid-stream, by return()`, () =>
      Effect.gen(function* () {
        const { provider, upstream } = yield* setup(operation, [Upstream.hangAfterOutput(1)])
        const body = bodyOf(yield* provider.call(request(operation, true)))
        yield* Effect.promise(() => body.next())
        const pending = body.next()
        yield* Effect.promise(async () => body.return?.())
        assert.strictEqual(yield* Effect.timeout((yield* upstream.call(0)).closed, soon), "left")
        assert.isTrue((yield* Effect.promise(() => pending)).done)
        assert.isTrue((yield* Effect.promise(() => body.next())).done)
      })
    )
  }

  it.scopedLive("a stream whose first chunk nobody took is closed by return() as well", () =>
    Effect.gen(function* () {
      const { provider, upstream } = yield* setup("messages", [Upstream.huge(64 * 1024 * 1024)])
      const body = bodyOf(yield* provider.call(request("messages", true)))
      yield* Effect.promise(async () => body.return?.())
      assert.strictEqual(yield* Effect.timeout((yield* upstream.call(0)).closed, soon), "left")
    })
  )

  it.scopedLive("before a connection was there: nothing goes upstream", () =>
    Effect.gen(function* () {
      const { provider, upstream } = yield* setup("messages", [Upstream.hangBeforeHeaders, Upstream.ok()], {
        pool: { connections: 1 }
      })
      const first = yield* Effect.fork(provider.call(request("messages", false)))
      yield* upstream.call(0)
      const second = yield* Effect.fork(provider.call(request("messages", false)))
      yield* Effect.sleep(10)
      yield* Fiber.interrupt(second)
      yield* Fiber.interrupt(first)
      yield* upstream.quiet
      assert.isUndefined((yield* outcome(provider, request("messages", false))).error)
      assert.strictEqual(yield* upstream.count, 2)
    })
  )

  it.live("closing the provider's scope ends its calls", () =>
    Effect.gen(function* () {
      const error = yield* Effect.scoped(
        Effect.gen(function* () {
          const { provider, upstream: own } = yield* setup("messages", [Upstream.hangAfterOutput(1)])
          const body = bodyOf(yield* provider.call(request("messages", true)))
          yield* Effect.promise(() => body.next())
          assert.strictEqual(yield* own.open, 1)
          return Effect.promise(() =>
            body.next().then(
              () => undefined,
              (error: unknown) => error
            )
          )
        })
      ).pipe(Effect.flatten)
      assert.strictEqual(error instanceof ProviderError && error.failure.kind, "network_error")
    })
  )
})

describe("back-pressure", () => {
  it.scopedLive("a reader who stops stops the upstream: what is buffered stays bounded", () =>
    Effect.gen(function* () {
      const size = 256 * 1024 * 1024
      const { provider, upstream } = yield* setup("chat.completions", [Upstream.huge(size)])
      const body = bodyOf(yield* provider.call(request("chat.completions", true)))
      const call = yield* upstream.call(0)
      let read = 0
      for (let n = 0; n < 20; n++) {
        const next = yield* Effect.promise(() => body.next())
        read += next.done === true ? 0 : next.value.length
      }
      // Until the sockets' own buffers are full and nothing moves any more.
      let before = -1
      yield* Effect.repeat(Effect.sleep(100), {
        until: () => {
          const same = call.sent() === before
          before = call.sent()
          return same
        }
      })
      assert.isBelow(call.sent() - read, 32 * 1024 * 1024)
      yield* Effect.promise(async () => body.return?.())
    })
  )
})

describe("many at a time", () => {
  it.scopedLive("200 streams: none mixed, lost or doubled", () =>
    Effect.gen(function* () {
      const { provider, upstream } = yield* setup("chat.completions", (call) =>
        Upstream.drip(20, { parts: Array.from({ length: 20 }, (_, part) => `${call.model}:${part};`) })
      )
      const ask = (name: string) => {
        const body = Buffer.from(JSON.stringify({ model: name, stream: true, messages: [] }))
        return Effect.map(outcome(provider, request("chat.completions", true, { body })), ({ bytes, error }) => {
          assert.isUndefined(error)
          const said = bytes
            .toString()
            .split("\n\n")
            .flatMap((line) => (line.startsWith("data: {") ? [JSON.parse(line.slice(6))] : []))
            .map((event) => event.choices[0]?.delta.content ?? "")
            .join("")
          assert.strictEqual(said, Array.from({ length: 20 }, (_, part) => `${name}:${part};`).join(""))
        })
      }
      yield* Effect.forEach(
        Array.from({ length: 200 }, (_, n) => `model-${n}`),
        ask,
        { concurrency: "unbounded" }
      )
      assert.strictEqual(yield* upstream.count, 200)
      yield* upstream.quiet
    })
  )
})
