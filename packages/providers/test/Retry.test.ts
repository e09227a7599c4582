import { describe, it } from "@effect/vitest"
import * as VirtualClock from "@switchgear/clock/VirtualClock"
import * as Failure from "@switchgear/failures/Failure"
import * as OpenAiCompatible from "@switchgear/providers/OpenAiCompatible"
import type { RetryMode } from "@switchgear/providers/Provider"
import * as Retry from "@switchgear/providers/Retry"
import * as Scripted from "@switchgear/providers/ScriptedProvider"
import * as Upstream from "@switchgear/testing/Upstream"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as fc from "fast-check"
import { assert } from "vitest"
import { outcome, request } from "./harness.js"

const chat = request("chat.completions", false)
const never: ReadonlyArray<Failure.Kind> = [
  "auth",
  "client_fault",
  "context_length",
  "content_filter",
  "quota_exhausted",
  "model_unavailable",
  "cancelled",
  "circuit_open"
]

const virtually = <A, E>(effect: Effect.Effect<A, E>) => Effect.provide(effect, VirtualClock.layer)

describe("Retry (ROUTING F12)", () => {
  it("retries no kind that cannot change, and every other", () => {
    for (const kind of Failure.kinds) {
      assert.strictEqual(Retry.mayRetry(Failure.make(kind, "")), !never.includes(kind), kind)
    }
    assert.isFalse(Retry.mayRetry(Failure.make("timeout", "", { code: "total_timeout" })))
  })

  it("a pause lies between half the step and the step, never over the cap, and never under what was asked", () => {
    const retries = fc.record({
      max: fc.integer({ min: 1, max: 20 }),
      base: fc.integer({ min: 1, max: 5_000 }),
      cap: fc.integer({ min: 5_000, max: 60_000 })
    })
    fc.assert(
      fc.property(
        retries,
        fc.integer({ min: 1, max: 25 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        fc.option(fc.integer({ min: 1, max: 100_000 }), { nil: undefined }),
        fc.constantFrom<RetryMode>("wait", "now", "none"),
        (retries, attempt, rnd, retryAfter, mode) => {
          const failure = Failure.make("rate_limit", "", { retryAfter })
          const pause = Retry.pause(retries, failure, attempt, mode, rnd)
          if (mode === "none" || attempt > retries.max) return assert.isUndefined(pause)
          const step = Math.min(retries.cap, retries.base * 2 ** (attempt - 1))
          if (pause === undefined) {
            assert.isDefined(retryAfter)
            assert.isAbove(retryAfter ?? 0, mode === "now" ? step / 2 : retries.cap)
            return
          }
          assert.isAtMost(pause, retries.cap)
          assert.isAtLeast(pause, step / 2)
          assert.isAtLeast(pause, retryAfter ?? 0)
          if (retryAfter === undefined || mode === "now") assert.isAtMost(pause, step)
        }
      )
    )
  })

  it.live("fails once, with the last attempt's failure, after max retries", () =>
    Effect.gen(function* () {
      const inner = Scripted.make("p", [Scripted.status(503), Scripted.status(500), Scripted.status(529)])
      const provider = Retry.withRetries(inner, { max: 2 })
      const { error } = yield* outcome(provider, chat)
      assert.strictEqual(error?.failure.status, 529)
      assert.strictEqual(yield* inner.calls, 3)
    }).pipe(virtually)
  )

  it.live("succeeds when a retry does; what was asked is what is asked again", () =>
    Effect.gen(function* () {
      const inner = Scripted.make("p", [Scripted.reset, Scripted.ok("back")])
      const provider = Retry.withRetries(inner, { max: 2 })
      assert.include((yield* outcome(provider, chat)).bytes.toString(), "back")
      const [first, second] = yield* inner.requests
      assert.deepStrictEqual({ ...second, timeLeft: undefined }, { ...first, timeLeft: undefined })
    }).pipe(virtually)
  )

  it.live("none: one attempt only; now: no wait for a Retry-After; wait: as long as asked", () =>
    Effect.gen(function* () {
      const script = [Scripted.status(429, { headers: { "retry-after": "7" } }), Scripted.ok()] as const
      for (const [retry, calls] of [
        ["none", 1],
        ["now", 1],
        ["wait", 2]
      ] as const) {
        const inner = Scripted.make("p", script)
        const before = yield* Clock.currentTimeMillis
        yield* outcome(Retry.withRetries(inner, { max: 1 }), { ...chat, retry })
        assert.strictEqual(yield* inner.calls, calls, retry)
        assert.strictEqual((yield* Clock.currentTimeMillis) - before, retry === "wait" ? 7000 : 0)
      }
    }).pipe(virtually)
  )

  it.live("never outlasts the limits: no retry that could not begin in time, and each gets what is left", () =>
    Effect.gen(function* () {
      const slow = Scripted.make("p", [Scripted.delay(Scripted.status(503), "4 seconds")])
      const before = yield* Clock.currentTimeMillis
      const { error } = yield* outcome(
        Retry.withRetries(slow, { max: 50, base: 1000, cap: 1000, total: "10 seconds" }),
        chat
      )
      assert.isAtMost((yield* Clock.currentTimeMillis) - before, 10_000)
      assert.strictEqual(yield* slow.calls, 3)
      assert.strictEqual(error?.failure.code, "total_timeout")
      const bounded = Scripted.make("p", [Scripted.hang])
      yield* outcome(Retry.withRetries(bounded, { max: 50 }), { ...chat, timeLeft: 5_000 })
      assert.strictEqual(yield* bounded.calls, 1)
    }).pipe(virtually)
  )

  it.live("after output nothing is retried", () =>
    Effect.gen(function* () {
      const inner = Scripted.make("p", [Scripted.cut(["some"]), Scripted.ok()])
      const { error, bytes } = yield* outcome(Retry.withRetries(inner, { max: 3 }), request("chat.completions", true))
      assert.strictEqual(error?.failure.kind, "network_error")
      assert.include(bytes.toString(), "some")
      assert.strictEqual(yield* inner.calls, 1)
    }).pipe(virtually)
  )

  it.scopedLive("over sockets, as an option of a provider", () =>
    Effect.gen(function* () {
      const upstream = yield* Upstream.make([Upstream.resetBeforeHeaders, Upstream.status(503), Upstream.ok()])
      const provider = yield* OpenAiCompatible.make({
        name: "p",
        baseUrl: upstream.baseUrl,
        retries: { max: 2, base: "1 millis" }
      })
      assert.isUndefined((yield* outcome(provider, request("chat.completions", true))).error)
      assert.strictEqual(yield* upstream.count, 3)
    })
  )
})
