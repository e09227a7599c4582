/**
 * What a pipeline is made of: values with a name, a priority and a function of `next` (ROUTING S1).
 *
 * A stage outside Fallback sees a call once, a stage inside it once for every target that is tried; `call.target` says
 * which.
 *
 * @since 0.1.0
 */
import type { Fault } from "@switchgear/core/Fallback"
import type * as Effect from "effect/Effect"
import type { Call, Served } from "./Call.js"
import type { CallError } from "./CallError.js"
import type { Route } from "./internal/targets.js"

/**
 * Serves a call. A stream it gives is open until it is read to its end or left; who drops it has to leave it.
 *
 * @since 0.1.0
 * @category models
 */
export type Handler = (call: Call) => Effect.Effect<Served, CallError>

/**
 * What a pipeline is built of, as a stage sees it.
 *
 * @since 0.1.0
 * @category models
 */
export interface Plan {
  /** The stages, outermost first. */
  readonly stages: ReadonlyArray<Stage>
  /** What a call of each model needs, by the model's name. */
  readonly routes: ReadonlyMap<string, Route>
}

/**
 * One stage of a pipeline.
 *
 * @since 0.1.0
 * @category models
 */
export interface Stage {
  readonly name: string
  /** Higher is further out. No two stages of a pipeline have the same. */
  readonly priority: number
  /** Runs once, when the pipeline is built. */
  readonly wrap: (next: Handler, plan: Plan) => Handler
  /** What does not fit, with its path and the fix; the pipeline is refused then. */
  readonly check?: ((plan: Plan) => ReadonlyArray<Fault>) | undefined
  /** `true`: it also hears of calls that access refused, whose `next` fails at once. No answer reaches them (S0). */
  readonly audits?: boolean | undefined
}

/**
 * The priorities of the stages there are (ROUTING S1).
 *
 * @since 0.1.0
 * @category priorities
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Stage from "@switchgear/routing/Stage"
 *
 * assert.ok(Stage.priorities.fallback > Stage.priorities.breaker)
 * ```
 */
export const priorities = {
  telemetry: 110,
  idempotency: 105,
  cache: 100,
  budget: 75,
  fallback: 50,
  usage: 25,
  breaker: 20
} as const

/**
 * A stage of your own.
 *
 * @since 0.1.0
 * @category constructors
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import { Rejected } from "@switchgear/routing/Rejected"
 * import * as Stage from "@switchgear/routing/Stage"
 * import * as Effect from "effect/Effect"
 *
 * // refuses long bodies before a budget is looked at
 * const short = Stage.make("short", 80, (next) => (call) =>
 *   call.request.body.length > 1_000
 *     ? Effect.fail(new Rejected({ stage: "short", status: 413, code: "too_long", message: "1000 bytes at most" }))
 *     : next(call))
 * assert.strictEqual(short.priority, 80)
 * ```
 */
export const make = (
  name: string,
  priority: number,
  wrap: (next: Handler, plan: Plan) => Handler,
  options?: {
    readonly audits?: boolean | undefined
    readonly check?: ((plan: Plan) => ReadonlyArray<Fault>) | undefined
  }
): Stage => ({ name, priority, wrap, ...options })
