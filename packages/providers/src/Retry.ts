/**
 * Retries of one target, inside its guard: however many attempts it takes, the breaker sees one call (ROUTING F12).
 *
 * @since 0.1.0
 */
import type { Failure, Kind } from "@switchgear/failures/Failure"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { dual } from "effect/Function"
import * as Random from "effect/Random"
import type { Answer, Provider, ProviderError, ProviderRequest, RetryMode } from "./Provider.js"

/**
 * How often, and with what pauses. The pause before the n-th retry lies at random between half of `base * 2^(n-1)` and all
 * of it, and is `cap` at most.
 *
 * @since 0.1.0
 * @category models
 */
export interface Retries {
  /** Attempts beyond the first. 0: none. */
  readonly max: number
  /** Default 500 ms. */
  readonly base?: Duration.DurationInput
  /** Default 30 seconds. An answer that asks to wait longer is not retried. */
  readonly cap?: Duration.DurationInput
  /** All attempts and pauses together. Default 10 minutes; a request's `timeLeft` goes before when it is less. */
  readonly total?: Duration.DurationInput
}

/** Asking again changes nothing about these. */
const settled: ReadonlySet<Kind> = new Set<Kind>([
  "auth",
  "cancelled",
  "circuit_open",
  "client_fault",
  "content_filter",
  "context_length",
  "model_unavailable",
  "quota_exhausted"
])

/**
 * Whether a failure may be gone on another attempt: every kind but those that cannot change. Our own total limit is over
 * for the next attempt too.
 *
 * @example
 * ```ts
 * import * as Failure from "@switchgear/failures/Failure"
 * import * as Retry from "@switchgear/providers/Retry"
 * import * as assert from "node:assert"
 *
 * assert.ok(Retry.mayRetry(Failure.make("overloaded", "Overloaded")))
 * assert.ok(!Retry.mayRetry(Failure.make("auth", "invalid x-api-key")))
 * ```
 *
 * @since 0.1.0
 * @category predicates
 */
export const mayRetry = (failure: Failure): boolean => !settled.has(failure.kind) && failure.code !== "total_timeout"

/**
 * The pause before the next attempt in ms, or `undefined` for none. `rnd` is in [0, 1).
 *
 * @example
 * ```ts
 * import * as Failure from "@switchgear/failures/Failure"
 * import * as Retry from "@switchgear/providers/Retry"
 * import * as assert from "node:assert"
 *
 * const retries = { max: 2, base: 100, cap: 1000 }
 * const busy = Failure.make("rate_limit", "slow down", { retryAfter: 800 })
 * assert.strictEqual(Retry.pause(retries, busy, 1, "wait", 0.5), 800)
 * assert.strictEqual(Retry.pause(retries, busy, 1, "now", 0.5), undefined) // another target is left
 * assert.strictEqual(Retry.pause(retries, Failure.make("overloaded", "busy"), 2, "now", 0.5), 150)
 * ```
 *
 * @since 0.1.0
 * @category predicates
 */
export const pause = (
  retries: Retries,
  failure: Failure,
  attempt: number,
  mode: RetryMode,
  rnd: number
): number | undefined => {
  if (mode === "none" || attempt > retries.max || !mayRetry(failure)) return undefined
  const cap = Duration.toMillis(retries.cap ?? 30_000)
  const step = Math.min(cap, Duration.toMillis(retries.base ?? 500) * 2 ** (attempt - 1))
  const backoff = step * (0.5 + 0.5 * rnd)
  const asked = failure.retryAfter ?? 0
  if (asked <= backoff) return backoff
  return mode === "wait" && asked <= cap ? asked : undefined
}

const nanos = 1_000_000

/**
 * A provider that retries before it fails. Nothing is retried once output has begun, since the call has succeeded then.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Provider from "@switchgear/providers/Provider"
 * import * as Retry from "@switchgear/providers/Retry"
 * import * as ScriptedProvider from "@switchgear/providers/ScriptedProvider"
 * import * as Effect from "effect/Effect"
 *
 * const flaky = ScriptedProvider.make("flaky", [ScriptedProvider.reset, ScriptedProvider.ok("back")])
 * const provider = Retry.withRetries(flaky, { max: 2, base: "1 millis" })
 *
 * const program = Effect.gen(function*() {
 *   yield* provider.call(Provider.request("messages", { model: "m", messages: [] }))
 *   assert.strictEqual(yield* flaky.calls, 2)
 * })
 *
 * await Effect.runPromise(program)
 * ```
 *
 * @since 0.1.0
 * @category combinators
 */
export const withRetries: {
  (retries: Retries): (provider: Provider) => Provider
  (provider: Provider, retries: Retries): Provider
} = dual(2, (provider: Provider, retries: Retries): Provider => {
  if (retries.max <= 0) return provider
  const total = Duration.toMillis(retries.total ?? 600_000)

  const again = (
    request: ProviderRequest,
    error: ProviderError,
    attempt: number,
    until: number
  ): Effect.Effect<Answer, ProviderError> =>
    Effect.gen(function* () {
      const wait = pause(retries, error.failure, attempt, request.retry ?? "wait", yield* Random.next)
      if (wait === undefined) return yield* error
      const timeLeft = until - Number(yield* Clock.currentTimeNanos) / nanos - wait
      if (timeLeft <= 0) return yield* error
      yield* Effect.sleep(wait)
      return yield* Effect.catchAll(provider.call({ ...request, timeLeft }), (next) =>
        again(request, next, attempt + 1, until)
      )
    })

  return {
    ...provider,
    call: (request) => {
      if (request.retry === "none") return provider.call(request)
      return Effect.flatMap(Clock.currentTimeNanos, (now) =>
        Effect.catchAll(provider.call(request), (error) =>
          again(request, error, 1, Number(now) / nanos + Math.min(total, request.timeLeft ?? total))
        )
      )
    }
  }
})
