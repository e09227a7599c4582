import * as http from "node:http"
import { describe, it } from "@effect/vitest"
import * as Upstream from "@switchgear/testing/Upstream"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { expect } from "vitest"
import { chat, type ErrorBody, events, fixture, send } from "./support.js"

const patient = "{ firstOutput: 20000, idle: 20000, total: 30000 }"

describe("a caller who leaves closes the upstream call (ROUTING F9)", () => {
  const cases: ReadonlyArray<[string, Upstream.Behaviour, boolean]> = [
    ["JSON, before the headers", Upstream.hangBeforeHeaders, false],
    ["JSON, in the middle", Upstream.hangAfterOutput(), false],
    ["a stream, before the headers", Upstream.hangBeforeHeaders, true],
    ["a stream, before its output", Upstream.pingsOnly(20), true],
    ["a stream, in the middle", Upstream.hangAfterOutput(2), true]
  ]
  it.live.each(cases)("%s", ([, upstream, stream]) =>
    Effect.scoped(
      Effect.gen(function* () {
        const { backup, logs, primary, url } = yield* fixture({ primary: [upstream], timeouts: patient })
        const caller = yield* Effect.fork(send(url, chat("main", { stream })))
        const call = yield* primary.call(0)
        yield* Effect.sleep(50)
        yield* Fiber.interrupt(caller)
        expect(yield* call.closed).toBe("left")
        yield* Effect.repeat(
          Effect.sync(() => logs),
          { until: (lines) => lines.some((line) => line.includes("status=499")) }
        )
        expect(yield* backup.count).toBe(0)
        const [one] = JSON.parse((yield* send(url, { path: "/admin/breakers" })).text).breakers
        expect(one.counters.failed).toBe(0)
      })
    )
  )
})

describe("a stream", () => {
  it.scopedLive("passes unchanged, chunk by chunk, with the headers of one", () =>
    Effect.gen(function* () {
      const frames = [
        'data: {"choices":[{"index":0,"delta":{"content":"a"},"x":1}]}\n\n',
        ': ping\n\ndata: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n',
        "data: [DONE]\n\n"
      ]
      const { url } = yield* fixture({ primary: [Upstream.raw({ chunks: frames })] })
      const reply = yield* send(url, chat("main", { stream: true }))
      expect(reply.text).toBe(frames.join(""))
      expect(reply.headers["content-type"]).toBe("text/event-stream; charset=utf-8")
      expect(reply.headers["cache-control"]).toBe("no-cache")
      expect(reply.headers["x-switchgear-attempts"]).toBe("1")
    })
  )

  it.scopedLive("is read no faster than its client reads", () =>
    Effect.gen(function* () {
      const { port, primary } = yield* fixture({ primary: [Upstream.huge(64 * 1024 * 1024)], timeouts: patient })
      const { body = "" } = chat("main", { stream: true })
      const response = yield* Effect.acquireRelease(
        Effect.async<http.IncomingMessage>((resume) => {
          const options = {
            port,
            method: "POST",
            path: "/v1/chat/completions",
            headers: { "content-type": "application/json" }
          }
          http
            .request(options, (response) => resume(Effect.succeed(response)))
            .on("error", () => {})
            .end(body)
        }),
        (response) => Effect.sync(() => response.destroy())
      )
      const call = yield* primary.call(0)
      // Nobody reads: the upstream stalls once the buffers between are full.
      let sent = -1
      while (sent !== call.sent()) {
        sent = call.sent()
        yield* Effect.sleep(200)
      }
      expect(sent).toBeLessThan(24 * 1024 * 1024)
      const received = yield* Effect.async<number>((resume) => {
        let size = 0
        response.on("data", (chunk: Buffer) => {
          size += chunk.length
        })
        response.on("end", () => resume(Effect.succeed(size)))
      })
      expect(received).toBeGreaterThan(64 * 1024 * 1024)
    })
  )
})

describe("a stream that is held back (ROUTING W9)", () => {
  it.scopedLive("gets a 200 and comments, then the substitute's output, named in a comment", () =>
    Effect.gen(function* () {
      const { url } = yield* fixture({
        primary: [Upstream.pingsOnly(20)],
        server: "holdBack: 40",
        timeouts: "{ firstOutput: 300, idle: 300, total: 2000 }"
      })
      const reply = yield* send(url, chat("main", { stream: true }))
      expect([reply.status, reply.headers["content-type"]]).toEqual([200, "text/event-stream; charset=utf-8"])
      expect(reply.headers["x-request-id"]).toBeDefined()
      expect(reply.headers["x-switchgear-provider-used"]).toBeUndefined()
      expect(reply.text).toMatch(/^(: waiting for the model\n\n)+: served by spare\n\ndata: /)
      expect(events(reply.text).at(-1)).toBe("[DONE]")
    })
  )

  it.scopedLive("that fails in the end gets an error frame", () =>
    Effect.gen(function* () {
      const { url } = yield* fixture({ primary: [Upstream.pingsOnly(20)], server: "holdBack: 40" })
      const reply = yield* send(url, chat("single", { stream: true }))
      const [frame = ""] = events(reply.text)
      expect([reply.status, (JSON.parse(frame) as ErrorBody).error.code]).toEqual([200, "provider_timeout"])
    })
  )
})
