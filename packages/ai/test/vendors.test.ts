import * as LanguageModel from "@effect/ai/LanguageModel"
import { assert, describe, it } from "@effect/vitest"
import * as FallbackLanguageModel from "@switchgear/ai/FallbackLanguageModel"
import * as ModelFailure from "@switchgear/ai/ModelFailure"
import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
import * as CircuitBreakerRegistry from "@switchgear/breaker/CircuitBreakerRegistry"
import * as Policy from "@switchgear/core/Policy"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as vendors from "./internal/vendors.js"

const prompt = "Hello"
const json = Effect.map(LanguageModel.generateText({ prompt }), (answer) => answer.text)
const sse = LanguageModel.streamText({ prompt }).pipe(
  Stream.runFold("", (text, part) => (part.type === "text-delta" ? text + part.delta : text))
)

const model = (first: vendors.Vendor, behave: (vendor: vendors.Vendor) => vendors.Behaviour, depth = 1) => {
  const targets = {
    openai: { name: "openai", layer: vendors.openai("sk-test-openai") },
    anthropic: { name: "anthropic", layer: vendors.anthropic("sk-ant-test") }
  } as const
  const order =
    first === "openai" ? ([targets.openai, targets.anthropic] as const) : ([targets.anthropic, targets.openai] as const)
  return FallbackLanguageModel.layer({
    targets: depth === 0 ? [order[0]] : order,
    timeouts: { firstOutput: "50 millis", idle: "50 millis", total: "1 second" }
  }).pipe(
    Layer.provide(vendors.http(behave)),
    Layer.provideMerge(CircuitBreakerRegistry.layer({ policy: Policy.hosted }))
  )
}

const other = (vendor: vendors.Vendor): vendors.Vendor => (vendor === "openai" ? "anthropic" : "openai")

interface Row {
  readonly behave: (vendor: vendors.Vendor) => vendors.Behaviour
  /** What it means, as JSON and as a stream; `undefined` where it is no failure. */
  readonly kinds: readonly [json: string, sse: string]
  readonly moves: boolean
}

const error =
  (status: number, code: string, message: string, headers = {}) =>
  (vendor: vendors.Vendor) =>
    vendors.json(
      vendor === "openai"
        ? { error: { message, type: code, code } }
        : { type: "error", error: { type: code, message } },
      status,
      headers
    )

const rows: Readonly<Record<string, Row>> = {
  "500": { behave: error(500, "api_error", "Internal"), kinds: ["server_error", "server_error"], moves: true },
  "529": { behave: error(529, "overloaded_error", "Overloaded"), kinds: ["overloaded", "overloaded"], moves: true },
  "429": {
    behave: error(429, "rate_limit_error", "Slow down", { "retry-after": "7" }),
    kinds: ["rate_limit", "rate_limit"],
    moves: true
  },
  "401": { behave: error(401, "authentication_error", "Bad key"), kinds: ["auth", "auth"], moves: true },
  "400": { behave: error(400, "invalid_request_error", "No"), kinds: ["client_fault", "client_fault"], moves: false },
  "a 503 page": {
    behave: () => vendors.raw("<html>busy</html>", "text/html", 503),
    kinds: ["server_error", "server_error"],
    moves: true
  },
  "HTML in a 200": {
    behave: () => vendors.raw("<html>hi</html>", "text/html"),
    kinds: ["server_error", "server_error"],
    moves: true
  },
  "an empty 200": {
    behave: () => vendors.raw("", "application/json"),
    kinds: ["server_error", "server_error"],
    moves: true
  },
  "a rate limit in a 200": {
    behave: error(200, "rate_limit_error", "Rate limit reached"),
    kinds: ["rate_limit", "server_error"],
    moves: true
  },
  "no connection": { behave: () => vendors.unreachable(), kinds: ["network_error", "network_error"], moves: true },
  "a hang": { behave: () => () => Effect.never, kinds: ["timeout", "timeout"], moves: true }
}

describe.each(["openai", "anthropic"] as const)("the real %s model", (vendor) => {
  for (const [name, row] of Object.entries(rows)) {
    for (const [way, call, kind] of [
      ["JSON", json, row.kinds[0]],
      ["SSE", sse, row.kinds[1]]
    ] as const) {
      it.live(`${name}, ${way}: ${kind}, ${row.moves ? "the fallback answers" : "no fallback"}`, () =>
        Effect.gen(function* () {
          const alone = yield* Effect.flip(call).pipe(Effect.provide(model(vendor, row.behave, 0)))
          assert.strictEqual(ModelFailure.failureOf(alone).kind, kind)
          const both = yield* Effect.exit(call).pipe(
            Effect.provide(model(vendor, (to) => (to === vendor ? row.behave(to) : vendors.healthy(to, "rescued"))))
          )
          assert.strictEqual(Exit.isSuccess(both) ? both.value : "", row.moves ? "rescued" : "")
        })
      )
    }
  }

  it.live("healthy: its own answer, counted as one success each", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* json, "hi")
      assert.strictEqual(yield* sse, "hi")
      const registry = yield* CircuitBreakerRegistry.CircuitBreakerRegistry
      const { counters } = yield* CircuitBreaker.status(yield* registry.get(vendor))
      assert.deepStrictEqual([counters.succeeded, counters.failed], [2, 0])
    }).pipe(Effect.provide(model(vendor, (to) => vendors.healthy(to, "hi"))))
  )

  it.live("429: Retry-After is kept", () =>
    Effect.gen(function* () {
      const failure = ModelFailure.failureOf(yield* Effect.flip(json))
      assert.strictEqual(failure.retryAfter, 7_000)
      assert.strictEqual(failure.status, 429)
    }).pipe(Effect.provide(model(vendor, error(429, "rate_limit_error", "Slow", { "retry-after": "7" }), 0)))
  )

  const { errorFrame, start, text } = vendors
  const streams: Readonly<Record<string, readonly [behave: vendors.Behaviour, seen: string]>> = {
    "an error frame before output": [vendors.sse([start(vendor), errorFrame(vendor, "busy")]), "rescued"],
    "a cut before output": [vendors.sse([start(vendor)]), "rescued"],
    "a reset before output": [vendors.sse([start(vendor)], "reset"), "rescued"],
    "an error frame after output": [
      vendors.sse([start(vendor), ...text(vendor, "Hel"), errorFrame(vendor, "busy")]),
      "Hel!"
    ],
    "a cut after output": [vendors.sse([start(vendor), ...text(vendor, "Hel")]), "Hel!"],
    "a reset after output": [vendors.sse([start(vendor), ...text(vendor, "Hel")], "reset"), "Hel!"]
  }
  for (const [name, [behave, expected]] of Object.entries(streams)) {
    it.live(`${name}: the reader sees ${expected}`, () =>
      Effect.gen(function* () {
        let seen = ""
        const exit = yield* LanguageModel.streamText({ prompt }).pipe(
          Stream.runForEach((part) =>
            Effect.sync(() => {
              if (part.type === "text-delta") seen += part.delta
            })
          ),
          Effect.exit
        )
        assert.strictEqual(Exit.isFailure(exit) ? `${seen}!` : seen, expected)
        const registry = yield* CircuitBreakerRegistry.CircuitBreakerRegistry
        const { counters } = yield* CircuitBreaker.status(yield* registry.get(vendor))
        assert.deepStrictEqual([counters.succeeded, counters.failed], [0, 1])
      }).pipe(
        Effect.provide(model(vendor, (to) => (to === vendor ? behave : vendors.healthy(other(vendor), "rescued"))))
      )
    )
  }
})

it.live("OpenAI's response.failed, which its model tells as a clean finish, moves on", () => {
  const failed = vendors.openaiResponse("", {
    status: "failed",
    output: [],
    usage: null,
    error: { code: "server_error", message: "Oops" }
  })
  const behave: vendors.Behaviour = (request) =>
    request.body._tag === "Uint8Array" && new TextDecoder().decode(request.body.body).includes('"stream":true')
      ? vendors.sse([vendors.start("openai"), { type: "response.failed", sequence_number: 1, response: failed }])(
          request
        )
      : vendors.json(failed)(request)
  return Effect.gen(function* () {
    assert.strictEqual(yield* json, "rescued")
    assert.strictEqual(yield* sse, "rescued")
  }).pipe(Effect.provide(model("openai", (to) => (to === "openai" ? behave : vendors.healthy(to, "rescued")))))
})
