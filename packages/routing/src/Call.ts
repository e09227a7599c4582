/**
 * One call on its way through a pipeline: what was asked, by whom, and what is known of it so far.
 *
 * @since 0.1.0
 */
import type { ObservedState } from "@switchgear/core/Breaker"
import type { Clock } from "effect/Clock"
import type * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type { Attempt } from "./Attempt.js"
import type { Asked, Routed } from "./internal/model.js"
import type { WatchedBody } from "./internal/watchedBody.js"
import type { Rejected } from "./Rejected.js"
import type { RouteError } from "./RouteError.js"
import type { Tokens } from "./Tokens.js"

/**
 * What a client asks of a pipeline. `apiKey` or `via` make it a call with the caller's own credentials (BYO).
 *
 * @since 0.1.0
 * @category models
 */
export interface Request extends Asked {
  /** For telemetry. Default: made up. */
  readonly id?: string | undefined
  /** Whose call it is, if the host has found that out. Default `default`; with client keys, their organisation. */
  readonly org?: string | undefined
  /** A key of this pipeline's own clients, which says whose call it is. */
  readonly clientKey?: Redacted.Redacted | undefined
  /** ROUTING I1. Default: none. */
  readonly idempotencyKey?: string | undefined
}

/**
 * A call that was served.
 *
 * @since 0.1.0
 * @category models
 */
export interface Served extends Routed {
  /** It is what an earlier call with the same idempotency key was answered (ROUTING I2). */
  readonly replayed: boolean
  /** It comes from the cache (ROUTING S3). */
  readonly cached: boolean
}

/**
 * What the organisation's policy says of a call (ROUTING F2, F5). It was asked for the requested model before any stage
 * ran.
 *
 * @since 0.1.0
 * @category models
 */
export interface Granted {
  readonly org: string
  /** In place of the model's own chain. */
  readonly chain?: ReadonlyArray<string> | undefined
  /** Whether a hop may be called; a failure stops the walk. Absent: all may. */
  readonly allow?: ((model: string) => Effect.Effect<boolean, unknown>) | undefined
  /** The requested model was not asked for yet: `allow` is to be asked for it too. */
  readonly unchecked?: boolean | undefined
}

/**
 * One target of a call, inside Fallback.
 *
 * @since 0.1.0
 * @category models
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import { Target } from "@switchgear/routing/Call"
 *
 * const target = new Target("llama", "local", true, false, 0, 120, () => true)
 * assert.strictEqual(target.state, "Closed")
 * ```
 */
export class Target {
  /** What its breakers read before the call; the worst of several. The Breaker stage sets it. */
  state: ObservedState = "Closed"
  /** The call is a probe. The Breaker stage sets it. */
  probe = false
  /** ms: the lease of a probe, which its call must not outlive (SEMANTICS A5). */
  lease: number | undefined = undefined
  /** The request's body as it goes to this target, once it is made. */
  body: Uint8Array | undefined = undefined

  constructor(
    /** By the name clients know. */
    readonly model: string,
    readonly provider: string,
    /** Not the model that was asked for. */
    readonly hop: boolean,
    /** Called although every target had refused: outside its breakers' count (ROUTING F10). */
    readonly lastResort: boolean,
    /** How many targets are left after it. */
    readonly left: number,
    /** ms, monotonic */
    readonly startedAt: number,
    /** Whether the fallback budget lets it be called, of which it then takes its part (ROUTING F13). */
    readonly takeHop: () => boolean
  ) {}
}

/**
 * What is known of a call so far. All stages of a call share one, and one of your own may write in it.
 *
 * @since 0.1.0
 * @category models
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import { Journal } from "@switchgear/routing/Call"
 *
 * assert.deepStrictEqual(new Journal().attempts, [])
 * ```
 */
export class Journal {
  /** What happened to each target so far. */
  attempts: ReadonlyArray<Attempt> = []
  /** Of the call that was served; of a stream when it has ended. */
  tokens: Tokens | undefined = undefined
  /** What was out of order, such as `idempotency_unavailable`; see `note`. */
  notes: ReadonlyArray<string> = []
  /** Why access refused the call; then no stage can serve it. */
  refusal: RouteError | Rejected | undefined = undefined
  /** @internal */
  readonly bodies: Array<WatchedBody> = []
  /** @internal */
  fingerprint: { readonly request: Request; readonly value: string } | undefined = undefined

  /** Writes down that something was out of order, once. Shows in telemetry and in the metric `switchgear_notes`. */
  note(what: string): void {
    if (!this.notes.includes(what)) this.notes = [...this.notes, what]
  }
}

/**
 * What stages are given: the request, and what belongs to this call alone.
 *
 * @since 0.1.0
 * @category models
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import { Call, Journal } from "@switchgear/routing/Call"
 * import * as Clock from "effect/Clock"
 *
 * const request = {
 *   model: "gpt-4o",
 *   operation: "chat.completions",
 *   body: new Uint8Array(),
 *   stream: false,
 *   headers: {}
 * } as const
 * const call = new Call(request, { org: "acme" }, new Journal(), Clock.make(), 0, undefined)
 * assert.strictEqual(call.with({ headers: { "x-a": "b" } }).org, "acme")
 * ```
 */
export class Call {
  /** The caller's own credentials: nothing shared is read or written (ROUTING F8). */
  readonly byo: boolean

  constructor(
    readonly request: Request,
    readonly granted: Granted,
    readonly journal: Journal,
    readonly clock: Clock,
    /** ms, monotonic */
    readonly startedAt: number,
    /** The target that is due; absent outside Fallback. */
    readonly target: Target | undefined
  ) {
    this.byo = request.apiKey !== undefined || request.via !== undefined
  }

  get org(): string {
    return this.granted.org
  }

  /** The same call, of one target. */
  at(target: Target): Call {
    return new Call(this.request, this.granted, this.journal, this.clock, this.startedAt, target)
  }

  /** The same call, asking something else. */
  with(request: Partial<Request>): Call {
    const { clock, granted, journal, startedAt, target } = this
    return new Call({ ...this.request, ...request }, granted, journal, clock, startedAt, target)
  }
}
