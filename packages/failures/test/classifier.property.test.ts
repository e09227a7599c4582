import * as Cases from "@switchgear/failures/Cases"
import * as Classifier from "@switchgear/failures/Classifier"
import * as Failure from "@switchgear/failures/Failure"
import * as ProviderKind from "@switchgear/failures/ProviderKind"
import * as RetryAfter from "@switchgear/failures/RetryAfter"
import * as Thrown from "@switchgear/failures/Thrown"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"

const provider = fc.constantFrom(...ProviderKind.all)
const status = fc.oneof(
  fc.constantFrom(0, 100, 200, 204, 302, 400, 401, 402, 403, 404, 408, 413, 429, 498, 500, 503, 529, 999),
  fc.integer(),
  fc.double()
)
const names = [
  [
    "error",
    "code",
    "type",
    "message",
    "status",
    "details",
    "reason",
    "metadata",
    "raw",
    "limit_source",
    "innererror",
    "choices"
  ],
  [
    "delta",
    "content",
    "finish_reason",
    "response",
    "candidates",
    "promptFeedback",
    "blockReason",
    "headers",
    "retryDelay",
    "errors"
  ],
  [
    "violations",
    "quotaId",
    "object",
    "output",
    "data",
    "__proto__",
    "constructor",
    "toString",
    "hasOwnProperty",
    "fooException"
  ]
].flat()
const json = fc.letrec((tie) => ({
  leaf: fc.oneof(
    fc.constantFrom<unknown>(
      null,
      true,
      false,
      0,
      -1,
      429,
      502,
      "429",
      "",
      "error",
      "failed",
      "insufficient_quota",
      "34s",
      "rate_limit_exceeded"
    ),
    fc.double(),
    fc.string()
  ),
  node: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    tie("leaf"),
    fc.array(tie("node"), { maxLength: 4 }),
    tie("object")
  ),
  object: fc
    .array(fc.tuple(fc.oneof(fc.constantFrom(...names), fc.string()), tie("node")), { maxLength: 5 })
    .map((entries) =>
      JSON.parse(
        `{${entries.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value) ?? "null"}`).join(",")}}`
      )
    )
})).node
const headers = fc.dictionary(
  fc.oneof(
    fc.constantFrom(
      "content-type",
      "Retry-After",
      "retry-after-ms",
      "x-ratelimit-reset",
      "x-ratelimit-remaining-tokens",
      "x-ratelimit-reset-tokens",
      "x-amzn-errortype",
      "__proto__"
    ),
    fc.string()
  ),
  fc.oneof(
    fc.constantFrom(
      "text/event-stream",
      "application/json",
      "text/html",
      "0",
      "-1",
      "1e9",
      "NaN",
      "Infinity",
      "99999999999999999999",
      "6m0s"
    ),
    fc.string(),
    fc.double().map(String)
  )
)
const body = fc.oneof(
  json,
  json.map((value) => JSON.stringify(value)),
  fc.string(),
  fc.uint8Array({ maxLength: 200 }),
  json.map((value) => `event: error\ndata: ${JSON.stringify(value)}\n\n`)
)
const answer = fc.record(
  {
    provider,
    status,
    headers,
    body,
    now: fc.oneof(fc.nat(), fc.constant(1_786_795_200_000), fc.constant(Number.NaN)),
    asked: fc.constantFrom("json" as const, "stream" as const)
  },
  { requiredKeys: ["provider", "status", "now"] }
)

const sound = (failure: Failure.Failure) => {
  expect(Failure.isKind(failure.kind)).toBe(true)
  expect(typeof failure.message).toBe("string")
  expect(failure.message.length).toBeGreaterThan(0)
  expect(failure.message.length).toBeLessThanOrEqual(500)
  if ("retryAfter" in failure) {
    expect(Number.isSafeInteger(failure.retryAfter)).toBe(true)
    expect(failure.retryAfter).toBeGreaterThan(0)
  }
  if ("code" in failure) expect(failure.code?.length).toBeLessThanOrEqual(80)
}

describe("any answer", () => {
  it("is classified without throwing, with a bounded message and a Retry-After that is none or a positive whole number", () => {
    fc.assert(
      fc.property(answer, (given) => {
        const verdict = Classifier.classify(given)
        if (verdict._tag === "Failure") sound(verdict.failure)
      }),
      { numRuns: 3000 }
    )
  })

  it("outside 2xx is never a success", () => {
    fc.assert(
      fc.property(answer, (given) => {
        if (given.status >= 200 && given.status < 300) return
        expect(Classifier.classify(given)._tag).toBe("Failure")
      }),
      { numRuns: 1000 }
    )
  })

  it("means the same as bytes, as text and as JSON", () => {
    fc.assert(
      fc.property(provider, fc.constantFrom(200, 400, 429, 500, 503), json, (kind, code, value) => {
        if (typeof value === "string" || value === undefined) return
        const text = JSON.stringify(value)
        const from = (body: unknown) => Classifier.classify({ provider: kind, status: code, body, now: 0 })
        expect(from(new TextEncoder().encode(text))).toEqual(from(text))
        if (typeof value === "object" && value !== null) expect(from(value)).toEqual(from(text))
      }),
      { numRuns: 1000 }
    )
  })

  it("does not depend on the case of header names", () => {
    fc.assert(
      fc.property(answer, (given) => {
        const upper = Object.fromEntries(
          Object.entries(given.headers ?? {}).map(([key, value]) => [key.toUpperCase(), value])
        )
        const lower = Object.fromEntries(
          Object.entries(given.headers ?? {}).map(([key, value]) => [key.toUpperCase().toLowerCase(), value])
        )
        expect(Classifier.classify({ ...given, headers: upper })).toEqual(
          Classifier.classify({ ...given, headers: lower })
        )
      }),
      { numRuns: 500 }
    )
  })
})

describe("hostile answers", () => {
  it("nested a hundred thousand deep are read", () => {
    for (const text of [
      `${"[".repeat(100_000)}${"]".repeat(100_000)}`,
      `${`{"error":`.repeat(50_000)}1${"}".repeat(50_000)}`
    ]) {
      for (const code of [200, 429])
        expect(Classifier.classify({ provider: "openai", status: code, body: text, now: 0 })._tag).toBe("Failure")
    }
  })

  it("of megabytes of words are read in the time of their start", () => {
    const pieces = [
      "too long ",
      "sk-",
      "a",
      "per day ",
      "request too large ",
      "https://",
      "=",
      "1m",
      "{",
      "retry in 1",
      "api_key: "
    ]
    for (const piece of pieces) {
      const message = piece.repeat(300_000)
      const verdict = Classifier.classify({ provider: "openai", status: 429, body: { error: { message } }, now: 0 })
      expect(verdict._tag).toBe("Failure")
      if (verdict._tag === "Failure") sound(verdict.failure)
    }
  })

  it("with getters that throw and proxies that were revoked are read by their status", () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    const trap = Object.defineProperty({}, "error", {
      enumerable: true,
      get: () => {
        throw new Error("boo")
      }
    })
    for (const hostile of [proxy, trap, { error: proxy }]) {
      const verdict = Classifier.classify({ provider: "openai", status: 429, body: hostile, now: 0 })
      expect(verdict).toMatchObject({ _tag: "Failure", failure: { kind: "rate_limit" } })
      expect(Classifier.classify({ provider: "openai", status: 200, body: hostile, now: 0 })._tag).toBe("Failure")
      sound(Thrown.classify(hostile, { now: 0 }))
    }
  })

  it("with __proto__ as a key change no prototype", () => {
    Classifier.classify({
      provider: "openai",
      status: 429,
      headers: JSON.parse(`{"__proto__":"x"}`),
      body: `{"__proto__":{"polluted":true},"error":{"__proto__":{"polluted":true},"code":"__proto__"}}`,
      now: 0
    })
    expect(Object.prototype).not.toHaveProperty("polluted")
  })
})

describe("anything thrown", () => {
  it("is classified without throwing", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          json,
          fc.anything({
            withBigInt: true,
            withDate: true,
            withMap: true,
            withNullPrototype: true,
            withTypedArray: true
          })
        ),
        (value) => {
          sound(Thrown.classify(value, { now: 0 }))
          const error = new Error("outer", { cause: value })
          sound(Thrown.classify(error, { now: 0 }))
        }
      ),
      { numRuns: 2000 }
    )
  })
})

describe("Retry-After", () => {
  const now = 1_786_795_200_000
  const none = (value: number | undefined) => value === undefined || (Number.isSafeInteger(value) && value > 0)

  it("is none or a positive whole number, whatever is read", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.double().map(String),
          fc.bigInt().map(String),
          fc.date().map((date) => (Number.isFinite(date.getTime()) ? date.toUTCString() : ""))
        ),
        (value) => {
          expect(none(RetryAfter.parse(value, now))).toBe(true)
          expect(none(RetryAfter.fromWords(`try again in ${value}`, now))).toBe(true)
        }
      ),
      { numRuns: 3000 }
    )
  })

  it("reads what an HTTP-date and RFC 3339 say, and past ones as none", () => {
    fc.assert(
      fc.property(fc.integer({ min: -100_000, max: 100_000_000 }), (seconds) => {
        const at = new Date(now + seconds * 1000)
        const expected = seconds > 0 ? seconds * 1000 : undefined
        expect(RetryAfter.parse(at.toUTCString(), now)).toBe(expected)
        expect(RetryAfter.parse(at.toISOString(), now)).toBe(expected)
      })
    )
  })

  it("reads whole seconds as themselves, and rounds fractions of a ms up", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000_000 }), fc.integer({ min: 1, max: 999_999 }), (whole, micros) => {
        expect(RetryAfter.parse(String(whole), now)).toBe(whole * 1000)
        expect(
          RetryAfter.read({ headers: { "retry-after-ms": `${whole}.${String(micros).padStart(6, "0")}` }, now })
        ).toBe(whole + 1)
      })
    )
  })

  it("reads Go's durations as their parts add up", () => {
    fc.assert(
      fc.property(fc.nat(99), fc.nat(59), fc.integer({ min: 1, max: 59_999 }), (h, m, ms) => {
        const expected = h * 3_600_000 + m * 60_000 + ms
        expect(RetryAfter.parse(`${h}h${m}m${ms / 1000}s`, now)).toBe(expected)
        expect(RetryAfter.fromWords(`Resets in ${h}h${m}m${ms / 1000}s. Visit us`, now)).toBe(expected)
      })
    )
  })
})

describe("a recorded case of any shape", () => {
  it("is read or refused with paths, and runs", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          json,
          fc.record({
            id: fc.string(),
            provider: fc.oneof(provider, json),
            response: fc.oneof(
              json,
              fc.record({ status: status, headers: json, body: json }),
              fc.record({ status: fc.constantFrom(200, 429), stream: fc.array(fc.string()) })
            ),
            at: fc.oneof(fc.constant("2026-08-15T12:00:00Z"), json)
          })
        ),
        (value) => {
          const decoded = Cases.decodeAll([value])
          if (decoded._tag === "Failure")
            expect(decoded.faults.every((fault) => fault.path.startsWith("[0]") && fault.message !== "")).toBe(true)
          else for (const one of decoded.value) Cases.run(one)
        }
      ),
      { numRuns: 1000 }
    )
  })
})
