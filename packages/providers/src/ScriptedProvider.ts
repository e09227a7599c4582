/**
 * A provider that answers from a script: no socket, under Effect's clock. What it says goes through the same reader and
 * classifier as a real upstream's answer, so a router or a simulator cannot tell the difference.
 *
 * @since 0.1.0
 */
import type { ProviderKind } from "@switchgear/failures/ProviderKind"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { limits, type Timeouts } from "./internal/limits.js"
import { Meaning } from "./internal/meaning.js"
import { type Act, play, type Scene } from "./internal/play.js"
import * as wire from "./internal/scriptedWire.js"
import * as Provider from "./Provider.js"

/**
 * One answer of a script.
 *
 * @since 0.1.0
 * @category models
 */
export interface Step {
  readonly name: string
  readonly scene: (request: Provider.ProviderRequest) => Scene
}

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

const json = { "content-type": "application/json" }
const sse = { "content-type": "text/event-stream" }

const bytes = (text: string): Act => ({ _tag: "Bytes", text })
const wait = (duration: Duration.DurationInput): Act => ({ _tag: "Wait", duration })

const scene = (request: Provider.ProviderRequest, acts: Iterable<Act>): Scene => ({
  status: 200,
  headers: request.stream ? sse : json,
  acts
})

/**
 * A good answer that says so.
 *
 * @since 0.1.0
 * @category steps
 */
export const ok = (text = "ok"): Step => drip([text], 0)

/**
 * A good answer, its parts `every` so often; the first after as long. As JSON, all of it after all that time.
 *
 * @since 0.1.0
 * @category steps
 */
export const drip = (parts: ReadonlyArray<string>, every: Duration.DurationInput): Step => ({
  name: "ok",
  scene: (request) => {
    const paced = (part: string): ReadonlyArray<Act> => (every === 0 ? [bytes(part)] : [wait(every), bytes(part)])
    if (!request.stream) {
      const waits = every === 0 ? [] : parts.map(() => wait(every))
      return scene(request, [...waits, bytes(wire.json(request.operation, request.model, parts.join("")))])
    }
    const frames = wire.frames(request.operation, request.model, parts)
    return scene(request, [bytes(frames.opening), ...frames.output.flatMap(paced), bytes(frames.ending)])
  }
})

/**
 * An error answer: the dialect's own body around `message`, or `body` as it is.
 *
 * @since 0.1.0
 * @category steps
 */
export const status = (
  code: number,
  options: {
    readonly headers?: Readonly<Record<string, string>>
    readonly type?: string
    readonly message?: string
    readonly body?: string
  } = {}
): Step => ({
  name: `status ${code}`,
  scene: (request) => ({
    status: code,
    headers: { ...json, ...options.headers },
    acts: [
      bytes(options.body ?? wire.error(request.operation, options.type, options.message ?? `scripted status ${code}`))
    ]
  })
})

/**
 * No answer, ever: the provider's limits end it, or the caller.
 *
 * @since 0.1.0
 * @category steps
 */
export const hang: Step = { name: "hang", scene: (request) => scene(request, [{ _tag: "Hang" }]) }

/**
 * The connection is reset before any answer.
 *
 * @since 0.1.0
 * @category steps
 */
export const reset: Step = { name: "reset", scene: (request) => scene(request, [{ _tag: "Reset" }]) }

/**
 * So many parts of a stream, then it breaks off without its end. As JSON: a reset.
 *
 * @since 0.1.0
 * @category steps
 */
export const cut = (parts: ReadonlyArray<string>): Step => ({
  name: "cut",
  scene: (request) => {
    if (!request.stream) return scene(request, [{ _tag: "Reset" }])
    const frames = wire.frames(request.operation, request.model, parts)
    return scene(request, [frames.opening, ...frames.output].map(bytes))
  }
})

/**
 * So many parts of a stream, then a frame that says it failed. As JSON: the error in a 200.
 *
 * @since 0.1.0
 * @category steps
 */
export const errorFrame = (
  parts: ReadonlyArray<string>,
  options: { readonly type?: string; readonly message?: string } = {}
): Step => ({
  name: "error frame",
  scene: (request) => {
    const type = options.type ?? "overloaded_error"
    const message = options.message ?? "Overloaded"
    if (!request.stream) return scene(request, [bytes(wire.error(request.operation, type, message))])
    const frames = wire.frames(request.operation, request.model, parts)
    return scene(
      request,
      [frames.opening, ...frames.output, wire.errorFrame(request.operation, type, message)].map(bytes)
    )
  }
})

/**
 * Any bytes as a stream, a chunk `every` so often.
 *
 * @since 0.1.0
 * @category steps
 */
export const stream = (chunks: ReadonlyArray<string>, every: Duration.DurationInput = 0): Step => ({
  name: "stream",
  scene: () => ({
    status: 200,
    headers: sse,
    acts: chunks.flatMap((chunk) => (every === 0 ? [bytes(chunk)] : [wait(every), bytes(chunk)]))
  })
})

/**
 * The same step, later.
 *
 * @since 0.1.0
 * @category combinators
 */
export const delay = (step: Step, duration: Duration.DurationInput): Step => ({
  name: step.name,
  scene: (request) => {
    const it = step.scene(request)
    return { ...it, acts: [wait(duration), ...it.acts] }
  }
})

/**
 * A provider with a script. Limits are those of a provider over HTTP, and kept exactly.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as ScriptedProvider from "@switchgear/providers/ScriptedProvider"
 * import * as Effect from "effect/Effect"
 *
 * const provider = ScriptedProvider.make("primary", [ScriptedProvider.status(503), ScriptedProvider.ok("back")])
 * const request = {
 *   operation: "chat.completions",
 *   model: "m",
 *   body: new TextEncoder().encode(`{"model":"m","messages":[]}`),
 *   stream: false,
 *   headers: {}
 * } as const
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
