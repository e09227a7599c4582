/**
 * A scriptable LLM upstream over real sockets. It speaks Chat Completions, Responses, Embeddings and Messages, as JSON
 * and as SSE, fails in every way one has seen a vendor fail, and remembers what it saw.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { Call, Script } from "./internal/upstream/model.js"
import { Recorder } from "./internal/upstream/server.js"

export {
  contextLength,
  drip,
  empty,
  errorIn200,
  html,
  huge,
  jsonForStream,
  ok,
  raw,
  status
} from "./internal/upstream/answers.js"
export {
  cut,
  failAfter,
  hangAfterHeaders,
  hangAfterOutput,
  hangBeforeHeaders,
  pingsOnly,
  resetAfterHeaders,
  resetBeforeHeaders,
  slowHeaders
} from "./internal/upstream/breaks.js"
export type { Behaviour, Call, Complaint, Ending, Endpoint, Reply, Script, Step } from "./internal/upstream/model.js"

/**
 * A running upstream. Its port is free to the world of this machine only.
 *
 * @since 0.1.0
 * @category models
 */
export interface Upstream {
  /** `http://127.0.0.1:PORT`, no path. */
  readonly url: string
  /** `url` with `/v1`, as an OpenAI-compatible client wants it. */
  readonly baseUrl: string
  readonly port: number
  /** How many calls have arrived under this script. */
  readonly count: Effect.Effect<number>
  /** The latest calls, oldest first. */
  readonly calls: Effect.Effect<ReadonlyArray<Call>>
  /** Waits for the call with this index to arrive. */
  readonly call: (index: number) => Effect.Effect<Call>
  /** Calls that are not over yet. */
  readonly open: Effect.Effect<number>
  /** The most that were open at one time under this script. */
  readonly mostOpen: Effect.Effect<number>
  /** Waits until no call is open. */
  readonly quiet: Effect.Effect<void>
  /** How many calls the client left before they were answered in full. */
  readonly left: Effect.Effect<number>
  /** Starts a new script and forgets the calls of the old one. Calls in flight go on as they began. */
  readonly setScript: (script: Script) => Effect.Effect<void>
}

const until = <A>(recorder: Recorder, look: () => A | undefined): Effect.Effect<A> =>
  Effect.async<A>((resume) => {
    const stop = recorder.watch(() => {
      const found = look()
      if (found === undefined) return false
      resume(Effect.succeed(found))
      return true
    })
    return Effect.sync(stop)
  })

/**
 * Starts an upstream that lives as long as its scope. Its pauses are real time, whatever clock the test runs under.
 *
 * `keep` is how many calls are remembered (default 10 000).
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Upstream from "@switchgear/testing/Upstream"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function*() {
 *   const upstream = yield* Upstream.make([Upstream.status(503), Upstream.ok()])
 *   const ask = Effect.promise(() =>
 *     fetch(`${upstream.baseUrl}/chat/completions`, { method: "POST", body: `{"model":"m","messages":[]}` }))
 *   assert.strictEqual((yield* ask).status, 503)
 *   assert.strictEqual((yield* ask).status, 200)
 *   assert.strictEqual((yield* upstream.call(1)).model, "m")
 * })
 *
 * await Effect.runPromise(Effect.scoped(program))
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  script: Script,
  options: { readonly keep?: number; readonly port?: number } = {}
): Effect.Effect<Upstream, never, Scope.Scope> =>
  Effect.gen(function* () {
    const recorder = yield* Effect.acquireRelease(
      Effect.async<Recorder>((resume) => {
        const recorder = new Recorder(script, options.keep ?? 10_000)
        recorder.server.once("error", (error) => resume(Effect.die(error)))
        recorder.server.listen(options.port ?? 0, "127.0.0.1", () => resume(Effect.succeed(recorder)))
      }),
      (recorder) =>
        Effect.async<void>((resume) => {
          recorder.server.close(() => resume(Effect.void))
          recorder.server.closeAllConnections()
        })
    )
    const address = recorder.server.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    const url = `http://127.0.0.1:${port}`
    return {
      url,
      baseUrl: `${url}/v1`,
      port,
      count: Effect.sync(() => recorder.count),
      calls: Effect.sync(() => [...recorder.calls]),
      call: (index) => until(recorder, () => recorder.calls.find((call) => call.index === index)),
      open: Effect.sync(() => recorder.open),
      mostOpen: Effect.sync(() => recorder.mostOpen),
      quiet: until(recorder, () => (recorder.open === 0 ? true : undefined)).pipe(Effect.asVoid),
      left: Effect.sync(() => recorder.left),
      setScript: (script) => Effect.sync(() => recorder.setScript(script))
    }
  })
