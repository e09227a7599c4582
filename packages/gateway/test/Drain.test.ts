import { describe, it } from "@effect/vitest"
import * as Upstream from "@switchgear/testing/Upstream"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import { expect } from "vitest"
import { chat, type ErrorBody, errorOf, events, type Fixture, fixture, type Options, send } from "./support.js"

const patient = "{ firstOutput: 20000, idle: 20000, total: 20000 }"

/** A gateway, and what ends it as a signal would. */
const ending = (options: Options): Effect.Effect<[Fixture, Effect.Effect<void>], never, Scope.Scope> =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const made = yield* Scope.extend(fixture(options), scope)
    return [made, Scope.close(scope, Exit.void)]
  })

/** Another request is refused as soon as the end has begun. */
const draining = (url: string) =>
  Effect.repeat(send(url, { path: "/readyz" }), { until: (reply) => reply.status === 503 })

describe("the end of a gateway (ROUTING W8)", () => {
  it.scopedLive("a gateway whose fiber is interrupted, as by a signal, drains like one whose scope is closed", () =>
    Effect.gen(function* () {
      const started = yield* Deferred.make<Fixture>()
      const gateway = yield* fixture({ primary: [Upstream.drip(60)], timeouts: patient }).pipe(
        Effect.flatMap((made) => Deferred.succeed(started, made)),
        Effect.zipRight(Effect.never),
        Effect.scoped,
        Effect.fork
      )
      const { primary, url } = yield* Deferred.await(started)
      const stream = yield* Effect.fork(send(url, chat("main", { stream: true })))
      yield* primary.call(0)
      yield* Fiber.interrupt(gateway)
      expect(events((yield* Fiber.join(stream)).text).at(-1)).toBe("[DONE]")
    })
  )

  it.scopedLive("running calls and streams finish; it is not ready, and new calls are refused", () =>
    Effect.gen(function* () {
      const [{ primary, url }, end] = yield* ending({
        primary: (call) => (call.stream ? Upstream.drip(60) : Upstream.slowHeaders(400)),
        timeouts: "{ firstOutput: 5000, total: 10000 }"
      })
      const json = yield* Effect.fork(send(url, chat("main")))
      const stream = yield* Effect.fork(send(url, chat("main", { stream: true })))
      yield* Effect.zip(primary.call(0), primary.call(1))
      const ended = yield* Effect.fork(end)
      const ready = yield* draining(url)
      expect([ready.text, ready.headers.connection]).toEqual(['{"status":"draining"}', "close"])
      const refused = yield* send(url, chat("main"))
      expect([refused.status, errorOf(refused).code, refused.headers["retry-after"]]).toEqual([
        503,
        "shutting_down",
        "1"
      ])
      expect((yield* send(url, { path: "/healthz" })).status).toBe(200)
      expect((yield* Fiber.join(json)).status).toBe(200)
      expect(events((yield* Fiber.join(stream)).text).at(-1)).toBe("[DONE]")
      yield* Fiber.join(ended)
      expect(yield* primary.count).toBe(2)
      expect(Exit.isFailure(yield* Effect.exit(Effect.scoped(send(url, { path: "/healthz" }))))).toBe(true)
    })
  )

  it.scopedLive("what is not over after the drain is cut off with an error, and the upstream call with it", () =>
    Effect.gen(function* () {
      const [{ primary, url }, end] = yield* ending({
        primary: (call) => (call.stream ? Upstream.hangAfterOutput(2) : Upstream.hangBeforeHeaders),
        server: "drain: 150",
        timeouts: patient
      })
      const json = yield* Effect.fork(send(url, chat("main")))
      const stream = yield* Effect.fork(send(url, chat("main", { stream: true })))
      yield* Effect.zip(primary.call(0), primary.call(1))
      yield* Effect.sleep(50)
      yield* end
      const refused = yield* Fiber.join(json)
      expect([refused.status, errorOf(refused).code]).toEqual([503, "shutting_down"])
      const frames = events((yield* Fiber.join(stream)).text)
      expect((JSON.parse(frames.at(-1) ?? "") as ErrorBody).error.code).toBe("shutting_down")
    })
  )

  it.scopedLive("with nothing running it ends at once, idle connections or not", () =>
    Effect.gen(function* () {
      const [{ url }, end] = yield* ending({ server: "drain: 1 hour" })
      yield* send(url, chat("main"))
      yield* end
    })
  )
})
