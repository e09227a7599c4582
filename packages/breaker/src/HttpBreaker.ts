/**
 * Circuit breakers for an `HttpClient` of `@effect/platform`, one per key of the request.
 *
 * *Gotchas.* What is judged is the answer's status and how the request failed. The caller reads the body later: one
 * that breaks off, or an error told in a 200, is beyond this guard. A client that streams its answers is better guarded
 * where the stream is read, with `CircuitBreaker.guardStream`.
 *
 * @since 0.1.0
 */
import * as HttpClient from "@effect/platform/HttpClient"
import type { HttpClientRequest } from "@effect/platform/HttpClientRequest"
import type { HttpClientResponse } from "@effect/platform/HttpClientResponse"
import * as Breaker from "@switchgear/core/Breaker"
import * as RetryAfter from "@switchgear/failures/RetryAfter"
import * as Tables from "@switchgear/failures/Tables"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import { dual } from "effect/Function"
import * as CircuitBreaker from "./CircuitBreaker.js"
import { CircuitBreakerRegistry } from "./CircuitBreakerRegistry.js"
import type { CircuitOpen } from "./CircuitOpen.js"

/**
 * How a client is guarded.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options<E = unknown> {
  /**
   * The breaker's name for a request: its host, say. It should name few things, not every path. If it throws, as
   * `new URL` does, the request is not guarded and the client says what is wrong with it.
   */
  readonly key: (request: HttpClientRequest) => string
  /** What an answer or an error means for health. Default `classify`. */
  readonly classify?: CircuitBreaker.Classify<HttpClientResponse, E> | undefined
}

/**
 * What an HTTP answer means: a status of 400 and more is a failure, of the kind `@switchgear/failures` gives that
 * status, with what its headers say of when to try again. Which kinds count is the policy's `outcomes`: 400, 404 and
 * 422 by default do not (SEMANTICS P4). Anything else as `CircuitBreaker.classify`.
 *
 * @since 0.1.0
 * @category classification
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
 * import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
 * import * as HttpBreaker from "@switchgear/breaker/HttpBreaker"
 * import * as Breaker from "@switchgear/core/Breaker"
 * import * as Exit from "effect/Exit"
 *
 * const busy = new Response("busy", { status: 429, headers: { "retry-after": "2" } })
 * const answer = HttpClientResponse.fromWeb(HttpClientRequest.get("http://quotes.test"), busy)
 * assert.deepStrictEqual(
 *   HttpBreaker.classify(Exit.succeed(answer), 0),
 *   Breaker.failure("rate_limit", { status: 429, retryAfter: 2_000 })
 * )
 * ```
 */
export const classify = (exit: Exit.Exit<HttpClientResponse, unknown>, wall: number): Breaker.Outcome => {
  if (exit._tag === "Failure") return CircuitBreaker.classify(exit, wall)
  const { headers, status } = exit.value
  if (status < 400) return Breaker.success()
  return Breaker.failure(Tables.kindOfStatus("openai-compatible", status), {
    status,
    retryAfter: RetryAfter.read({ headers, now: wall })
  })
}

const keyOf = <E>(options: Options<E>, request: HttpClientRequest): string | undefined => {
  try {
    return options.key(request)
  } catch {
    return undefined
  }
}

/**
 * Guards every request of a client with the registry's breaker for its key. Answers pass through unchanged, bad ones
 * included; a refused request fails with `CircuitOpen` and sends nothing.
 *
 * @since 0.1.0
 * @category combinators
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as HttpClient from "@effect/platform/HttpClient"
 * import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
 * import * as CircuitBreakerRegistry from "@switchgear/breaker/CircuitBreakerRegistry"
 * import * as HttpBreaker from "@switchgear/breaker/HttpBreaker"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Effect from "effect/Effect"
 *
 * const overloaded = HttpClient.make((request) =>
 *   Effect.succeed(HttpClientResponse.fromWeb(request, new Response("busy", { status: 503 }))))
 * const client = overloaded.pipe(
 *   HttpBreaker.withCircuitBreaker({ key: (request) => new URL(request.url).host })
 * ) // fails with HttpClientError | CircuitOpen, needs the registry
 *
 * const program = Effect.gen(function*() {
 *   assert.strictEqual((yield* client.get("http://quotes.test/1")).status, 503)
 *   return yield* Effect.flip(client.get("http://quotes.test/2"))
 * }).pipe(Effect.provide(CircuitBreakerRegistry.layer({ policy: Policy.consecutive({ failureThreshold: 1 }) })))
 * assert.strictEqual(Effect.runSync(program)._tag, "CircuitOpen")
 * ```
 */
export const withCircuitBreaker: {
  <E0 = unknown>(
    options: Options<E0>
  ): <E extends E0, R>(
    self: HttpClient.HttpClient.With<E, R>
  ) => HttpClient.HttpClient.With<E | CircuitOpen, R | CircuitBreakerRegistry>
  <E, R>(
    self: HttpClient.HttpClient.With<E, R>,
    options: Options<E>
  ): HttpClient.HttpClient.With<E | CircuitOpen, R | CircuitBreakerRegistry>
} = dual(
  2,
  <E, R>(
    self: HttpClient.HttpClient.With<E, R>,
    options: Options<E>
  ): HttpClient.HttpClient.With<E | CircuitOpen, R | CircuitBreakerRegistry> =>
    HttpClient.transform(self, (send, request) => {
      const key = keyOf(options, request)
      if (key === undefined) return send
      return Effect.flatMap(CircuitBreakerRegistry, (registry) =>
        Effect.flatMap(registry.get(key), (breaker) =>
          CircuitBreaker.guard(send, breaker, { classify: options.classify ?? classify })
        )
      )
    })
)
