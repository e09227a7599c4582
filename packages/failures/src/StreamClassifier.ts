/**
 * Reads a stream one SSE event at a time: is this output, the end, or an error? A pure reducer for OpenAI Chat and
 * Responses, Anthropic Messages and Gemini, which it tells apart by the events themselves.
 *
 * After the first output an ordinary delta is recognised by a look at its text; whatever else might be in an event is
 * parsed. That shortcut never misses an error or an end (a property of the tests).
 *
 * @since 0.1.0
 */
import { type Failure, make } from "./Failure.js"
import { refusal } from "./internal/decide.js"
import { isOrdinaryDelta } from "./internal/fastPath.js"
import { read } from "./internal/frames.js"
import type { ProviderKind } from "./ProviderKind.js"

/**
 * What the reducer remembers. There are four states per stream kind and one per failure; they are shared, not copied.
 *
 * @since 0.1.0
 * @category models
 */
export interface State {
  readonly provider: ProviderKind
  readonly secrets: ReadonlyArray<string>
  /** Meaningful output was seen: from here on nothing moves to another target (DESIGN 4). */
  readonly output: boolean
  /** The answer is complete: its finish reason or its terminal event was seen. */
  readonly complete: boolean
  readonly failure: Failure | undefined
}

/**
 * What one event was.
 *
 * @since 0.1.0
 * @category models
 */
export interface Step {
  readonly state: State
  /** Text, reasoning, a tool call, a refusal, audio: what a client can show or act on. */
  readonly output: boolean
  /** With this event the answer is complete: a finish reason, `[DONE]`, `message_stop`, `response.completed`. */
  readonly terminal: boolean
  /** Nothing of meaning follows. A finish reason is terminal but not last: usage and `[DONE]` may follow. */
  readonly last: boolean
  /** The event was an error; `state.output` says whether output came before it. */
  readonly failure: Failure | undefined
}

/**
 * The end of a stream, judged.
 *
 * @since 0.1.0
 * @category models
 */
export type End = { readonly _tag: "Complete" } | { readonly _tag: "Failure"; readonly failure: Failure }

/** The steps out of a state that carry no failure, made once per state so that the hot path allocates nothing. */
interface Node extends State {
  readonly next: (output: boolean, terminal: boolean, last: boolean) => Step
}

const node = (provider: ProviderKind, secrets: ReadonlyArray<string>, output: boolean, complete: boolean): Node => {
  const steps: Array<Step | undefined> = []
  const self: Node = {
    provider,
    secrets,
    output,
    complete,
    failure: undefined,
    next: (isOutput, terminal, last) => {
      const index = (isOutput ? 1 : 0) + (terminal ? 2 : 0) + (last ? 4 : 0)
      const known = steps[index]
      if (known !== undefined) return known
      const moved = (isOutput && !output) || (terminal && !complete)
      const state = moved ? node(provider, secrets, output || isOutput, complete || terminal) : self
      const step: Step = { state, output: isOutput, terminal, last, failure: undefined }
      steps[index] = step
      return step
    }
  }
  return self
}

const isNode = (state: State): state is Node => "next" in state

const nodeOf = (state: State): Node =>
  isNode(state) ? state : node(state.provider, state.secrets, state.output, state.complete)

/**
 * A stream of which nothing has arrived yet. `secrets` are masked in every message, whatever they look like.
 *
 * @example
 * ```ts
 * import * as StreamClassifier from "@switchgear/failures/StreamClassifier"
 * import * as assert from "node:assert"
 *
 * let state = StreamClassifier.initial("openai")
 * const step = StreamClassifier.step(state, undefined, `{"choices":[{"index":0,"delta":{"content":"Hi"}}]}`, 0)
 * assert.ok(step.output)
 * state = step.state
 * const end = StreamClassifier.end(state)
 * assert.strictEqual(end._tag === "Failure" && end.failure.kind, "network_error") // it was cut
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const initial = (provider: ProviderKind, secrets: ReadonlyArray<string> = []): State =>
  node(provider, secrets, false, false)

const failed = (state: State, failure: Failure): Step => ({
  state: {
    provider: state.provider,
    secrets: state.secrets,
    output: state.output,
    complete: false,
    failure
  },
  output: false,
  terminal: false,
  last: true,
  failure
})

const parsed = (state: State, event: string | undefined, data: string, now: number): Step => {
  if (state.failure !== undefined) {
    return { state, output: false, terminal: false, last: true, failure: undefined }
  }
  const frame = read(event, data)
  if (frame.blocked) return failed(state, make("content_filter", "The prompt was blocked by the vendor's filter"))
  if (frame.error !== undefined) {
    return failed(
      state,
      refusal({
        provider: state.provider,
        body: frame.error,
        now,
        secrets: state.secrets,
        otherwise: "The stream ended with an error"
      })
    )
  }
  if (frame.hollow && !state.output && !state.complete) {
    return failed(state, make("server_error", "The stream ended without an answer"))
  }
  return nodeOf(state).next(frame.output, frame.terminal, frame.last)
}

/**
 * Takes one event: its name (`undefined` or `message` if it has none), its data, and the wall time in ms, which only an
 * error's Retry-After needs. Total: malformed data is an event that means nothing.
 *
 * @example
 * ```ts
 * import * as StreamClassifier from "@switchgear/failures/StreamClassifier"
 * import * as assert from "node:assert"
 *
 * const data = `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`
 * const step = StreamClassifier.step(StreamClassifier.initial("anthropic"), "error", data, 0)
 * assert.strictEqual(step.failure?.kind, "overloaded")
 * assert.strictEqual(step.state.output, false) // it may still move to another target
 * ```
 *
 * @since 0.1.0
 * @category reducers
 */
export const step = (state: State, event: string | undefined, data: string, now: number): Step =>
  state.output && state.failure === undefined && event !== "error" && isOrdinaryDelta(event, data)
    ? nodeOf(state).next(true, false, false)
    : parsed(state, event, data, now)

/**
 * As `step`, but parses every event: the shortcut's specification.
 *
 * @example
 * ```ts
 * import * as StreamClassifier from "@switchgear/failures/StreamClassifier"
 * import * as assert from "node:assert"
 *
 * const step = StreamClassifier.stepParsed(StreamClassifier.initial("openai"), undefined, "[DONE]", 0)
 * assert.strictEqual(step.failure?.kind, "server_error") // an end, and nothing before it
 * ```
 *
 * @since 0.1.0
 * @category reducers
 */
export const stepParsed = parsed

/**
 * Judges the end of the connection. A stream without its terminal event was cut: `network_error`.
 *
 * @example
 * ```ts
 * import * as StreamClassifier from "@switchgear/failures/StreamClassifier"
 * import * as assert from "node:assert"
 *
 * const data = `{"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}`
 * const { state } = StreamClassifier.step(StreamClassifier.initial("openai"), undefined, data, 0)
 * assert.deepStrictEqual(StreamClassifier.end(state), { _tag: "Complete" })
 * ```
 *
 * @since 0.1.0
 * @category reducers
 */
export const end = (state: State): End =>
  state.failure !== undefined
    ? { _tag: "Failure", failure: state.failure }
    : state.complete
      ? { _tag: "Complete" }
      : { _tag: "Failure", failure: make("network_error", "The stream ended without its terminal event") }
