import * as Cases from "@switchgear/failures/Cases"
import { describe, expect, it } from "vitest"

const good = {
  id: "x",
  provider: "openai",
  response: { status: 200, headers: {}, body: "" },
  at: "2026-08-15T12:00:00Z"
}
const paths = (input: unknown) => {
  const decoded = Cases.decodeAll([input])
  return decoded._tag === "Failure" ? decoded.faults.map((fault) => fault.path) : []
}

describe("a recorded case", () => {
  it("names every fault at once, by its path", () => {
    expect(paths(good)).toEqual([])
    expect(paths(3)).toEqual(["[0]"])
    expect(paths({})).toEqual(["[0].id", "[0].provider", "[0].response"])
    expect(paths({ ...good, at: "yesterday", expect: { kind: "odd", retryAfter: "1", beforeOutput: 0 } })).toEqual([
      "[0].at",
      "[0].expect.kind",
      "[0].expect.retryAfter",
      "[0].expect.beforeOutput"
    ])
    expect(paths({ ...good, response: { status: 1.5, headers: { a: 1 }, stream: [1] } })).toEqual([
      "[0].response.status",
      "[0].response.headers.a",
      "[0].response.stream"
    ])
    expect(paths({ ...good, response: { status: 200, body: "", stream: [] } })).toEqual(["[0].response.body"])
    expect(Cases.decodeAll({})).toMatchObject({ _tag: "Failure", faults: [{ path: "" }] })
  })
  it("may say what was asked: JSON where a stream was asked for is no answer, nor the other way round", () => {
    const run = (stream: boolean, response: object) => {
      const decoded = Cases.decode({ ...good, request: { stream }, response })
      return decoded._tag === "Success" ? Cases.run(decoded.value).kind : decoded
    }
    const json = {
      status: 200,
      headers: { "content-type": "application/json" },
      body: { choices: [{ message: { content: "hi" } }] }
    }
    const sse = {
      status: 200,
      headers: { "content-type": "text/event-stream" },
      body: `data: {"choices":[{"delta":{"content":"a"},"finish_reason":"stop"}]}\n\n`
    }
    expect([run(false, json), run(true, json), run(true, sse), run(false, sse)]).toEqual([
      "success",
      "server_error",
      "success",
      "server_error"
    ])
  })
  it("tells where a result differs, and compares only what is stated", () => {
    const result: Cases.Result = { id: "x", kind: "auth", scope: "key", retryAfter: null }
    expect(Cases.mismatches({ kind: "auth" }, result)).toEqual([])
    expect(Cases.mismatches({ kind: "auth", scope: "account", retryAfter: 5, beforeOutput: true }, result)).toEqual([
      "scope",
      "retryAfter",
      "beforeOutput"
    ])
    expect(Cases.mismatches(undefined, result)).toEqual([])
  })
})
