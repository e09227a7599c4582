/**
 * One model made of several: each under its own breaker, and the next one asked when one cannot answer.
 *
 * It is a `LanguageModel` of `@effect/ai`, so the code that uses it does not change. The walk is `@switchgear/core/Walk`.
 *
 * @since 0.1.0
 */
import * as LanguageModel from "@effect/ai/LanguageModel"
import { CircuitBreakerRegistry } from "@switchgear/breaker/CircuitBreakerRegistry"
import * as Fallback from "@switchgear/core/Fallback"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as fallback from "./internal/fallback.js"
import * as service from "./internal/service.js"
import { type ModelOptions, targetOf } from "./internal/target.js"
import { type Place, Plan } from "./internal/walking.js"

export { findOpen } from "@switchgear/breaker/CircuitOpen"

/**
 * One model of several. What it does not say itself (`timeouts`, `provider`, `secrets`) it takes from the options of all.
 *
 * @since 0.1.0
 * @category models
 */
export interface Target<E = unknown, R = unknown> extends ModelOptions {
  /** Unique among the targets. */
  readonly name: string
  readonly layer: Layer.Layer<LanguageModel.LanguageModel, E, R>
  /** The name of its breaker in the registry; default its own. Targets that share one share their health. */
  readonly key?: string | undefined
  /** Tokens. A call too long for one model moves on only to a target known to have a larger window (ROUTING F4). */
  readonly contextWindow?: number | undefined
}

/**
 * The primary, then its chain in the order of preference; and when to move on, which is `Fallback.make`'s to check:
 *
 * - `on`, `never`: kinds, statuses and classes (`"5xx"`) of failures that move a call to the next target (ROUTING F4).
 * - `maxDepth`: targets called after the primary, at most. Default 1; those whose circuit is open cost nothing (F3).
 * - `surface`: what a failed walk answers: the error of the `primary` (default), of the `last`, or all (`exhausted`).
 * - `preferHealthyState`: the chain sorted by its breakers' states. Default on (H4).
 * - `lastResort`: `"soonest"` calls one target although all circuits are open. Default `"none"` (F10).
 * - `budget`: hops, at most, as a share of calls. Default 0.5, beyond 20 in 10 seconds (F13).
 *
 * @since 0.1.0
 * @category models
 */
export interface Options<Targets extends ReadonlyArray<Target> = ReadonlyArray<Target>>
  extends Omit<Fallback.SettingsInput, "reorderByHealth">,
    ModelOptions {
  readonly targets: Targets
}

type ErrorOf<Targets extends ReadonlyArray<Target>> = Layer.Layer.Error<Targets[number]["layer"]>
type ContextOf<Targets extends ReadonlyArray<Target>> = Layer.Layer.Context<Targets[number]["layer"]>

const check = (targets: ReadonlyArray<Target>): ReadonlyArray<{ readonly path: string; readonly message: string }> => {
  const seen = new Set<string>()
  const faults = targets.flatMap(({ name }, index) => {
    const path = `targets.${index}.name`
    if (name.trim() === "") return [{ path, message: "must not be blank" }]
    if (seen.has(name.trim())) return [{ path, message: `"${name.trim()}" is there already` }]
    seen.add(name.trim())
    return []
  })
  const chain = Fallback.decodeChain(targets.slice(1).map(({ name }) => name))
  return chain._tag === "Failure" ? [...faults, ...chain.faults.map((one) => ({ ...one, path: "targets" }))] : faults
}

const settingsOf = ({
  budget,
  depthCounts,
  lastResort,
  maxDepth,
  never,
  on,
  preferHealthyState,
  preset,
  surface
}: Options): Fallback.Settings =>
  Fallback.make({ budget, depthCounts, lastResort, maxDepth, never, on, preferHealthyState, preset, surface })

/**
 * A model that asks its targets in turn.
 *
 * - The targets' layers are built once, with this layer, and share what they have in common.
 * - Before a stream's first output (text, reasoning, a tool call) a failure moves on, and the reader never sees the parts
 *   of the target that failed. After it, never: the stream fails (ROUTING F7). A tool that has run counts as output.
 * - A caller who leaves stops the walk (F9).
 * - If every circuit is open the call fails at once with an `AiError` whose cause is the `CircuitOpen` that ends first:
 *   `CircuitBreaker.findOpen` gets it.
 *
 * Throws a `FallbackError` naming every fault of the options.
 *
 * @since 0.1.0
 * @category layers
 * @example
 * ```ts
 * import * as LanguageModel from "@effect/ai/LanguageModel"
 * import * as FallbackLanguageModel from "@switchgear/ai/FallbackLanguageModel"
 * import { make, ok, status } from "@switchgear/ai/ScriptedLanguageModel"
 * import * as CircuitBreakerRegistry from "@switchgear/breaker/CircuitBreakerRegistry"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Effect from "effect/Effect"
 * import * as Layer from "effect/Layer"
 * import * as assert from "node:assert"
 *
 * const Model = FallbackLanguageModel.layer({
 *   targets: [
 *     { name: "primary", layer: make([status(503)]).layer },
 *     { name: "backup", layer: make([ok("backup")]).layer }
 *   ]
 * }).pipe(Layer.provide(CircuitBreakerRegistry.layer({ policy: Policy.hosted })))
 *
 * const ask = LanguageModel.generateText({ prompt: "Hello" }).pipe(Effect.provide(Model))
 * assert.strictEqual((await Effect.runPromise(ask)).text, "backup")
 * ```
 */
export const layer = <const Targets extends readonly [Target, ...ReadonlyArray<Target>]>(
  options: Options<Targets>
): Layer.Layer<LanguageModel.LanguageModel, ErrorOf<Targets>, ContextOf<Targets> | CircuitBreakerRegistry> => {
  const faults = check(options.targets)
  if (faults.length > 0) throw new Fallback.FallbackError(faults)
  const built = build(options.targets, options, settingsOf(options))
  // The targets' own errors and requirements, which were forgotten where a list of them was walked.
  return Layer.scoped(LanguageModel.LanguageModel, built) as Layer.Layer<
    LanguageModel.LanguageModel,
    ErrorOf<Targets>,
    ContextOf<Targets> | CircuitBreakerRegistry
  >
}

const build = Effect.fnUntraced(function* (
  [first, ...rest]: readonly [Target, ...ReadonlyArray<Target>],
  shared: ModelOptions,
  settings: Fallback.Settings
) {
  const registry = yield* CircuitBreakerRegistry
  const memoMap = yield* Layer.makeMemoMap
  const scope = yield* Effect.scope
  const place = (target: Target): Effect.Effect<Place, unknown, unknown> =>
    Effect.gen(function* () {
      const name = target.name.trim()
      const context = yield* Layer.buildWithMemoMap(target.layer, memoMap, scope)
      const breaker = yield* registry.get(target.key ?? name)
      const options = {
        timeouts: { ...shared.timeouts, ...target.timeouts },
        provider: target.provider ?? shared.provider,
        secrets: [...(shared.secrets ?? []), ...(target.secrets ?? [])]
      }
      return {
        name,
        contextWindow: target.contextWindow,
        target: targetOf(Context.get(context, LanguageModel.LanguageModel), breaker, options)
      }
    })
  const primary = yield* place(first)
  const chain = yield* Effect.forEach(rest, place)
  return service.make(fallback.around(new Plan(primary, chain, settings)))
})
