import { framesOf, jsonOf } from "./dialect.js"
import { errorBody } from "./errors.js"
import type { Behaviour, Complaint, Reply } from "./model.js"
import { behaviour, close, end, hang, head, headers, json, reset, settle, sse, wait, whole, write } from "./steps.js"

/**
 * A good answer in the dialect and the form (JSON or SSE) that was asked for.
 *
 * @since 0.1.0
 * @category behaviours
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Upstream from "@switchgear/testing/Upstream"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function*() {
 *   const upstream = yield* Upstream.make([Upstream.ok({ parts: ["Hello"] })])
 *   return yield* Effect.promise(async () => {
 *     const body = JSON.stringify({ model: "m", messages: [] })
 *     const answer = await fetch(`${upstream.baseUrl}/chat/completions`, { method: "POST", body })
 *     return answer.text()
 *   })
 * })
 * assert.match(await Effect.runPromise(Effect.scoped(program)), /Hello/)
 * ```
 */
export const ok = (reply: Reply = {}): Behaviour =>
  behaviour("ok", (call) => {
    if (!call.stream) return whole(200, headers(json, reply), JSON.stringify(jsonOf(call, reply)))
    const frames = framesOf(call, reply)
    return [
      head(200, headers(sse, reply)),
      write([...frames.opening, ...frames.output, ...frames.ending].join("")),
      end
    ]
  })

/**
 * A good answer in pieces: a stream's frames, or slices of the JSON body, with `every` ms between them.
 *
 * @since 0.1.0
 * @category behaviours
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Upstream from "@switchgear/testing/Upstream"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function*() {
 *   const upstream = yield* Upstream.make([Upstream.drip(1, { parts: ["Hel", "lo"] })])
 *   return yield* Effect.promise(async () => {
 *     const body = JSON.stringify({ model: "m", messages: [], stream: true })
 *     const answer = await fetch(`${upstream.baseUrl}/chat/completions`, { method: "POST", body })
 *     return answer.text()
 *   })
 * })
 * assert.match(await Effect.runPromise(Effect.scoped(program)), /lo/)
 * ```
 */
export const drip = (every: number, reply: Reply = {}): Behaviour =>
  behaviour("drip", function* (call) {
    yield head(200, headers(call.stream ? sse : json, reply))
    if (call.stream) {
      const frames = framesOf(call, reply)
      for (const frame of [...frames.opening, ...frames.output, ...frames.ending]) {
        yield write(frame)
        yield wait(every)
      }
    } else {
      const body = JSON.stringify(jsonOf(call, reply))
      const size = Math.ceil(body.length / 8)
      for (let at = 0; at < body.length; at += size) {
        yield write(body.slice(at, at + size))
        yield wait(every)
      }
    }
    yield end
  })

/**
 * An error answer. Its body, unless given, is what the vendor of the dialect sends with that status.
 *
 * @since 0.1.0
 * @category behaviours
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Upstream from "@switchgear/testing/Upstream"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function*() {
 *   const upstream = yield* Upstream.make([Upstream.status(429, { headers: { "retry-after": "2" } })])
 *   return yield* Effect.promise(async () => {
 *     const body = JSON.stringify({ model: "m", messages: [] })
 *     const answer = await fetch(`${upstream.baseUrl}/chat/completions`, { method: "POST", body })
 *     return [answer.status, answer.headers.get("retry-after")]
 *   })
 * })
 * assert.deepStrictEqual(await Effect.runPromise(Effect.scoped(program)), [429, "2"])
 * ```
 */
export const status = (code: number, complaint: Complaint & { readonly body?: string } = {}): Behaviour =>
  behaviour(`status ${code}`, (call) =>
    whole(code, headers(json, complaint), complaint.body ?? JSON.stringify(errorBody(call, code, complaint)))
  )

/**
 * 400: the prompt is longer than the model's window.
 *
 * @since 0.1.0
 * @category behaviours
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Upstream from "@switchgear/testing/Upstream"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function*() {
 *   const upstream = yield* Upstream.make([Upstream.contextLength])
 *   return yield* Effect.promise(async () => {
 *     const body = JSON.stringify({ model: "m", messages: [] })
 *     const answer = await fetch(`${upstream.baseUrl}/chat/completions`, { method: "POST", body })
 *     return answer.text()
 *   })
 * })
 * assert.match(await Effect.runPromise(Effect.scoped(program)), /context_length_exceeded/)
 * ```
 */
export const contextLength: Behaviour = behaviour("context length", (call) =>
  status(
    400,
    call.endpoint === "messages"
      ? { message: "prompt is too long: 210000 tokens > 200000 maximum" }
      : {
          type: "invalid_request_error",
          code: "context_length_exceeded",
          message: "This model's maximum context length is 8192 tokens."
        }
  ).steps(call)
)

/**
 * 200 with a page, as a proxy or a captive portal sends it.
 *
 * @since 0.1.0
 * @category behaviours
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Upstream from "@switchgear/testing/Upstream"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function*() {
 *   const upstream = yield* Upstream.make([Upstream.html])
 *   return yield* Effect.promise(async () => {
 *     const body = JSON.stringify({ model: "m", messages: [] })
 *     const answer = await fetch(`${upstream.baseUrl}/chat/completions`, { method: "POST", body })
 *     return [answer.status, answer.headers.get("content-type")]
 *   })
 * })
 * assert.deepStrictEqual(await Effect.runPromise(Effect.scoped(program)), [200, "text/html"])
 * ```
 */
export const html: Behaviour = behaviour("html 200", () =>
  whole(200, { "content-type": "text/html" }, "<!doctype html><html><body><h1>Welcome to nginx!</h1></body></html>")
)

/**
 * 200 with nothing, typed as the answer that was asked for.
 *
 * @since 0.1.0
 * @category behaviours
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Upstream from "@switchgear/testing/Upstream"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function*() {
 *   const upstream = yield* Upstream.make([Upstream.empty])
 *   return yield* Effect.promise(async () => {
 *     const body = JSON.stringify({ model: "m", messages: [] })
 *     const answer = await fetch(`${upstream.baseUrl}/chat/completions`, { method: "POST", body })
 *     return [answer.status, await answer.text()]
 *   })
 * })
 * assert.deepStrictEqual(await Effect.runPromise(Effect.scoped(program)), [200, ""])
 * ```
 */
export const empty: Behaviour = behaviour("empty 200", (call) => [head(200, call.stream ? sse : json), end])

/**
 * An error body in a 200, as JSON whatever was asked for.
 *
 * @since 0.1.0
 * @category behaviours
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Upstream from "@switchgear/testing/Upstream"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function*() {
 *   const upstream = yield* Upstream.make([Upstream.errorIn200(503)])
 *   return yield* Effect.promise(async () => {
 *     const body = JSON.stringify({ model: "m", messages: [] })
 *     const answer = await fetch(`${upstream.baseUrl}/chat/completions`, { method: "POST", body })
 *     return [answer.status, "error" in (await answer.json())]
 *   })
 * })
 * assert.deepStrictEqual(await Effect.runPromise(Effect.scoped(program)), [200, true])
 * ```
 */
export const errorIn200 = (code = 500, complaint: Complaint = {}): Behaviour =>
  behaviour(`error ${code} in a 200`, (call) =>
    whole(200, headers(json, complaint), JSON.stringify(errorBody(call, code, complaint)))
  )

/**
 * A good JSON answer, though a stream was asked for.
 *
 * @since 0.1.0
 * @category behaviours
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Upstream from "@switchgear/testing/Upstream"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function*() {
 *   const upstream = yield* Upstream.make([Upstream.jsonForStream()])
 *   return yield* Effect.promise(async () => {
 *     const body = JSON.stringify({ model: "m", messages: [], stream: true })
 *     const answer = await fetch(`${upstream.baseUrl}/chat/completions`, { method: "POST", body })
 *     return answer.headers.get("content-type")
 *   })
 * })
 * assert.strictEqual(await Effect.runPromise(Effect.scoped(program)), "application/json")
 * ```
 */
export const jsonForStream = (reply: Reply = {}): Behaviour =>
  behaviour("json for a stream", (call) => whole(200, headers(json, reply), JSON.stringify(jsonOf(call, reply))))

/**
 * A good answer whose text is `size` bytes long, in parts of 32 KiB as fast as the client takes them.
 *
 * @since 0.1.0
 * @category behaviours
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Upstream from "@switchgear/testing/Upstream"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function*() {
 *   const upstream = yield* Upstream.make([Upstream.huge(1_000_000)])
 *   return yield* Effect.promise(async () => {
 *     const body = JSON.stringify({ model: "m", messages: [], stream: true })
 *     const answer = await fetch(`${upstream.baseUrl}/chat/completions`, { method: "POST", body })
 *     return (await answer.text()).length
 *   })
 * })
 * assert.ok((await Effect.runPromise(Effect.scoped(program))) > 1_000_000)
 * ```
 */
export const huge = (size: number): Behaviour =>
  behaviour("huge", function* (call) {
    const part = "x".repeat(32 * 1024)
    const frames = framesOf(call, { parts: [part] })
    const [before, after] = JSON.stringify(jsonOf(call, { parts: ["@"] })).split("@")
    yield head(200, call.stream ? sse : json)
    yield write(call.stream ? frames.opening.join("") : (before ?? ""))
    for (let sent = 0; sent < size; sent += part.length) yield write(call.stream ? (frames.output[0] ?? "") : part)
    yield write(call.stream ? frames.ending.join("") : (after ?? ""))
    yield end
  })

/**
 * Bytes as given, split as given, under a status and headers of your choice.
 *
 * @since 0.1.0
 * @category behaviours
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Upstream from "@switchgear/testing/Upstream"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function*() {
 *   const upstream = yield* Upstream.make([Upstream.raw({ status: 502, chunks: ["Bad ", "gateway"] })])
 *   return yield* Effect.promise(async () => {
 *     const body = JSON.stringify({ model: "m", messages: [] })
 *     const answer = await fetch(`${upstream.baseUrl}/chat/completions`, { method: "POST", body })
 *     return [answer.status, await answer.text()]
 *   })
 * })
 * assert.deepStrictEqual(await Effect.runPromise(Effect.scoped(program)), [502, "Bad gateway"])
 * ```
 */
export const raw = (options: {
  readonly status?: number
  /** Default: those of the form asked for. */
  readonly headers?: Readonly<Record<string, string>>
  readonly chunks: ReadonlyArray<string | Uint8Array>
  /** Default `end`. */
  readonly by?: "reset" | "close" | "end" | "hang"
}): Behaviour =>
  behaviour("raw", function* (call) {
    yield head(options.status ?? 200, options.headers ?? (call.stream ? sse : json))
    for (const chunk of options.chunks) yield write(chunk)
    const by = options.by ?? "end"
    if (by === "reset" || by === "close") yield settle
    yield by === "reset" ? reset : by === "close" ? close : by === "hang" ? hang : end
  })
