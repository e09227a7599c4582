/**
 * The error of a call that a breaker refused.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { LightError } from "./internal/lightError.js"

/**
 * A `CircuitOpen` as JSON. `retryAfter` in ms, absent when only a command ends it.
 *
 * @since 0.1.0
 * @category schemas
 */
export interface CircuitOpenJson {
  readonly _tag: "CircuitOpen"
  readonly breaker: string
  readonly state: "Open" | "HalfOpen"
  readonly retryAfter?: number
}

/**
 * A breaker refused the call; nothing was called. It carries no stack: refusing thousands of calls a second is what a
 * breaker is for.
 *
 * @since 0.1.0
 * @category errors
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import { CircuitOpen } from "@switchgear/breaker/CircuitOpen"
 * import * as Duration from "effect/Duration"
 * import * as Effect from "effect/Effect"
 *
 * const refused = Effect.fail(new CircuitOpen("quotes", "Open", 1_500))
 * const message = Effect.catchTag(refused, "CircuitOpen", (open) =>
 *   Effect.succeed(`${open.breaker}: again in ${Duration.format(open.retryAfter)}`))
 * assert.strictEqual(Effect.runSync(message), "quotes: again in 1s 500ms")
 * ```
 */
export class CircuitOpen extends LightError {
  declare readonly _tag: "CircuitOpen"

  constructor(
    /** The breaker's name. Not fit for a client's eyes if it names a provider. */
    readonly breaker: string,
    /** `HalfOpen`: its probes are out, and this call was not one of them. */
    readonly state: "Open" | "HalfOpen",
    /** ms until a call may be tried again; `undefined` when only a command ends it (SEMANTICS M1). */
    readonly retryAfterMillis: number | undefined
  ) {
    super()
  }

  /** How long until a call may be tried again; `Duration.infinity` when only a command ends it (SEMANTICS M1). */
  get retryAfter(): Duration.Duration {
    return this.retryAfterMillis === undefined ? Duration.infinity : Duration.millis(this.retryAfterMillis)
  }

  override get message(): string {
    const wait = this.retryAfterMillis === undefined ? "a command" : Duration.format(this.retryAfter)
    return `circuit breaker "${this.breaker}" is ${this.state}, waiting for ${wait}`
  }

  override get stack(): string {
    return `${this.name}: ${this.message}`
  }

  /** As `CircuitOpenSchema` encodes it. */
  override toJSON(): CircuitOpenJson {
    const { _tag, breaker, retryAfterMillis, state } = this
    return retryAfterMillis === undefined
      ? { _tag, breaker, state }
      : { _tag, breaker, state, retryAfter: retryAfterMillis }
  }
}

Object.assign(CircuitOpen.prototype, { _tag: "CircuitOpen", name: "CircuitOpen" })

/**
 * Whether a value is a `CircuitOpen`. For one that another error carries, see `findOpen`.
 *
 * @since 0.1.0
 * @category guards
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import { CircuitOpen, isCircuitOpen } from "@switchgear/breaker/CircuitOpen"
 *
 * assert.ok(isCircuitOpen(new CircuitOpen("quotes", "Open", 1_000)))
 * assert.ok(!isCircuitOpen({ _tag: "CircuitOpen" }))
 * ```
 */
export const isCircuitOpen = (u: unknown): u is CircuitOpen => u instanceof CircuitOpen

/** How many errors are looked at: a chain may be a ring. */
const maxLooked = 32

const read = (error: unknown, key: "cause" | "error"): unknown => {
  try {
    return Predicate.hasProperty(error, key) ? error[key] : undefined
  } catch {
    return undefined
  }
}

/**
 * The `CircuitOpen` that an error is, or that it was caused by. Services whose error type is fixed carry it as the
 * cause of their own error; this gets it back. Follows `cause` and `error`, and looks at 32 errors at most.
 *
 * @since 0.1.0
 * @category accessors
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import { CircuitOpen, findOpen } from "@switchgear/breaker/CircuitOpen"
 *
 * const open = new CircuitOpen("quotes", "Open", 1_000)
 * assert.strictEqual(findOpen(new Error("no answer", { cause: open })), open)
 * assert.strictEqual(findOpen(new Error("no answer")), undefined)
 * ```
 */
export const findOpen = (error: unknown): CircuitOpen | undefined => {
  const found: Array<unknown> = [error]
  for (let looked = 0; looked < found.length && looked < maxLooked; looked++) {
    const current = found[looked]
    if (isCircuitOpen(current)) return current
    const causes = [read(current, "cause"), read(current, "error")]
    found.push(...causes.filter((cause) => cause !== undefined))
  }
  return undefined
}

/**
 * A refusal as an HTTP answer.
 *
 * @since 0.1.0
 * @category HTTP
 */
export interface HttpFace {
  readonly status: 503 | 429
  readonly headers: { readonly "content-type": "application/json"; readonly "retry-after": string }
  /** JSON */
  readonly body: string
}

/**
 * What a client is told when its call was refused and nothing else could serve it (ROUTING W2): 503, `Retry-After` in
 * whole seconds, rounded up, within 1 to 3600, and a message that names no provider. `retryAfter` replaces what is left
 * of the cooldown, for instance by its full length.
 *
 * @since 0.1.0
 * @category HTTP
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import { CircuitOpen, toHttp } from "@switchgear/breaker/CircuitOpen"
 *
 * const face = toHttp(new CircuitOpen("openai", "Open", 1_200))
 * assert.deepStrictEqual([face.status, face.headers["retry-after"]], [503, "2"])
 * assert.strictEqual(JSON.parse(face.body).error.code, "provider_circuit_open")
 * ```
 */
export const toHttp = (
  open: CircuitOpen,
  options?: {
    readonly status?: 503 | 429 | undefined
    readonly retryAfter?: Duration.DurationInput | undefined
    readonly code?: string | undefined
    readonly message?: string | undefined
  }
): HttpFace => {
  const wait = Duration.toSeconds(options?.retryAfter ?? open.retryAfter)
  const error = {
    message: options?.message ?? "LLM provider circuit breaker is open",
    type: "circuit_open",
    code: options?.code ?? "provider_circuit_open"
  }
  return {
    status: options?.status ?? 503,
    headers: {
      "content-type": "application/json",
      "retry-after": String(Math.min(Math.max(Math.ceil(wait), 1), 3_600))
    },
    body: JSON.stringify({ error })
  }
}

/**
 * Makes JSON of a `CircuitOpen` and back.
 *
 * @since 0.1.0
 * @category schemas
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import { CircuitOpen, CircuitOpenSchema } from "@switchgear/breaker/CircuitOpen"
 * import * as Schema from "effect/Schema"
 *
 * const json = Schema.encodeSync(CircuitOpenSchema)(new CircuitOpen("quotes", "Open", 1_000))
 * assert.deepStrictEqual(json, { _tag: "CircuitOpen", breaker: "quotes", state: "Open", retryAfter: 1_000 })
 * assert.ok(Schema.decodeSync(CircuitOpenSchema)(json) instanceof CircuitOpen)
 * ```
 */
export const CircuitOpenSchema: Schema.Schema<CircuitOpen, CircuitOpenJson> = Schema.transform(
  Schema.TaggedStruct("CircuitOpen", {
    breaker: Schema.String,
    state: Schema.Literal("Open", "HalfOpen"),
    retryAfter: Schema.optionalWith(Schema.NonNegative, { exact: true })
  }).annotations({ identifier: "CircuitOpen" }),
  Schema.instanceOf(CircuitOpen),
  {
    strict: true,
    decode: ({ breaker, state, retryAfter }) => new CircuitOpen(breaker, state, retryAfter),
    encode: (open) => open.toJSON()
  }
)
