import { describe, it } from "@effect/vitest"
import * as AzureOpenAi from "@switchgear/providers/AzureOpenAi"
import * as OpenAi from "@switchgear/providers/OpenAi"
import * as OpenAiCompatible from "@switchgear/providers/OpenAiCompatible"
import * as Upstream from "@switchgear/testing/Upstream"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { assert } from "vitest"
import { canary, operations, outcome, over, request, setup } from "./harness.js"

describe("what goes upstream", () => {
  for (const operation of [...operations, "embeddings"] as const) {
    it.scopedLive(`${operation}: the body as it came, unknown fields and spacing included (W6)`, () =>
      Effect.gen(function* () {
        const { provider, upstream } = yield* setup(operation, [Upstream.ok()])
        const body = Buffer.from(` {"model" : "m",\n"x_unknown":{"a":[1,2,{}]}, "n":1e3,"é":"✓" } `)
        yield* outcome(provider, request(operation, false, { body }))
        const call = yield* upstream.call(0)
        assert.deepStrictEqual(Buffer.from(call.body), body)
        assert.strictEqual(call.endpoint, operation)
        assert.strictEqual(call.method, "POST")
      })
    )
  }

  it.scopedLive("headers to forward, without those of the client's connection and without its credentials", () =>
    Effect.gen(function* () {
      const { provider, upstream } = yield* setup("messages", [Upstream.ok()])
      const headers = {
        "anthropic-beta": "tools-2024",
        "Anthropic-Version": "2024-01-01",
        "Content-Type": "application/json; charset=utf-8",
        Authorization: "Bearer theirs",
        "x-api-key": "theirs",
        cookie: "a=b",
        connection: "close",
        host: "elsewhere",
        "content-length": "3",
        "accept-encoding": "gzip",
        "transfer-encoding": "chunked"
      }
      const { answer } = yield* outcome(provider, request("messages", false, { headers }))
      assert.strictEqual(answer?._tag, "Json")
      const seen = (yield* upstream.call(0)).headers
      assert.strictEqual(seen["anthropic-beta"], "tools-2024")
      assert.strictEqual(seen["anthropic-version"], "2024-01-01")
      assert.strictEqual(seen["content-type"], "application/json; charset=utf-8")
      assert.strictEqual(seen["x-api-key"], canary)
      assert.strictEqual(seen["accept-encoding"], "identity")
      assert.strictEqual(seen["host"], `127.0.0.1:${upstream.port}`)
      assert.notInclude(JSON.stringify(seen), "theirs")
      assert.isUndefined(seen["cookie"])
    })
  )

  it.scopedLive("the vendor's own paths, versions and headers", () =>
    Effect.gen(function* () {
      const upstream = yield* Upstream.make([Upstream.ok()])
      const apiKey = Redacted.make("the-key")
      const openai = yield* OpenAi.make({ baseUrl: upstream.baseUrl, apiKey, organization: "org-1", project: "p-1" })
      const azure = yield* AzureOpenAi.make({ baseUrl: upstream.url, apiKey })
      const azureV1 = yield* AzureOpenAi.make({ baseUrl: `${upstream.url}/`, apiKey, apiVersion: "v1" })
      const anthropic = yield* over(upstream, "messages")
      const proxied = yield* OpenAiCompatible.make({ name: "p", baseUrl: `${upstream.url}/a/b/?tenant=1` })
      for (const provider of [openai, azure, azureV1, proxied]) {
        yield* outcome(provider, request("chat.completions", false))
      }
      yield* outcome(azure, request("responses", false))
      yield* outcome(anthropic, request("messages", false))
      const calls = yield* upstream.calls
      assert.deepStrictEqual(
        calls.map((call) => call.path),
        [
          "/v1/chat/completions",
          "/openai/deployments/m/chat/completions?api-version=2024-10-21",
          "/openai/v1/chat/completions",
          "/a/b/chat/completions?tenant=1",
          "/openai/responses?api-version=2024-10-21",
          "/v1/messages"
        ]
      )
      assert.strictEqual(calls[0]?.headers["authorization"], "Bearer the-key")
      assert.strictEqual(calls[0]?.headers["openai-organization"], "org-1")
      assert.strictEqual(calls[0]?.headers["openai-project"], "p-1")
      assert.strictEqual(calls[1]?.headers["api-key"], "the-key")
      assert.isUndefined(calls[1]?.headers["authorization"])
      assert.isUndefined(calls[3]?.headers["authorization"])
      assert.strictEqual(calls[5]?.headers["anthropic-version"], "2023-06-01")
    })
  )

  it.scopedLive("a caller's own key instead of the provider's (W7)", () =>
    Effect.gen(function* () {
      const { provider, upstream } = yield* setup("chat.completions", [Upstream.status(401, { echoKey: true })])
      const { error } = yield* outcome(
        provider,
        request("chat.completions", false, { apiKey: Redacted.make("sk-caller-0123456789") })
      )
      assert.strictEqual((yield* upstream.call(0)).headers["authorization"], "Bearer sk-caller-0123456789")
      assert.notInclude(JSON.stringify(error), "sk-caller-0123456789")
    })
  )

  it.scopedLive("nothing, for an operation the vendor does not speak", () =>
    Effect.gen(function* () {
      const { provider, upstream } = yield* setup("messages", [Upstream.ok()])
      const { error } = yield* outcome(provider, request("chat.completions", false))
      assert.strictEqual(error?.failure.kind, "client_fault")
      assert.strictEqual(error?.failure.code, "unsupported_operation")
      assert.strictEqual(yield* upstream.count, 0)
    })
  )

  it.scopedLive("no second request after a redirect", () =>
    Effect.gen(function* () {
      const elsewhere = yield* Upstream.make([Upstream.ok()])
      const { provider } = yield* setup("chat.completions", [
        Upstream.status(307, { headers: { location: `${elsewhere.baseUrl}/chat/completions` } })
      ])
      const { error } = yield* outcome(provider, request("chat.completions", false))
      assert.strictEqual(error?.response?.status, 307)
      assert.isUndefined(error?.response?.headers["location"])
      assert.strictEqual(yield* elsewhere.count, 0)
    })
  )
})

describe("what comes back", () => {
  for (const operation of operations) {
    for (const stream of [false, true]) {
      it.scopedLive(`${operation}, ${stream ? "SSE" : "JSON"}: the bytes as they came (W6)`, () =>
        Effect.gen(function* () {
          const reply = { parts: ["é", "✓ ", "\u0000"], toolCalls: [{ name: "f", arguments: { a: "b" } }] }
          const script = [
            Upstream.ok({ ...reply, headers: { "x-request-id": "r1", "set-cookie": "s=1", server: "nginx" } })
          ] as const
          const { provider, upstream } = yield* setup(operation, script)
          const direct = yield* Effect.promise(async () => {
            const path = operation === "messages" ? "messages" : operation.replace(".", "/")
            const body = Buffer.from(request(operation, stream).body)
            return Buffer.from(
              await (await fetch(`${upstream.baseUrl}/${path}`, { method: "POST", body })).arrayBuffer()
            )
          })
          yield* upstream.setScript(script)
          const { answer, bytes } = yield* outcome(provider, request(operation, stream))
          assert.deepStrictEqual(bytes.toString(), direct.toString())
          assert.strictEqual(answer?.headers["x-request-id"], "r1")
          assert.isUndefined(answer?.headers["set-cookie"])
          assert.isUndefined(answer?.headers["server"])
          assert.isUndefined(answer?.headers["transfer-encoding"])
        })
      )
    }
  }

  it.scopedLive("comments, CR LF, unknown events and a last event without its blank line, all as they came", () =>
    Effect.gen(function* () {
      const text =
        ': hi\r\n\r\nevent: x\r\ndata: {"new":1}\r\n\r\nretry: 10\r\n\r\ndata: {"choices":[{"delta":{"content":"a"}}]}\r\n\r\n' +
        'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\r\n\r\ndata: [DONE]\n'
      for (const size of [1, 7, 1000]) {
        const chunks = text.match(new RegExp(`[^]{1,${size}}`, "g")) ?? []
        const { provider } = yield* setup("chat.completions", [Upstream.raw({ chunks })])
        const { bytes, error } = yield* outcome(provider, request("chat.completions", true))
        assert.isUndefined(error)
        assert.strictEqual(bytes.toString(), text)
      }
    })
  )

  it.scopedLive(
    "a stream's first chunk has everything up to the first output, and nothing was handed over before",
    () =>
      Effect.gen(function* () {
        const { provider } = yield* setup("messages", [Upstream.drip(5, { parts: ["a", "b"] })])
        const answer = yield* provider.call(request("messages", true))
        assert.strictEqual(answer._tag, "Stream")
        if (answer._tag !== "Stream") return
        const first = yield* Effect.promise(() => answer.body[Symbol.asyncIterator]().next())
        const text = Buffer.from(first.value).toString()
        assert.include(text, "message_start")
        assert.include(text, "ping")
        assert.include(text, `"text":"a"`)
      })
  )

  it.scopedLive("a stream without any output that ends well is an answer (an empty completion, a content filter)", () =>
    Effect.gen(function* () {
      for (const reason of ["stop", "content_filter"]) {
        const text = `data: {"choices":[{"delta":{"role":"assistant"}}]}\n\ndata: {"choices":[{"delta":{},"finish_reason":"${reason}"}]}\n\ndata: [DONE]\n\n`
        const { provider } = yield* setup("chat.completions", [Upstream.raw({ chunks: [text] })])
        const { bytes, error } = yield* outcome(provider, request("chat.completions", true))
        assert.isUndefined(error)
        assert.strictEqual(bytes.toString(), text)
      }
    })
  )

  it.scopedLive("a cut or hung connection after the stream's own end does no harm", () =>
    Effect.gen(function* () {
      const text = `data: {"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n`
      for (const by of ["close", "reset", "hang"] as const) {
        const { provider } = yield* setup("chat.completions", [Upstream.raw({ chunks: [text], by })], {
          timeouts: { idle: 50 }
        })
        const { bytes, error } = yield* outcome(provider, request("chat.completions", true))
        assert.isUndefined(error)
        assert.strictEqual(bytes.toString(), text)
      }
    })
  )

  it.scopedLive(
    "an error frame after output: what came before it, then the failure; the frame itself is not passed on (F7)",
    () =>
      Effect.gen(function* () {
        for (const operation of operations) {
          const { provider } = yield* setup(operation, [Upstream.failAfter(2, 529, { message: "Overloaded!" })])
          const { bytes, error } = yield* outcome(provider, request(operation, true))
          assert.strictEqual(error?.failure.kind, "overloaded")
          assert.include(bytes.toString(), "there")
          assert.isTrue(bytes.toString().endsWith("\n\n"))
          assert.notInclude(bytes.toString(), "Overloaded!")
        }
      })
  )

  it.scopedLive("what came of an event that was cut is not passed on", () =>
    Effect.gen(function* () {
      const chunks = [`data: {"choices":[{"delta":{"content":"a"}}]}\n\n`, `data: {"choices":[{"del`]
      const { provider } = yield* setup("chat.completions", [Upstream.raw({ chunks, by: "close" })])
      const { bytes, error } = yield* outcome(provider, request("chat.completions", true))
      assert.strictEqual(error?.failure.kind, "network_error")
      assert.strictEqual(bytes.toString(), chunks[0])
    })
  )

  it.scopedLive("an error's words are read though its body never ends", () =>
    Effect.gen(function* () {
      const body = `{"error":{"message":"Slow down","type":"requests","code":"rate_limit_exceeded"}}`
      for (const by of ["hang", "close"] as const) {
        const { provider } = yield* setup(
          "chat.completions",
          [Upstream.raw({ status: 429, headers: { "retry-after": "7" }, chunks: [body], by })],
          { timeouts: { idle: 50 } }
        )
        const { error } = yield* outcome(provider, request("chat.completions", false))
        assert.strictEqual(error?.failure.kind, "rate_limit")
        assert.strictEqual(error?.failure.retryAfter, 7000)
        assert.strictEqual(Buffer.from(error?.response?.body ?? []).toString(), body)
      }
    })
  )
})
