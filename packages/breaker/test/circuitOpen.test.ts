import { inspect } from "node:util"
import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
import { CircuitOpen, CircuitOpenSchema, findOpen, toHttp } from "@switchgear/breaker/CircuitOpen"
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Equal from "effect/Equal"
import * as Exit from "effect/Exit"
import * as JSONSchema from "effect/JSONSchema"
import * as Schema from "effect/Schema"
import * as fc from "fast-check"
import { assert, describe, it } from "vitest"

const open = new CircuitOpen("quotes", "Open", 1_500)

describe("CircuitOpen", () => {
  it("is an Error, tagged, with what one needs to wait", () => {
    assert.instanceOf(open, Error)
    assert.strictEqual(open._tag, "CircuitOpen")
    assert.strictEqual(open.name, "CircuitOpen")
    assert.deepStrictEqual(open.retryAfter, Duration.millis(1_500))
    assert.strictEqual(open.message, 'circuit breaker "quotes" is Open, waiting for 1s 500ms')
    assert.strictEqual(String(open), `CircuitOpen: ${open.message}`)
  })

  it("has no stack to capture, and prints without one", () => {
    assert.notInclude(open.stack, "\n")
    assert.include(Cause.pretty(Cause.fail(open)), open.message)
    assert.include(inspect(open), "quotes")
    assert.deepStrictEqual(JSON.parse(JSON.stringify(open)), {
      _tag: "CircuitOpen",
      breaker: "quotes",
      state: "Open",
      retryAfter: 1_500
    })
  })

  it("waits for ever when only a command ends it (SEMANTICS M1)", () => {
    const forced = new CircuitOpen("quotes", "Open", undefined)
    assert.deepStrictEqual(forced.retryAfter, Duration.infinity)
    assert.include(forced.message, "a command")
  })

  it("is yieldable, caught by its tag, and equal to one that says the same", () => {
    const program = Effect.gen(function* () {
      return yield* open
    }).pipe(Effect.catchTag("CircuitOpen", (error) => Effect.succeed(error)))
    assert.strictEqual(Effect.runSync(program), open)
    assert.isTrue(Equal.equals(open, new CircuitOpen("quotes", "Open", 1_500)))
    assert.isFalse(Equal.equals(open, new CircuitOpen("quotes", "Open", 1_501)))
  })

  it("keeps its own class through a span, which wraps errors", () => {
    const exit = Effect.runSyncExit(Effect.withSpan(Effect.fail(open), "call"))
    const error = Exit.isFailure(exit) && exit.cause._tag === "Fail" ? exit.cause.error : undefined
    assert.isTrue(CircuitBreaker.isCircuitOpen(error))
    assert.strictEqual(error?.retryAfterMillis, 1_500)
  })

  it("round-trips through its schema, which has a JSON Schema", () =>
    fc.assert(
      fc.property(
        fc.string(),
        fc.constantFrom("Open" as const, "HalfOpen" as const),
        fc.option(fc.nat(), { nil: undefined }),
        (name, state, retryAfter) => {
          const error = new CircuitOpen(name, state, retryAfter)
          const json = JSON.parse(JSON.stringify(Schema.encodeSync(CircuitOpenSchema)(error)))
          const back = Schema.decodeUnknownSync(CircuitOpenSchema)(json)
          assert.isTrue(Equal.equals(back, error))
          assert.instanceOf(back, CircuitOpen)
        }
      )
    ))

  it("describes itself", () => assert.isDefined(JSONSchema.make(Schema.encodedSchema(CircuitOpenSchema))))
})

describe("findOpen", () => {
  it("finds it behind causes, and Effect's own", () => {
    assert.strictEqual(findOpen(open), open)
    assert.strictEqual(findOpen(new Error("a", { cause: { cause: open } })), open)
    assert.strictEqual(findOpen(Cause.fail(open)), open)
    assert.strictEqual(findOpen(undefined), undefined)
    assert.strictEqual(findOpen("CircuitOpen"), undefined)
  })

  it("ends on causes that go round, and on chains without end", () => {
    const ring: { cause?: unknown; error?: unknown } = {}
    ring.cause = ring
    ring.error = { cause: ring, error: ring }
    assert.strictEqual(findOpen(ring), undefined)
    const chain = (depth: number): unknown => (depth === 0 ? open : { cause: chain(depth - 1) })
    assert.strictEqual(findOpen(chain(20)), open)
    assert.strictEqual(findOpen(chain(1_000)), undefined)
  })

  it("never throws, not even when reading does", () => {
    const hostile = Object.defineProperty({}, "cause", {
      get: () => {
        throw new Error("no")
      }
    })
    assert.strictEqual(findOpen({ error: open, cause: hostile }), open)
    fc.assert(fc.property(fc.anything(), (error) => assert.isUndefined(findOpen(error))))
  })
})

describe("toHttp", () => {
  it("says Retry-After in whole seconds, rounded up, within 1 to 3600 (ROUTING W2)", () =>
    fc.assert(
      fc.property(fc.option(fc.integer({ min: 0, max: 10_000_000 }), { nil: undefined }), (millis) => {
        const face = toHttp(new CircuitOpen("openai", "Open", millis))
        const seconds = Number(face.headers["retry-after"])
        const exact = (millis ?? Number.POSITIVE_INFINITY) / 1_000
        assert.strictEqual(seconds, Math.max(1, Math.min(3_600, Math.ceil(exact))))
        assert.strictEqual(face.status, 503)
      })
    ))

  it("names no provider (ROUTING W2)", () => {
    const face = toHttp(new CircuitOpen("openai", "Open", 1), { status: 429, retryAfter: "30 seconds" })
    assert.notInclude(face.body, "openai")
    assert.deepStrictEqual([face.status, face.headers["retry-after"]], [429, "30"])
    assert.deepStrictEqual(JSON.parse(face.body), {
      error: { message: "LLM provider circuit breaker is open", type: "circuit_open", code: "provider_circuit_open" }
    })
  })
})
