/**
 * A provider that answers from a script: no socket, under Effect's clock. What it says goes through the same reader and
 * classifier as a real upstream's answer, so a router or a simulator cannot tell the difference.
 *
 * @since 0.1.0
 */
import type { ProviderKind } from "@switchgear/failures/ProviderKind"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { limits, type Timeouts } from "./internal/limits.js"
import { Meaning } from "./internal/meaning.js"
import { play } from "./internal/play.js"
import type { Step } from "./internal/steps.js"
import * as Provider from "./Provider.js"

export { cut, delay, drip, errorFrame, hang, ok, reset, type Step, status, stream } from "./internal/steps.js"

/**
 * One step per call, the last repeated; or chosen by looking at the request and how many calls came before.
 *
 * @since 0.1.0
 * @category models
 */
export type Script =
  | readonly [Step, ...ReadonlyArray<Step>]
  | ((request: Provider.ProviderRequest, index: number) => Step)

/**
 * A scripted provider, and what has become of the calls it has seen.
 *
 * @since 0.1.0
 * @category models
 */
export interface ScriptedProvider extends Provider.Provider {
  /** How many calls it has seen. */
  readonly calls: Effect.Effect<number>
  /** What it was asked, in order: the latest 1 000 requests. */
  readonly requests: Effect.Effect<ReadonlyArray<Provider.ProviderRequest>>
  /** How many calls were interrupted before they were answered. */
  readonly interrupted: Effect.Effect<number>
  readonly layer: Layer.Layer<Provider.Provider>
}

/**
 * A provider with a script. Limits are those of a provider over HTTP, and kept exactly.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Provider from "@switchgear/providers/Provider"
 * import * as ScriptedProvider from "@switchgear/providers/ScriptedProvider"
 * import * as Effect from "effect/Effect"
 *
 * const provider = ScriptedProvider.make("primary", [ScriptedProvider.status(503), ScriptedProvider.ok("back")])
 * const request = Provider.request("chat.completions", { model: "m", messages: [] })
 *
 * const program = Effect.gen(function*() {
 *   const error = yield* Effect.flip(provider.call(request))
 *   assert.strictEqual(error.failure.status, 503)
 *   assert.strictEqual((yield* provider.call(request))._tag, "Json")
 *   assert.strictEqual(yield* provider.calls, 2)
 * })
 *
 * await Effect.runPromise(program)
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  name: string,
  script: Script,
  options: { readonly timeouts?: Timeouts; readonly kind?: ProviderKind } = {}
): ScriptedProvider => {
  const allowed = limits(options.timeouts)
  const meaning = new Meaning(options.kind ?? "scripted", [])
  const requests: Array<Provider.ProviderRequest> = []
  let calls = 0
  let interrupted = 0
  const stepFor = (request: Provider.ProviderRequest, index: number): Step =>
    typeof script === "function" ? script(request, index) : (script[Math.min(index, script.length - 1)] ?? script[0])
  const provider: Provider.Provider = {
    name,
    call: (request) =>
      Effect.suspend(() => {
        const step = stepFor(request, calls)
        calls += 1
        requests.push(request)
        if (requests.length > 1_000) requests.shift()
        return Effect.onInterrupt(play(name, meaning, step.scene(request), request, allowed), () =>
          Effect.sync(() => {
            interrupted += 1
          })
        )
      })
  }
  return {
    ...provider,
    calls: Effect.sync(() => calls),
    requests: Effect.sync(() => [...requests]),
    interrupted: Effect.sync(() => interrupted),
    layer: Layer.succeed(Provider.Provider, provider)
  }
}
