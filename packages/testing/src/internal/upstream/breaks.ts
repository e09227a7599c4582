import { errorIn200, ok } from "./answers.js"
import { framesOf, pingOf } from "./dialect.js"
import { errorFrame } from "./errors.js"
import type { Behaviour, Complaint, Reply } from "./model.js"
import { beginning, behaviour, close, end, hang, head, json, reset, settle, sse, wait, write } from "./steps.js"

/**
 * The request is read, and no answer ever comes.
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
 *   const upstream = yield* Upstream.make([Upstream.hangBeforeHeaders])
 *   return yield* Effect.promise(async () => {
 *     const body = JSON.stringify({ model: "m", messages: [] })
 *     const signal = AbortSignal.timeout(100)
 *     const answer = fetch(`${upstream.baseUrl}/chat/completions`, { method: "POST", body, signal })
 *     return answer.then(() => "answered", () => "no answer")
 *   })
 * })
 * assert.strictEqual(await Effect.runPromise(Effect.scoped(program)), "no answer")
 * ```
 */
export const hangBeforeHeaders: Behaviour = behaviour("hang before headers", () => [hang])

/**
 * The headers of a good answer, then silence.
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
 *   const upstream = yield* Upstream.make([Upstream.hangAfterHeaders])
 *   return yield* Effect.promise(async () => {
 *     const body = JSON.stringify({ model: "m", messages: [], stream: true })
 *     const signal = AbortSignal.timeout(100)
 *     const answer = await fetch(`${upstream.baseUrl}/chat/completions`, { method: "POST", body, signal })
 *     return answer.text().then(() => "whole", () => "silent")
 *   })
 * })
 * assert.strictEqual(await Effect.runPromise(Effect.scoped(program)), "silent")
 * ```
 */
export const hangAfterHeaders: Behaviour = behaviour("hang after headers", (call) => [
  head(200, call.stream ? sse : json),
  hang
])

/**
 * A stream that opens, then only pings, every `every` ms, for ever. As JSON: white space instead of pings.
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
 *   const upstream = yield* Upstream.make([Upstream.pingsOnly(10)])
 *   return yield* Effect.promise(async () => {
 *     const body = JSON.stringify({ model: "m", messages: [], stream: true })
 *     const signal = AbortSignal.timeout(100)
 *     const answer = await fetch(`${upstream.baseUrl}/chat/completions`, { method: "POST", body, signal })
 *     return answer.text().then(() => "whole", () => "silent")
 *   })
 * })
 * assert.strictEqual(await Effect.runPromise(Effect.scoped(program)), "silent")
 * ```
 */
export const pingsOnly = (every: number): Behaviour =>
  behaviour("hang after role with pings", function* (call) {
    yield head(200, call.stream ? sse : json)
    if (call.stream) yield write(framesOf(call, {}).opening.join(""))
    while (true) {
      yield wait(every)
      yield write(call.stream ? pingOf(call) : " ")
    }
  })

/**
 * `after` parts of output, then silence, or with `pings` a ping every so many ms.
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
 *   const upstream = yield* Upstream.make([Upstream.hangAfterOutput(1)])
 *   return yield* Effect.promise(async () => {
 *     const body = JSON.stringify({ model: "m", messages: [], stream: true })
 *     const signal = AbortSignal.timeout(100)
 *     const answer = await fetch(`${upstream.baseUrl}/chat/completions`, { method: "POST", body, signal })
 *     return answer.text().then(() => "whole", () => "silent")
 *   })
 * })
 * assert.strictEqual(await Effect.runPromise(Effect.scoped(program)), "silent")
 * ```
 */
export const hangAfterOutput = (after = 1, options: { readonly pings?: number } = {}): Behaviour =>
  behaviour("hang after output", function* (call) {
    yield* beginning(call, after)
    if (options.pings === undefined) return yield hang
    while (true) {
      yield wait(options.pings)
      yield write(call.stream ? pingOf(call) : " ")
    }
  })

/**
 * The connection is reset before any header.
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
 *   const upstream = yield* Upstream.make([Upstream.resetBeforeHeaders])
 *   return yield* Effect.promise(async () => {
 *     const body = JSON.stringify({ model: "m", messages: [] })
 *     const answer = fetch(`${upstream.baseUrl}/chat/completions`, { method: "POST", body })
 *     return answer.then(() => "answered", () => "no answer")
 *   })
 * })
 * assert.strictEqual(await Effect.runPromise(Effect.scoped(program)), "no answer")
 * ```
 */
export const resetBeforeHeaders: Behaviour = behaviour("reset before headers", () => [reset])

/**
 * The connection is reset after the headers.
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
 *   const upstream = yield* Upstream.make([Upstream.resetAfterHeaders])
 *   return yield* Effect.promise(async () => {
 *     const body = JSON.stringify({ model: "m", messages: [], stream: true })
 *     const answer = await fetch(`${upstream.baseUrl}/chat/completions`, { method: "POST", body })
 *     return answer.text().then(() => "whole", () => "broken off")
 *   })
 * })
 * assert.strictEqual(await Effect.runPromise(Effect.scoped(program)), "broken off")
 * ```
 */
export const resetAfterHeaders: Behaviour = behaviour("reset after headers", (call) => [
  head(200, call.stream ? sse : json),
  settle,
  reset
])

/**
 * Output, then the end without the terminal event: `reset`, `close` (FIN, mid-body) or `end` (an orderly end of the
 * body, the hardest to tell). JSON bodies break off in the middle.
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
 *   const upstream = yield* Upstream.make([Upstream.cut(1, "reset")])
 *   return yield* Effect.promise(async () => {
 *     const body = JSON.stringify({ model: "m", messages: [], stream: true })
 *     const answer = await fetch(`${upstream.baseUrl}/chat/completions`, { method: "POST", body })
 *     return answer.text().then(() => "whole", () => "broken off")
 *   })
 * })
 * assert.strictEqual(await Effect.runPromise(Effect.scoped(program)), "broken off")
 * ```
 */
export const cut = (after = 1, by: "reset" | "close" | "end" = "close", reply: Reply = {}): Behaviour =>
  behaviour(`cut by ${by}`, (call) => [
    ...beginning(call, after, reply),
    settle,
    by === "reset" ? reset : by === "close" ? close : end
  ])

/**
 * A 200 stream that says it failed, after `after` parts of output. As JSON: the error body in the 200.
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
 *   const upstream = yield* Upstream.make([Upstream.failAfter(1, 529)])
 *   return yield* Effect.promise(async () => {
 *     const body = JSON.stringify({ model: "m", messages: [], stream: true })
 *     const answer = await fetch(`${upstream.baseUrl}/chat/completions`, { method: "POST", body })
 *     return [answer.status, (await answer.text()).includes("error")]
 *   })
 * })
 * assert.deepStrictEqual(await Effect.runPromise(Effect.scoped(program)), [200, true])
 * ```
 */
export const failAfter = (after: number, code = 529, complaint: Complaint = {}): Behaviour =>
  behaviour(`error frame after ${after}`, (call) =>
    call.stream
      ? [...beginning(call, after), write(errorFrame(call, code, complaint)), end]
      : errorIn200(code, complaint).steps(call)
  )

/**
 * Waits before the headers, then behaves.
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
 *   const upstream = yield* Upstream.make([Upstream.slowHeaders(10, Upstream.status(503))])
 *   return yield* Effect.promise(async () => {
 *     const body = JSON.stringify({ model: "m", messages: [] })
 *     const answer = await fetch(`${upstream.baseUrl}/chat/completions`, { method: "POST", body })
 *     return answer.status
 *   })
 * })
 * assert.strictEqual(await Effect.runPromise(Effect.scoped(program)), 503)
 * ```
 */
export const slowHeaders = (millis: number, then: Behaviour = ok()): Behaviour =>
  behaviour(`slow ${then.name}`, function* (call) {
    yield wait(millis)
    yield* then.steps(call)
  })
