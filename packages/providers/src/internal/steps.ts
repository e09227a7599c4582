import type * as Duration from "effect/Duration"
import type { ProviderRequest } from "../Provider.js"
import type { Act, Scene } from "./play.js"
import * as wire from "./scriptedWire.js"

/**
 * One answer of a script.
 *
 * @since 0.1.0
 * @category models
 */
export interface Step {
  readonly name: string
  readonly scene: (request: ProviderRequest) => Scene
}

const json = { "content-type": "application/json" }
const sse = { "content-type": "text/event-stream" }

const bytes = (text: string): Act => ({ _tag: "Bytes", text })
const wait = (duration: Duration.DurationInput): Act => ({ _tag: "Wait", duration })

const scene = (request: ProviderRequest, acts: Iterable<Act>): Scene => ({
  status: 200,
  headers: request.stream ? sse : json,
  acts
})

/**
 * A good answer that says so.
 *
 * @example
 * ```ts
 * import * as Provider from "@switchgear/providers/Provider"
 * import * as ScriptedProvider from "@switchgear/providers/ScriptedProvider"
 * import * as Effect from "effect/Effect"
 * import * as assert from "node:assert"
 *
 * const request = Provider.request("chat.completions", { model: "m", messages: [] })
 * const provider = ScriptedProvider.make("p", [ScriptedProvider.ok("hi")])
 * const answer = await Effect.runPromise(provider.call(request))
 * assert.strictEqual(answer._tag, "Json")
 * ```
 *
 * @since 0.1.0
 * @category steps
 */
export const ok = (text = "ok"): Step => drip([text], 0)

/**
 * A good answer, its parts `every` so often; the first after as long. As JSON, all of it after all that time.
 *
 * @example
 * ```ts
 * import * as Provider from "@switchgear/providers/Provider"
 * import * as ScriptedProvider from "@switchgear/providers/ScriptedProvider"
 * import * as Effect from "effect/Effect"
 * import * as assert from "node:assert"
 *
 * const request = Provider.request("chat.completions", { model: "m", stream: true, messages: [] })
 * const provider = ScriptedProvider.make("p", [ScriptedProvider.drip(["Hel", "lo"], "1 millis")])
 * const answer = await Effect.runPromise(provider.call(request))
 * assert.strictEqual(answer._tag, "Stream")
 * ```
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
 * @example
 * ```ts
 * import * as Provider from "@switchgear/providers/Provider"
 * import * as ScriptedProvider from "@switchgear/providers/ScriptedProvider"
 * import * as Effect from "effect/Effect"
 * import * as assert from "node:assert"
 *
 * const request = Provider.request("chat.completions", { model: "m", messages: [] })
 * const provider = ScriptedProvider.make("p", [ScriptedProvider.status(429, { headers: { "retry-after": "7" } })])
 * const error = await Effect.runPromise(Effect.flip(provider.call(request)))
 * assert.strictEqual(error.failure.kind, "rate_limit")
 * ```
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
 * @example
 * ```ts
 * import * as Provider from "@switchgear/providers/Provider"
 * import * as ScriptedProvider from "@switchgear/providers/ScriptedProvider"
 * import * as Effect from "effect/Effect"
 * import * as assert from "node:assert"
 *
 * const request = Provider.request("chat.completions", { model: "m", messages: [] })
 * const provider = ScriptedProvider.make("p", [ScriptedProvider.hang], { timeouts: { total: "5 millis" } })
 * const error = await Effect.runPromise(Effect.flip(provider.call(request)))
 * assert.strictEqual(error.failure.kind, "timeout")
 * ```
 *
 * @since 0.1.0
 * @category steps
 */
export const hang: Step = { name: "hang", scene: (request) => scene(request, [{ _tag: "Hang" }]) }

/**
 * The connection is reset before any answer.
 *
 * @example
 * ```ts
 * import * as Provider from "@switchgear/providers/Provider"
 * import * as ScriptedProvider from "@switchgear/providers/ScriptedProvider"
 * import * as Effect from "effect/Effect"
 * import * as assert from "node:assert"
 *
 * const request = Provider.request("chat.completions", { model: "m", messages: [] })
 * const provider = ScriptedProvider.make("p", [ScriptedProvider.reset])
 * const error = await Effect.runPromise(Effect.flip(provider.call(request)))
 * assert.strictEqual(error.failure.kind, "network_error")
 * ```
 *
 * @since 0.1.0
 * @category steps
 */
export const reset: Step = { name: "reset", scene: (request) => scene(request, [{ _tag: "Reset" }]) }

/**
 * So many parts of a stream, then it breaks off without its end. As JSON: a reset.
 *
 * @example
 * ```ts
 * import * as Provider from "@switchgear/providers/Provider"
 * import * as ScriptedProvider from "@switchgear/providers/ScriptedProvider"
 * import * as Effect from "effect/Effect"
 * import * as assert from "node:assert"
 *
 * const request = Provider.request("chat.completions", { model: "m", stream: true, messages: [] })
 * const provider = ScriptedProvider.make("p", [ScriptedProvider.cut([])])
 * const error = await Effect.runPromise(Effect.flip(provider.call(request)))
 * assert.strictEqual(error.failure.kind, "network_error")
 * ```
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
 * @example
 * ```ts
 * import * as Provider from "@switchgear/providers/Provider"
 * import * as ScriptedProvider from "@switchgear/providers/ScriptedProvider"
 * import * as Effect from "effect/Effect"
 * import * as assert from "node:assert"
 *
 * const request = Provider.request("chat.completions", { model: "m", stream: true, messages: [] })
 * const provider = ScriptedProvider.make("p", [ScriptedProvider.errorFrame([])])
 * const error = await Effect.runPromise(Effect.flip(provider.call(request)))
 * assert.strictEqual(error.failure.kind, "overloaded")
 * ```
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
 * @example
 * ```ts
 * import * as Provider from "@switchgear/providers/Provider"
 * import * as ScriptedProvider from "@switchgear/providers/ScriptedProvider"
 * import * as Effect from "effect/Effect"
 * import * as assert from "node:assert"
 *
 * const request = Provider.request("chat.completions", { model: "m", stream: true, messages: [] })
 * const provider = ScriptedProvider.make("p", [ScriptedProvider.stream(["data: {\"error\":{\"message\":\"no\"}}\n\n"])])
 * const error = await Effect.runPromise(Effect.flip(provider.call(request)))
 * assert.strictEqual(error.failure.kind, "server_error")
 * ```
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
 * @example
 * ```ts
 * import * as Provider from "@switchgear/providers/Provider"
 * import * as ScriptedProvider from "@switchgear/providers/ScriptedProvider"
 * import * as Effect from "effect/Effect"
 * import * as assert from "node:assert"
 *
 * const request = Provider.request("chat.completions", { model: "m", messages: [] })
 * const provider = ScriptedProvider.make("p", [ScriptedProvider.delay(ScriptedProvider.ok(), "1 millis")])
 * const answer = await Effect.runPromise(provider.call(request))
 * assert.strictEqual(answer._tag, "Json")
 * ```
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
