/**
 * A call from front to back: access, then the stages in their order, then a provider (ROUTING S0 to S3).
 *
 * What the list of stages says is what runs. Stages are values; put your own between those of this package.
 *
 * @since 0.1.0
 */
import * as Dedupe from "@switchgear/core/Dedupe"
import type { Fault } from "@switchgear/core/Fallback"
import * as FallbackSettings from "@switchgear/core/Fallback"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Access from "./Access.js"
import { Call, type Granted, Journal, type Request, type Served } from "./Call.js"
import type { CallError } from "./CallError.js"
import { alone, composed, ordered, withWalk } from "./internal/assemble.js"
import { guarded } from "./internal/guarded.js"
import { walk } from "./internal/journey.js"
import { closing, scoped } from "./internal/lifetime.js"
import { News } from "./internal/news.js"
import { type GuardedModelInput, type ProviderInput, routesOf } from "./internal/plan.js"
import { provide } from "./internal/provide.js"
import { clockOf, monotonicMillis } from "./internal/time.js"
import type { Rejected } from "./Rejected.js"
import { RouteError } from "./RouteError.js"
import { type Plan, priorities, type Stage, make as stage } from "./Stage.js"

/**
 * What a pipeline is built of.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** Each with the breakers that guard it, of which it may have none. */
  readonly providers: ReadonlyArray<ProviderInput>
  readonly models: ReadonlyArray<GuardedModelInput>
  readonly stages: ReadonlyArray<Stage>
  /** `listed`: the stages run as the list stands, the first outermost. Default: by priority (ROUTING S1). */
  readonly order?: "priority" | "listed" | undefined
  /** Default `Access.open`. */
  readonly access?: Access.Access | undefined
}

/**
 * A pipeline.
 *
 * @since 0.1.0
 * @category models
 */
export interface Service {
  /**
   * Serves a call, or fails with what to answer.
   *
   * The scope is the answer's: a stream is open until it was read to its end or the scope closes. Interrupting the call
   * closes what is open upstream, gives every permit and claim back and calls no further target (ROUTING F9).
   */
  readonly run: (request: Request) => Effect.Effect<Served, RouteError | Rejected, Scope.Scope>
  /**
   * The same without a scope, which costs more than all stages: for JSON, and for one who looks after the stream. It is
   * open until its body was read to its end or left, by `return()` as `for await` does.
   */
  readonly runUnscoped: (request: Request) => Effect.Effect<Served, RouteError | Rejected>
  /** The names of all models, in the order given. */
  readonly models: ReadonlyArray<string>
  /** The names of the stages, outermost first. */
  readonly stages: ReadonlyArray<string>
}

/**
 * The pipeline in force.
 *
 * @since 0.1.0
 * @category tags
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as ScriptedProvider from "@switchgear/providers/ScriptedProvider"
 * import * as Pipeline from "@switchgear/routing/Pipeline"
 * import * as Effect from "effect/Effect"
 *
 * const Live = Pipeline.layer({
 *   providers: [{ provider: ScriptedProvider.make("local", [ScriptedProvider.ok()]) }],
 *   models: [{ name: "llama", provider: "local" }],
 *   stages: [Pipeline.fallback()]
 * })
 * const program = Effect.map(Pipeline.Pipeline, (pipeline) => pipeline.models)
 * assert.deepStrictEqual(Effect.runSync(Effect.provide(program, Live)), ["llama"])
 * ```
 */
export class Pipeline extends Context.Tag("@switchgear/routing/Pipeline")<Pipeline, Service>() {}

/**
 * A pipeline that cannot be built, with every fault, its path and what to change.
 *
 * @since 0.1.0
 * @category errors
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Pipeline from "@switchgear/routing/Pipeline"
 * import * as Effect from "effect/Effect"
 *
 * const stages = [Pipeline.fallback(), { ...Pipeline.breaker(), priority: 60 }]
 * const error = Effect.runSync(Effect.flip(Pipeline.make({ providers: [], models: [], stages })))
 * assert.match(error.message, /would end the call before any fallback/)
 * ```
 */
export class PipelineConfigError extends Data.TaggedError("PipelineConfigError")<{
  readonly faults: ReadonlyArray<Fault>
}> {
  override get message(): string {
    return this.faults.map(({ message, path }) => `${path}: ${message}`).join("\n")
  }
}

/**
 * How the Fallback stage walks.
 *
 * @since 0.1.0
 * @category models
 */
export interface FallbackOptions {
  /** Default `Fallback.recommended` of `@switchgear/core`. */
  readonly settings?: FallbackSettings.Settings | undefined
  /** Scores for `reorderByHealth` (ROUTING H2): `Health.scores`. Default: none are known. */
  readonly health?: Effect.Effect<(provider: string) => number | undefined> | undefined
}

/**
 * The Fallback stage: walks the targets of a call, the requested model first, then its chain. Stages inside it run once
 * for each target that is tried.
 *
 * @since 0.1.0
 * @category stages
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Fallback from "@switchgear/core/Fallback"
 * import * as Pipeline from "@switchgear/routing/Pipeline"
 *
 * assert.strictEqual(Pipeline.fallback({ settings: Fallback.ibex }).priority, 50)
 * ```
 */
export const fallback = ({ health, settings = FallbackSettings.recommended }: FallbackOptions = {}): Stage =>
  stage("fallback", priorities.fallback, (next, { routes }) => walk({ routes, settings, health, next }))

/**
 * The Breaker stage: takes permits of all the breakers of a target or of none, and tells each what concerns it (DESIGN
 * 6). `dedupe` counts once what happened to one provider at one moment (STORES, "Recording an outcome"); the pipeline is
 * refused if a breaker's rule needs the rate.
 *
 * @since 0.1.0
 * @category stages
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Dedupe from "@switchgear/core/Dedupe"
 * import * as Pipeline from "@switchgear/routing/Pipeline"
 *
 * assert.strictEqual(Pipeline.breaker({ dedupe: Dedupe.defaults }).priority, 20)
 * ```
 */
export const breaker = ({ dedupe }: { readonly dedupe?: Dedupe.Settings | undefined } = {}): Stage =>
  stage(
    "breaker",
    priorities.breaker,
    (next, { routes }) => guarded(next, routes, dedupe === undefined ? undefined : new News(dedupe)),
    { check: (plan) => [...insideFallback(plan), ...(dedupe === undefined ? [] : keepsRates(plan))] }
  )

/** ROUTING S2. */
const insideFallback = ({ stages }: Plan): ReadonlyArray<Fault> => {
  const inner = stages.findIndex(({ name }) => name === "breaker")
  const outer = stages.findIndex(({ name }) => name === "fallback")
  if (outer === -1 || inner > outer) return []
  const message =
    "stands outside of fallback, where an open primary would end the call before any fallback: put it inside, below " +
    `priority ${stages[outer]?.priority ?? priorities.fallback} or after it in the list`
  return [{ path: "stages.breaker", message }]
}

const keepsRates = ({ routes }: Plan): ReadonlyArray<Fault> => {
  const faults = new Map<string, Fault>()
  for (const { gates } of routes.values()) {
    for (const { breaker } of gates) {
      const fault = Dedupe.check(breaker.policy.trip)
      if (fault !== undefined)
        faults.set(breaker.name, { ...fault, message: `breaker "${breaker.name}": ${fault.message}` })
    }
  }
  return [...faults.values()].map(({ message, path }) => ({ path: `stages.breaker.${path}`, message }))
}

const isDone = <A, E>(effect: Effect.Effect<A, E>): effect is Exit.Success<A, E> =>
  Exit.isExit(effect) && Exit.isSuccess(effect)

/** Only the walk is seen outside; a stage of the user's may let through what belongs to one target. */
const outside = (model: string, error: CallError, { attempts }: Journal): RouteError | Rejected => {
  switch (error._tag) {
    case "RouteError":
    case "Rejected":
      return error
    case "ProviderError":
      return new RouteError({ model, reason: { _tag: "Failed", model, error }, attempts })
    case "TargetRefused": {
      const kind = error.kind === "over_budget" ? "saturated" : error.kind
      const { retryAfter } = error
      const refused = { _tag: "Refused", kind, status: 503 } as const
      const reason = retryAfter === undefined ? refused : { ...refused, retryAfter }
      return new RouteError({ model, reason, attempts })
    }
  }
}

/**
 * Builds a pipeline. All that does not fit is named at once: unknown providers and models, chains of more than 8, two
 * stages of one name or priority, a breaker outside of fallback, dedupe over a rule that needs the rate.
 *
 * @since 0.1.0
 * @category constructors
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as ScriptedProvider from "@switchgear/providers/ScriptedProvider"
 * import * as Pipeline from "@switchgear/routing/Pipeline"
 * import * as Usage from "@switchgear/routing/Usage"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function*() {
 *   const breaker = (name: string) => CircuitBreaker.make({ name, policy: Policy.hosted })
 *   const pipeline = yield* Pipeline.make({
 *     providers: [
 *       {
 *         provider: ScriptedProvider.make("primary", [ScriptedProvider.status(503)]),
 *         breaker: yield* breaker("primary")
 *       },
 *       { provider: ScriptedProvider.make("backup", [ScriptedProvider.ok("hello")]), breaker: yield* breaker("backup") }
 *     ],
 *     models: [
 *       { name: "gpt-4o", provider: "primary", fallbackChain: ["llama"] },
 *       { name: "llama", provider: "backup" }
 *     ],
 *     stages: [Pipeline.fallback(), Usage.stage(), Pipeline.breaker()]
 *   })
 *   const body = new TextEncoder().encode(`{"model":"gpt-4o","messages":[]}`)
 *   return yield* pipeline.run({ model: "gpt-4o", operation: "chat.completions", body, stream: false, headers: {} })
 * })
 * const served = await Effect.runPromise(Effect.scoped(program))
 * assert.deepStrictEqual([served.model, served.substituted], ["llama", true])
 * ```
 */
export const make = (options: Options): Effect.Effect<Service, PipelineConfigError> =>
  Effect.suspend(() => {
    const { access = Access.open, models, order = "priority", providers } = options
    const found = routesOf(providers, models)
    const inOrder = ordered(options.stages, order)
    const stages = Either.isRight(inOrder) ? withWalk(inOrder.right, order) : []
    const routes = Either.isRight(found) ? found.right : new Map<string, never>()
    const plan: Plan = { stages, routes }
    const faults = [
      ...(Either.isLeft(found) ? found.left : []),
      ...(Either.isLeft(inOrder) ? inOrder.left : []),
      ...stages.flatMap(({ check }) => check?.(plan) ?? [])
    ]
    if (faults.length > 0) return Effect.fail(new PipelineConfigError({ faults }))
    const serve = composed(plan, stages, provide(routes))
    const auditors = stages.filter(({ audits }) => audits === true)
    const refuse = composed(plan, auditors, ({ journal, request: { model } }) =>
      Effect.fail(journal.refusal ?? new RouteError({ model, reason: { _tag: "NotAllowed" }, attempts: [] }))
    )
    const runUnscoped: Service["runUnscoped"] = (request) =>
      Effect.withFiberRuntime((fiber) => {
        const clock = clockOf(fiber)
        const startedAt = monotonicMillis(clock)
        const callOf = (granted: Granted) => new Call(request, granted, new Journal(), clock, startedAt, undefined)
        const onSuccess = (granted: Granted) => {
          const call = callOf(granted)
          return Effect.catchAll(closing(call, serve(call)), (error) =>
            Effect.fail(outside(request.model, error, call.journal))
          )
        }
        const granted = access(request)
        // an answer that is there already takes no step
        if (isDone(granted)) return onSuccess(granted.value)
        return Effect.matchEffect(granted, {
          onSuccess,
          onFailure: (refusal) => {
            const call = callOf({ org: request.org ?? "" })
            call.journal.refusal = refusal
            return Effect.catchAll(refuse(call), () => Effect.fail(refusal))
          }
        })
      })
    return Effect.succeed({
      run: (request) => {
        const serving = runUnscoped(request)
        if (request.stream) return scoped(serving)
        return Effect.flatMap(serving, (served) => {
          const done = Effect.succeed(served)
          return served.answer._tag === "Json" ? done : scoped(done)
        })
      },
      runUnscoped,
      models: models.map(({ name }) => name),
      stages: stages.filter((stage) => stage !== alone).map(({ name }) => name)
    })
  })

/**
 * A pipeline as a layer.
 *
 * @since 0.1.0
 * @category layers
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Pipeline from "@switchgear/routing/Pipeline"
 * import * as Effect from "effect/Effect"
 *
 * const nothing = Pipeline.layer({ providers: [], models: [], stages: [Pipeline.fallback(), Pipeline.breaker()] })
 * const program = Effect.map(Pipeline.Pipeline, (pipeline) => pipeline.stages)
 * assert.deepStrictEqual(Effect.runSync(Effect.provide(program, nothing)), ["fallback", "breaker"])
 * ```
 */
export const layer = (options: Options): Layer.Layer<Pipeline, PipelineConfigError> =>
  Layer.effect(Pipeline, make(options))
