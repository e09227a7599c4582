/**
 * What a failed call means, whatever it came from: an answer, a stream, a thrown error.
 *
 * @since 0.1.0
 */

/**
 * Every kind, in the order of the tables. Whether a kind counts in a breaker and whether it moves a call to the next
 * target is policy.
 *
 * @since 0.1.0
 * @category models
 * @example
 * ```ts
 * import * as Failure from "@switchgear/failures/Failure"
 * import * as assert from "node:assert"
 *
 * assert.ok(Failure.kinds.includes("overloaded"))
 * ```
 */
export const kinds = [
  "rate_limit",
  "quota_exhausted",
  "overloaded",
  "server_error",
  "timeout",
  "network_error",
  "auth",
  "model_unavailable",
  "context_length",
  "content_filter",
  "client_fault",
  "cancelled",
  "circuit_open",
  "unknown"
] as const

/**
 * The meaning of a failure.
 *
 * @since 0.1.0
 * @category models
 */
export type Kind = (typeof kinds)[number]

/**
 * To whom a failure belongs, so that only the breakers covering it count it (DESIGN 6).
 *
 * @since 0.1.0
 * @category models
 */
export type Scope =
  | "provider"
  | "provider+model"
  | "host"
  | "account"
  | "project"
  | "key"
  | "key+model"
  | "model"
  | "none"

/**
 * A classified failure. `message` is fit to be shown: key-like strings in it are masked and its length is bounded.
 *
 * @since 0.1.0
 * @category models
 */
export interface Failure {
  readonly kind: Kind
  readonly scope: Scope
  /** The HTTP status; absent for a failure that came in a 2xx answer without one of its own, and for thrown things. */
  readonly status?: number
  /** ms, a whole positive number; a lower bound for the scope it came from. Absent means none was given. */
  readonly retryAfter?: number
  /** The vendor's own code, where it gave one. */
  readonly code?: string
  readonly message: string
}

/**
 * The scope a kind has unless the answer says more.
 *
 * @since 0.1.0
 * @category scopes
 * @example
 * ```ts
 * import * as Failure from "@switchgear/failures/Failure"
 * import * as assert from "node:assert"
 *
 * assert.strictEqual(Failure.scopes.rate_limit, "key+model")
 * assert.strictEqual(Failure.scopes.network_error, "host")
 * ```
 */
export const scopes: { readonly [K in Kind]: Scope } = {
  rate_limit: "key+model",
  quota_exhausted: "account",
  overloaded: "provider+model",
  server_error: "provider",
  timeout: "provider",
  network_error: "host",
  auth: "key",
  model_unavailable: "key+model",
  context_length: "none",
  content_filter: "none",
  client_fault: "none",
  cancelled: "none",
  circuit_open: "none",
  unknown: "provider"
}

/**
 * Whether a value names a kind.
 *
 * @example
 * ```ts
 * import * as Failure from "@switchgear/failures/Failure"
 * import * as assert from "node:assert"
 *
 * assert.ok(Failure.isKind("rate_limit"))
 * assert.ok(!Failure.isKind("toString"))
 * ```
 *
 * @since 0.1.0
 * @category guards
 */
export const isKind = (u: unknown): u is Kind => kinds.some((kind) => kind === u)

/**
 * A failure of a kind, with that kind's scope unless another is given. Absent options stay absent; a `retryAfter` that
 * is not a positive safe integer is dropped.
 *
 * @example
 * ```ts
 * import * as Failure from "@switchgear/failures/Failure"
 * import * as assert from "node:assert"
 *
 * assert.deepStrictEqual(Failure.make("timeout", "no output for 60 s"), {
 *   kind: "timeout",
 *   scope: "provider",
 *   message: "no output for 60 s"
 * })
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  kind: Kind,
  message: string,
  options: {
    readonly scope?: Scope | undefined
    readonly status?: number | undefined
    readonly retryAfter?: number | undefined
    readonly code?: string | undefined
  } = {}
): Failure => ({
  kind,
  scope: options.scope ?? scopes[kind],
  ...(options.status === undefined ? {} : { status: options.status }),
  ...(options.retryAfter !== undefined && Number.isSafeInteger(options.retryAfter) && options.retryAfter > 0
    ? { retryAfter: options.retryAfter }
    : {}),
  ...(options.code === undefined ? {} : { code: options.code }),
  message
})
