import { connect } from "node:net"
import { describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { expect } from "vitest"
import { chat, errorOf, fixture, send } from "./support.js"

const messages = [{ role: "user", content: "Hello" }]

describe("bad input is the client's own to mend (ROUTING W5)", () => {
  const cases: ReadonlyArray<[string, string | Uint8Array, number, string, string | null, RegExp]> = [
    ["not JSON", '{"model": "main",\n "messages": [}', 400, "invalid_request", null, /line 2, column 15/],
    ["nothing", "", 400, "invalid_request", null, /empty/],
    ["a list", "[]", 400, "invalid_request", null, /object, not an array/],
    ["null", "null", 400, "invalid_request", null, /object, not null/],
    ["no model", JSON.stringify({ messages }), 400, "invalid_request", "model", /"model" is missing/],
    [
      "a model that is a number",
      JSON.stringify({ model: 4, messages }),
      400,
      "invalid_request",
      "model",
      /a string, not a number/
    ],
    ["an empty model", JSON.stringify({ model: "", messages }), 400, "invalid_request", "model", /empty/],
    ["no messages", '{"model":"main"}', 400, "invalid_request", "messages", /missing/],
    [
      "messages that are text",
      '{"model":"main","messages":"hi"}',
      400,
      "invalid_request",
      "messages",
      /an array, not a string/
    ],
    ["empty messages", '{"model":"main","messages":[]}', 400, "invalid_request", "messages", /at least one/],
    [
      "a message that is text",
      '{"model":"main","messages":["hi"]}',
      400,
      "invalid_request",
      "messages[0]",
      /an object/
    ],
    [
      "a message without a role",
      JSON.stringify({ model: "main", messages: [...messages, { content: "x" }] }),
      400,
      "invalid_request",
      "messages[1].role",
      /missing/
    ],
    [
      "a stream that is text",
      JSON.stringify({ model: "main", messages, stream: "yes" }),
      400,
      "invalid_request",
      "stream",
      /true or false/
    ],
    [
      "an unknown model",
      JSON.stringify({ model: "gpt-99", messages }),
      404,
      "model_not_found",
      "model",
      /"gpt-99" does not exist/
    ],
    [
      "a model of the language",
      JSON.stringify({ model: "constructor", messages }),
      404,
      "model_not_found",
      "model",
      /does not exist/
    ]
  ]
  it.scopedLive("each kind of it: status, code, field, place", () =>
    Effect.gen(function* () {
      const { primary, url } = yield* fixture()
      for (const [name, body, status, code, param, message] of cases) {
        const reply = yield* send(url, { method: "POST", body })
        expect([name, reply.status, errorOf(reply).code, errorOf(reply).param]).toEqual([name, status, code, param])
        expect(errorOf(reply).message).toMatch(message)
        expect(errorOf(reply).type).toBe("invalid_request_error")
        expect(reply.headers["content-type"]).toMatch(/^application\/json/)
        expect(reply.headers["x-switchgear-attempts"]).toBe("0")
      }
      expect(yield* primary.count).toBe(0)
    })
  )

  it.scopedLive("11 MiB are 413, whether the length is said before or not, and the answer arrives", () =>
    Effect.gen(function* () {
      const { primary, url } = yield* fixture()
      const body = Buffer.alloc(11 * 1024 * 1024, " ")
      for (const headers of [{}, { "transfer-encoding": "chunked" }]) {
        const reply = yield* send(url, { body, headers })
        expect([reply.status, errorOf(reply).code, reply.complete]).toEqual([413, "request_too_large", true])
      }
      expect(yield* primary.count).toBe(0)
    })
  )

  it.scopedLive("the limit itself is taken, one byte more is not", () =>
    Effect.gen(function* () {
      const { url } = yield* fixture({ server: "bodyLimit: 1000" })
      const padded = (size: number) => `${JSON.stringify({ model: "main", messages })}`.padEnd(size, " ")
      expect((yield* send(url, { body: padded(1000) })).status).toBe(200)
      expect((yield* send(url, { body: padded(1001) })).status).toBe(413)
    })
  )

  it.scopedLive("other types and encodings are 415, none is taken as JSON", () =>
    Effect.gen(function* () {
      const { url } = yield* fixture()
      const { body = "" } = chat("main")
      const status = (headers: Record<string, string>) =>
        Effect.map(send(url, { body, headers }), (reply) => reply.status)
      expect(yield* status({ "content-type": "application/x-www-form-urlencoded" })).toBe(415)
      expect(yield* status({ "content-encoding": "gzip" })).toBe(415)
      expect(yield* status({ "content-type": "application/json; charset=utf-8" })).toBe(200)
      expect(yield* status({ "content-type": "application/vnd.api+json" })).toBe(200)
    })
  )

  it.scopedLive("wrong methods are 405 with what is allowed, unknown paths 404", () =>
    Effect.gen(function* () {
      const { url } = yield* fixture()
      const get = yield* send(url)
      expect([get.status, get.headers.allow, errorOf(get).code]).toEqual([405, "POST", "method_not_allowed"])
      const post = yield* send(url, { path: "/v1/models", body: "{}" })
      expect([post.status, post.headers.allow]).toEqual([405, "GET"])
      const unknown = yield* send(url, { path: "/v1/nothing?key=sk-secret" })
      expect([unknown.status, errorOf(unknown).code]).toEqual([404, "unknown_url"])
      expect(unknown.text).not.toContain("sk-secret")
    })
  )
})

describe("what is no HTTP", () => {
  it.scopedLive("is answered in the same dialect and closed", () =>
    Effect.gen(function* () {
      const { port } = yield* fixture()
      const text = yield* Effect.async<string>((resume) => {
        let received = ""
        const socket = connect(port, "127.0.0.1", () =>
          socket.write("POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nbad header\r\n\r\n")
        )
        socket.on("data", (chunk) => {
          received += chunk.toString()
        })
        socket.on("close", () => resume(Effect.succeed(received)))
      })
      expect(text).toMatch(/^HTTP\/1.1 400 /)
      expect(JSON.parse(text.slice(text.indexOf("\r\n\r\n"))).error.code).toBe("invalid_request")
    })
  )
})

describe("what every answer has, and the other endpoints", () => {
  it.scopedLive("a request id, taken or made, and the number of attempts (ROUTING W9)", () =>
    Effect.gen(function* () {
      const { primary, url } = yield* fixture()
      const made = yield* send(url, chat("main"))
      expect(made.headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/)
      expect(made.headers["x-switchgear-attempts"]).toBe("1")
      const taken = yield* send(url, chat("main", { headers: { "x-request-id": "abc-1" } }))
      expect(taken.headers["x-request-id"]).toBe("abc-1")
      const refused = yield* send(url, chat("main", { headers: { "x-request-id": "a".repeat(200) } }))
      expect(refused.headers["x-request-id"]).toMatch(/^[0-9a-f-]{36}$/)
      for (const path of ["/healthz", "/nothing"]) {
        expect((yield* send(url, { path })).headers["x-request-id"]).toBeDefined()
      }
      expect((yield* primary.calls)[0]?.headers["x-api-key"]).toBeUndefined()
    })
  )

  it.scopedLive("models, health and readiness", () =>
    Effect.gen(function* () {
      const { url } = yield* fixture()
      const models = JSON.parse((yield* send(url, { path: "/v1/models" })).text)
      expect(models.object).toBe("list")
      expect(models.data.map((model: { id: string }) => model.id)).toEqual(["main", "spare", "single"])
      expect((yield* send(url, { path: "/healthz" })).text).toBe('{"status":"ok"}')
      expect((yield* send(url, { path: "/readyz" })).text).toBe('{"status":"ready"}')
      const head = yield* send(url, { path: "/healthz", method: "HEAD" })
      expect([head.status, head.text]).toEqual([200, ""])
    })
  )

  it.scopedLive("a body goes upstream byte for byte but for the model's name, with our key (ROUTING W6)", () =>
    Effect.gen(function* () {
      const { primary, url } = yield* fixture()
      const body =
        '{ "unknown" : [1.0, "\\u00e9é"],\n "model":"main", "messages":[{"role":"user","content":"model"}] , "n":1e2 }'
      expect((yield* send(url, { body, headers: { authorization: "Bearer mine", cookie: "a=b" } })).status).toBe(200)
      const [call] = yield* primary.calls
      expect(Buffer.from(call?.body ?? []).toString()).toBe(body.replace('"main"', '"main-2024-08-06"'))
      expect(call?.headers["authorization"]).toMatch(/^Bearer sk-canary/)
      expect(call?.headers["cookie"]).toBeUndefined()
    })
  )

  it.scopedLive("the breakers are shown to loopback only, and not through a proxy", () =>
    Effect.gen(function* () {
      const { url } = yield* fixture()
      const shown = yield* send(url, { path: "/admin/breakers" })
      expect(JSON.parse(shown.text).breakers.map((each: { name: string }) => each.name)).toEqual(["one", "two"])
      const proxied = yield* send(url, { path: "/admin/breakers", headers: { "x-forwarded-for": "203.0.113.1" } })
      expect([proxied.status, errorOf(proxied).code]).toEqual([403, "loopback_only"])
    })
  )
})
