import * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Failure from "@switchgear/failures/Failure"
import * as Thrown from "@switchgear/failures/Thrown"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Schema from "effect/Schema"
import { describe, expect, it } from "vitest"

const classify = (error: unknown) => Thrown.classify(error, { now: 0 })
const coded = (code: string, message = code) => Object.assign(new Error(message), { code })

describe("system errors", () => {
  it.each([
    ...[
      "ECONNREFUSED",
      "ECONNRESET",
      "EPIPE",
      "ENOTFOUND",
      "EAI_AGAIN",
      "EHOSTUNREACH",
      "ENETUNREACH",
      "CERT_HAS_EXPIRED",
      "DEPTH_ZERO_SELF_SIGNED_CERT",
      "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
      "ERR_TLS_CERT_ALTNAME_INVALID",
      "UND_ERR_SOCKET",
      "UND_ERR_CLOSED",
      "ERR_STREAM_PREMATURE_CLOSE",
      "HPE_INVALID_CONSTANT"
    ].map((code) => [code, "network_error"] as const),
    ...["ETIMEDOUT", "UND_ERR_CONNECT_TIMEOUT", "UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"].map(
      (code) => [code, "timeout"] as const
    ),
    ["ABORT_ERR", "cancelled"] as const,
    ["ERR_INVALID_URL", "client_fault"] as const
  ])("%s is a %s, alone, as fetch's cause and inside an aggregate", (code, kind) => {
    const expected = { kind, code, scope: Failure.scopes[kind] }
    expect(classify(coded(code))).toMatchObject(expected)
    expect(classify(new TypeError("fetch failed", { cause: coded(code) }))).toMatchObject(
      kind === "cancelled" ? { kind: "network_error" } : expected
    )
    expect(classify(new AggregateError([coded(code)], ""))).toMatchObject(expected)
    expect(classify({ code })).toMatchObject(expected)
  })

  it("name no address", () => {
    const failure = classify(coded("ECONNREFUSED", "connect ECONNREFUSED 10.1.2.3:8000"))
    expect(JSON.stringify(failure)).not.toContain("10.1.2.3")
  })
})

describe("aborts and timeouts", () => {
  it("an abort is the caller's, unless a timeout caused it", () => {
    expect(classify(new DOMException("This operation was aborted", "AbortError")).kind).toBe("cancelled")
    expect(classify(new DOMException("The operation was aborted due to timeout", "TimeoutError")).kind).toBe("timeout")
    expect(
      classify(
        Object.assign(new Error("aborted"), { name: "AbortError", cause: new DOMException("x", "TimeoutError") })
      ).kind
    ).toBe("timeout")
  })
  it("Effect's timeout is a timeout, its interruption a cancellation", async () => {
    const late = await Effect.runPromiseExit(Effect.timeout(Effect.never, 1))
    expect(Exit.isFailure(late) && classify(late.cause).kind).toBe("timeout")
    expect(classify(new Cause.TimeoutException("late")).kind).toBe("timeout")
    expect(classify(Cause.interrupt({ _tag: "None" } as never)).kind).toBe("cancelled")
  })
})

describe("errors of @effect/platform", () => {
  const request = HttpClientRequest.post("http://llm.corp:8000/v1/chat/completions")
  const response = (status: number, headers: Record<string, string> = {}) =>
    HttpClientResponse.fromWeb(request, new Response(status === 204 ? null : "x", { status, headers }))
  it("a RequestError is a network error, or what caused it; one that could not be built is the client's", () => {
    expect(classify(new HttpClientError.RequestError({ request, reason: "Transport" }))).toMatchObject({
      kind: "network_error"
    })
    expect(
      classify(
        new HttpClientError.RequestError({ request, reason: "Transport", cause: coded("UND_ERR_HEADERS_TIMEOUT") })
      ).kind
    ).toBe("timeout")
    expect(classify(new HttpClientError.RequestError({ request, reason: "InvalidUrl" })).kind).toBe("client_fault")
    expect(classify(new HttpClientError.RequestError({ request, reason: "Encode" })).kind).toBe("client_fault")
  })
  it("a ResponseError is what its status, headers and description say", () => {
    expect(
      classify(
        new HttpClientError.ResponseError({
          request,
          response: response(429, { "retry-after": "7" }),
          reason: "StatusCode"
        })
      )
    ).toMatchObject({ kind: "rate_limit", status: 429, retryAfter: 7000 })
    expect(
      classify(
        new HttpClientError.ResponseError({
          request,
          response: response(429),
          reason: "StatusCode",
          description: `{"error":{"code":"insufficient_quota","message":"m"}}`
        })
      ).kind
    ).toBe("quota_exhausted")
    expect(
      classify(new HttpClientError.ResponseError({ request, response: response(200), reason: "Decode" })).kind
    ).toBe("server_error")
    expect(
      classify(new HttpClientError.ResponseError({ request, response: response(200), reason: "EmptyBody" })).kind
    ).toBe("server_error")
  })
  it("name no address", () => {
    for (const reason of ["Transport", "InvalidUrl"] as const) {
      expect(JSON.stringify(classify(new HttpClientError.RequestError({ request, reason })))).not.toContain("llm.corp")
    }
    expect(
      JSON.stringify(
        classify(new HttpClientError.ResponseError({ request, response: response(500), reason: "StatusCode" }))
      )
    ).not.toContain("llm.corp")
  })
})

describe("AiError of @effect/ai", () => {
  const ai = (fields: object) =>
    Object.assign(new Error("AiError"), { module: "OpenAiLanguageModel", method: "generateText" }, fields)
  const request = {
    method: "POST",
    url: "http://llm.corp/v1",
    headers: { authorization: "Bearer sk-proj-abcdef1234567890" }
  }
  it("HttpRequestError", () => {
    const failure = classify(ai({ _tag: "HttpRequestError", reason: "Transport", request, description: "refused" }))
    expect(failure.kind).toBe("network_error")
    expect(JSON.stringify(failure)).not.toMatch(/sk-proj|llm\.corp/)
    expect(classify(ai({ _tag: "HttpRequestError", reason: "Encode", request })).kind).toBe("client_fault")
  })
  it("HttpResponseError", () => {
    expect(
      classify(
        ai({
          _tag: "HttpResponseError",
          reason: "StatusCode",
          request,
          response: { status: 429, headers: { "retry-after": "3" } },
          body: `{"error":{"message":"slow","code":"rate_limit_exceeded"}}`
        })
      )
    ).toEqual({
      kind: "rate_limit",
      scope: "key+model",
      status: 429,
      code: "rate_limit_exceeded",
      message: "slow",
      retryAfter: 3000
    })
    expect(
      classify(ai({ _tag: "HttpResponseError", reason: "Decode", request, response: { status: 200, headers: {} } }))
        .kind
    ).toBe("server_error")
  })
  it("MalformedInput and MalformedOutput", () => {
    expect(classify(ai({ _tag: "MalformedInput", description: "x" })).kind).toBe("client_fault")
    expect(classify(ai({ _tag: "MalformedOutput", description: "Expected string, actual undefined" })).kind).toBe(
      "server_error"
    )
  })
  it("a 429 that surfaces as MalformedOutput is a rate limit: from the decoder's issue, from quoted JSON, from words", () => {
    const body = { error: { message: "Rate limit reached", type: "tokens", code: "rate_limit_exceeded" } }
    const decoded = Schema.decodeUnknownEither(Schema.Struct({ choices: Schema.Array(Schema.Unknown) }))(body)
    const cause = decoded._tag === "Left" ? decoded.left : undefined
    expect(classify(ai({ _tag: "MalformedOutput", description: "Malformed", cause })).kind).toBe("rate_limit")
    expect(
      classify(ai({ _tag: "MalformedOutput", description: `Expected X, actual ${JSON.stringify(body)}` })).kind
    ).toBe("rate_limit")
    expect(
      classify(ai({ _tag: "MalformedOutput", description: "unexpected answer: 429 Too Many Requests" })).kind
    ).toBe("rate_limit")
  })
  it("UnknownError is what caused it", () => {
    expect(classify(ai({ _tag: "UnknownError", cause: coded("ECONNRESET") })).kind).toBe("network_error")
    expect(classify(ai({ _tag: "UnknownError", description: "?" })).kind).toBe("unknown")
  })
})

describe("errors of the vendors' SDKs", () => {
  it("carry status, headers and the inner error", () => {
    const openai = Object.assign(new Error("429 You exceeded your current quota"), {
      status: 429,
      headers: new Headers({ "retry-after": "9" }),
      error: { message: "You exceeded your current quota", code: "insufficient_quota" },
      code: "insufficient_quota"
    })
    expect(classify(openai)).toMatchObject({
      kind: "quota_exhausted",
      status: 429,
      retryAfter: 9000,
      code: "insufficient_quota"
    })
    const anthropic = Object.assign(new Error("529"), {
      status: 529,
      error: { type: "error", error: { type: "overloaded_error", message: "Overloaded" } }
    })
    expect(classify(anthropic)).toMatchObject({ kind: "overloaded", status: 529 })
    const axios = Object.assign(new Error("Request failed with status code 401"), {
      response: { status: 401, headers: {}, data: { error: { message: "bad key" } } }
    })
    expect(classify(axios)).toMatchObject({ kind: "auth", message: "bad key" })
    const vercel = Object.assign(new Error("x"), {
      statusCode: 503,
      responseHeaders: { "retry-after": "2" },
      responseBody: `{"error":{"message":"high demand"}}`
    })
    expect(classify(vercel)).toMatchObject({ kind: "overloaded", retryAfter: 2000 })
  })
})

describe("refusals of ours", () => {
  it("are circuit_open and nothing in them is classified again", () => {
    for (const fields of [{ _tag: "CircuitOpen" }, { _tag: "CircuitOpenError" }, { name: "CircuitOpenError" }]) {
      const open = Object.assign(new Error("x"), fields, { cause: coded("ECONNRESET"), status: 503, retryAfter: 1500 })
      expect(classify(open)).toEqual({
        kind: "circuit_open",
        scope: "none",
        retryAfter: 1500,
        message: "The circuit is open"
      })
      expect(classify(new Error("outer", { cause: open })).kind).toBe("circuit_open")
    }
  })
  it("what has a kind keeps it, and its scope", () => {
    const failure = Failure.make("quota_exhausted", "m", { scope: "project", retryAfter: 5, status: 429 })
    expect(classify(failure)).toEqual(failure)
    expect(classify(Object.assign(new Error("x"), { _tag: "ProviderError", failure }))).toEqual(failure)
    expect(classify({ kind: "toString" }).kind).toBe("unknown")
  })
})

describe("whatever else", () => {
  it.each<readonly [unknown, Failure.Kind]>([
    ["socket hang up", "network_error"],
    ["Request timed out", "timeout"],
    ["boo", "unknown"],
    ["", "unknown"],
    [undefined, "unknown"],
    [null, "unknown"],
    [42, "unknown"],
    [{}, "unknown"],
    [[], "unknown"],
    [{ error: { code: "insufficient_quota" } }, "quota_exhausted"],
    [{ status: 404 }, "model_unavailable"],
    [new TypeError("fetch failed"), "network_error"],
    [new TypeError("terminated"), "network_error"],
    [new Error("x", { cause: new Error("y", { cause: { statusCode: 529 } }) }), "overloaded"]
  ])("%o is %s", (error, kind) => {
    expect(classify(error).kind).toBe(kind)
  })
  it("causes that go round in circles end", () => {
    const error = new Error("round")
    error.cause = error
    expect(classify(error).kind).toBe("unknown")
  })
  it("causes are followed for a bounded way only", () => {
    let error: unknown = coded("ECONNRESET")
    for (let i = 0; i < 10_000; i++) error = new Error("x", { cause: error })
    expect(classify(error).kind).toBe("unknown")
  })
})
