import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
import * as Breaker from "@switchgear/core/Breaker"
import * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import * as Duration from "effect/Duration"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import * as fc from "fast-check"
import { assert, describe, it } from "vitest"

const wall = Date.UTC(2026, 10, 30)
const of = (exit: Exit.Exit<unknown, unknown>) => CircuitBreaker.classify(exit, wall)
const kindOf = (exit: Exit.Exit<unknown, unknown>) => {
  const outcome = of(exit)
  return outcome._tag === "Failure" ? outcome.kind : outcome._tag
}

class RateLimited extends Data.TaggedError("RateLimited")<{
  readonly kind: string
  readonly status?: number
  readonly retryAfter?: Duration.Duration | number
}> {}

class Wrapped extends Data.TaggedError("Wrapped")<{
  readonly failure: { readonly kind: string; readonly status: number }
}> {}

describe("classify", () => {
  it("takes a success for one, and interruption for a release", () => {
    assert.deepStrictEqual(of(Exit.succeed(42)), Breaker.success())
    assert.deepStrictEqual(of(Exit.interrupt(FiberId.none)), Breaker.released)
    assert.deepStrictEqual(
      of(Exit.failCause(Cause.parallel(Cause.interrupt(FiberId.none), Cause.interrupt(FiberId.none)))),
      Breaker.released
    )
  })

  it("takes a typed failure by its own kind, status and retryAfter, in ms or as a Duration", () => {
    assert.deepStrictEqual(
      of(Exit.fail(new RateLimited({ kind: "rate_limit", status: 429, retryAfter: Duration.seconds(2) }))),
      Breaker.failure("rate_limit", { status: 429, retryAfter: 2_000 })
    )
    assert.deepStrictEqual(
      of(Exit.fail(new RateLimited({ kind: "house_rule", retryAfter: 7 }))),
      Breaker.failure("house_rule", { retryAfter: 7 })
    )
    assert.deepStrictEqual(
      of(Exit.fail(new Wrapped({ failure: { kind: "overloaded", status: 529 } }))),
      Breaker.failure("overloaded", { status: 529 })
    )
  })

  it("releases what was refused before it was called, our own refusals at any depth included", () => {
    const open = new CircuitBreaker.CircuitOpen("inner", "Open", 5)
    assert.strictEqual(kindOf(Exit.fail(open)), "Released")
    assert.strictEqual(
      kindOf(Exit.fail(new Error("no answer", { cause: new Error("x", { cause: open }) }))),
      "Released"
    )
    assert.strictEqual(kindOf(Exit.fail({ kind: "circuit_open" })), "Released")
    assert.strictEqual(kindOf(Exit.fail({ kind: "cancelled" })), "Released")
  })

  it("takes a TimeoutException for a timeout", () =>
    assert.strictEqual(kindOf(Exit.fail(new Cause.TimeoutException())), "timeout"))

  it("reads what was thrown as failures does: network errors, HTTP answers and their Retry-After", () => {
    const refused = Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" })
    assert.strictEqual(kindOf(Exit.fail(refused)), "network_error")
    assert.strictEqual(kindOf(Exit.die(new TypeError("fetch failed", { cause: refused }))), "network_error")
    const headers = { "retry-after": new Date(wall + 90_000).toUTCString() }
    assert.deepInclude(of(Exit.fail({ status: 429, headers })), { kind: "rate_limit", status: 429, retryAfter: 90_000 })
  })

  it("takes a defect for a failure, whatever it is", () => {
    assert.strictEqual(kindOf(Exit.die(new Error("bug"))), "unknown")
    assert.strictEqual(kindOf(Exit.die({ kind: "cancelled" })), "unknown")
    assert.strictEqual(kindOf(Exit.die(undefined)), "unknown")
  })

  it("takes a failure beside an interruption for a failure", () =>
    assert.strictEqual(
      kindOf(Exit.failCause(Cause.parallel(Cause.interrupt(FiberId.none), Cause.fail({ kind: "timeout" })))),
      "timeout"
    ))

  it("never throws and never makes a success of a failure, whatever the error is", () =>
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true, withDate: true, withMap: true }), (error) => {
        assert.notStrictEqual(of(Exit.fail(error))._tag, "Success")
        assert.strictEqual(of(Exit.die(error))._tag, "Failure")
      })
    ))
})
