import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientError from "@effect/platform/HttpClientError"
import type { HttpClientRequest } from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import { describe, it } from "@effect/vitest"
import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
import * as Registry from "@switchgear/breaker/CircuitBreakerRegistry"
import * as HttpBreaker from "@switchgear/breaker/HttpBreaker"
import * as VirtualClock from "@switchgear/clock/VirtualClock"
import * as Breaker from "@switchgear/core/Breaker"
import * as Policy from "@switchgear/core/Policy"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import { assert, expectTypeOf } from "vitest"

const policy = Policy.consecutive({ failureThreshold: 2, cooldown: { base: 1_000, honorRetryAfter: true } })
const live = Layer.provideMerge(Registry.layer({ policy }), VirtualClock.layerWith({ start: Date.UTC(2026, 0) }))

/** Answers with this status, and counts. */
const answering = (status: number, headers: Record<string, string> = {}) => {
  const upstream = { calls: 0, status }
  const client = HttpClient.make((request) =>
    Effect.sync(() => {
      upstream.calls++
      return HttpClientResponse.fromWeb(
        request,
        new Response(`status ${upstream.status}`, { status: upstream.status, headers })
      )
    })
  )
  return { upstream, client }
}

const byHost = HttpBreaker.withCircuitBreaker({ key: (request) => new URL(request.url).host })

const kinds = (name: string) =>
  Effect.gen(function* () {
    const breakers = yield* Registry.CircuitBreakerRegistry
    return (yield* CircuitBreaker.view(yield* breakers.get(name))).kinds
  })

describe("HttpBreaker", () => {
  it("fails with HttpClientError | CircuitOpen and needs the registry", () => {
    const { client } = answering(200)
    expectTypeOf(byHost(client)).toEqualTypeOf<
      HttpClient.HttpClient.With<
        HttpClientError.HttpClientError | CircuitBreaker.CircuitOpen,
        Registry.CircuitBreakerRegistry
      >
    >()
  })

  it.live("counts a bad answer and passes it on as it is; then refuses, and sends nothing", () =>
    Effect.gen(function* () {
      const { client, upstream } = answering(503)
      const guarded = byHost(client)
      for (let i = 0; i < 2; i++) {
        const response = yield* guarded.get("http://a.test/x")
        assert.strictEqual(response.status, 503)
        assert.strictEqual(yield* response.text, "status 503")
      }
      const error = yield* Effect.flip(guarded.get("http://a.test/x"))
      assert.strictEqual(error._tag, "CircuitOpen")
      assert.strictEqual(upstream.calls, 2)
      upstream.status = 200
      assert.strictEqual((yield* guarded.get("http://b.test/x")).status, 200)
      yield* Effect.sleep("1 second")
      assert.strictEqual((yield* guarded.get("http://a.test/x")).status, 200)
    }).pipe(Effect.scoped, Effect.provide(live))
  )

  it.live("gives each status its kind: 429 and 5xx count, the client's own faults do not (SEMANTICS P4)", () =>
    Effect.gen(function* () {
      for (const [status, expected] of [
        [200, {}],
        [301, {}],
        [400, {}],
        [404, {}],
        [422, {}],
        [408, { timeout: 1 }],
        [429, { rate_limit: 1 }],
        [500, { server_error: 1 }],
        [503, { server_error: 1 }]
      ] as const) {
        yield* byHost(answering(status).client).get(`http://s${status}.test/`)
        assert.deepStrictEqual(yield* kinds(`s${status}.test`), expected, String(status))
      }
    }).pipe(Effect.scoped, Effect.provide(live))
  )

  it.live("stays open as long as Retry-After asks, in seconds or as a date (SEMANTICS C3)", () =>
    Effect.gen(function* () {
      for (const [host, value] of [
        ["seconds.test", "90"],
        ["date.test", new Date(Date.UTC(2026, 0) + 90_000).toUTCString()]
      ] as const) {
        const guarded = byHost(answering(429, { "retry-after": value }).client)
        yield* guarded.get(`http://${host}/`)
        yield* guarded.get(`http://${host}/`)
        const error = yield* Effect.flip(guarded.get(`http://${host}/`))
        assert.strictEqual(error._tag === "CircuitOpen" ? error.retryAfterMillis : undefined, 90_000)
      }
    }).pipe(Effect.scoped, Effect.provide(live))
  )

  it.live("counts errors of the request and of a filter on its status, by what they are", () =>
    Effect.gen(function* () {
      const refused = (request: HttpClientRequest) =>
        new HttpClientError.RequestError({ request, reason: "Transport", cause: { code: "ECONNREFUSED" } })
      const broken = byHost(HttpClient.make((request) => Effect.fail(refused(request))))
      const error = yield* Effect.flip(broken.get("http://down.test/"))
      assert.strictEqual(error._tag, "RequestError")
      assert.deepStrictEqual(yield* kinds("down.test"), { network_error: 1 })
      const filtered = byHost(HttpClient.filterStatusOk(answering(503).client))
      assert.strictEqual((yield* Effect.flip(filtered.get("http://filter.test/")))._tag, "ResponseError")
      assert.deepStrictEqual(yield* kinds("filter.test"), { server_error: 1 })
    }).pipe(Effect.scoped, Effect.provide(live))
  )

  it.live("asks another classifier where there is one", () =>
    Effect.gen(function* () {
      const guarded = answering(200).client.pipe(
        HttpBreaker.withCircuitBreaker({
          key: () => "mine",
          classify: (exit, wall) =>
            Exit.isSuccess(exit) ? Breaker.failure("server_error") : HttpBreaker.classify(exit, wall)
        })
      )
      yield* guarded.get("http://a.test/")
      assert.deepStrictEqual(yield* kinds("mine"), { server_error: 1 })
    }).pipe(Effect.scoped, Effect.provide(live))
  )

  it.live("a key that throws leaves the request to the client, which says what is wrong with it", () =>
    Effect.gen(function* () {
      const { client, upstream } = answering(200)
      const error = yield* Effect.flip(byHost(client).get("not a url"))
      assert.strictEqual(error._tag, "RequestError")
      assert.strictEqual(upstream.calls, 0)
    }).pipe(Effect.scoped, Effect.provide(live))
  )
})
