/**
 * What an HTTP answer means: success or a failure. Pure and total: whatever bytes or shapes arrive, it answers.
 *
 * @since 0.1.0
 */
import { type Failure, make } from "./Failure.js"
import { blocked, errorOf, isAnswer } from "./internal/answers.js"
import { refusal } from "./internal/decide.js"
import { lower } from "./internal/headers.js"
import { parseComposite } from "./internal/json.js"
import { events } from "./internal/sse.js"
import { decode } from "./internal/utf8.js"
import type { ProviderKind } from "./ProviderKind.js"
import * as StreamClassifier from "./StreamClassifier.js"
import { kindOfStatus } from "./Tables.js"

/**
 * An answer as it arrived, complete.
 *
 * @since 0.1.0
 * @category models
 */
export interface Answer {
  readonly provider: ProviderKind
  readonly status: number
  /** A record (values may be lists), a list of pairs or a `Headers`; names in any case. */
  readonly headers?: unknown
  /** Bytes, text, or JSON already parsed. */
  readonly body?: unknown
  /** Wall time of arrival, ms. Dates in a Retry-After are read against it. */
  readonly now: number
  /** What the caller asked for; without it the content type decides. JSON where a stream was asked is no answer. */
  readonly asked?: "json" | "stream"
  /** Masked in messages whatever they look like: our own key, which some vendors echo. */
  readonly secrets?: ReadonlyArray<string>
}

/**
 * What an answer is: a success, or the failure it stands for.
 *
 * @since 0.1.0
 * @category models
 */
export type Verdict =
  | { readonly _tag: "Success" }
  | {
      readonly _tag: "Failure"
      readonly failure: Failure
      /** For a stream: whether the failure came before the first meaningful output. */
      readonly beforeOutput?: boolean
    }

const success: Verdict = { _tag: "Success" }
const noAnswer = (message: string): Verdict => ({ _tag: "Failure", failure: make("server_error", message) })
const isHtml = (type: string, text: string): boolean =>
  type.includes("text/html") || /^\s*<(?:!doctype|html|head|body|\?xml)/i.test(text)

const title = (text: string): string => /<title>([^<]{1,200})/i.exec(text.slice(0, 8192))?.[1]?.trim() ?? ""

const refuse = (answer: Answer, body: unknown, status?: number, otherwise?: string): Verdict => ({
  _tag: "Failure",
  failure: refusal({
    provider: answer.provider,
    status,
    headers: answer.headers,
    body,
    now: answer.now,
    secrets: answer.secrets,
    ...(otherwise === undefined ? {} : { otherwise })
  })
})

/** A whole event stream as one body. */
const stream = (answer: Answer, text: string): Verdict => {
  let state = StreamClassifier.initial(answer.provider, answer.secrets)
  let seen = false
  for (const { event, data } of events(text)) {
    seen = true
    const step = StreamClassifier.step(state, event, data, answer.now)
    state = step.state
    if (step.failure !== undefined) return { _tag: "Failure", failure: step.failure, beforeOutput: !state.output }
    if (step.last) return success
  }
  if (!seen && /^(?!:|data:|event:|id:|retry:)\s*\S/.test(text)) {
    // No event at all: some proxies put a bare JSON error under the content type of a stream.
    const verdict = json({ ...answer, asked: "stream" }, text, "")
    return verdict._tag === "Success" ? verdict : { ...verdict, beforeOutput: true }
  }
  const end = StreamClassifier.end(state)
  return end._tag === "Complete" ? success : { _tag: "Failure", failure: end.failure, beforeOutput: !state.output }
}

const json = (answer: Answer, given: unknown, type: string): Verdict => {
  const text = typeof given === "string" ? given : undefined
  if (given === undefined || given === null || text?.trim() === "") return noAnswer("The answer was empty")
  if (text !== undefined && isHtml(type, text))
    return noAnswer(`The answer was a page${/\w/.test(title(text)) ? "" : " without a title"}, not JSON`)
  const body = text === undefined ? given : parseComposite(text)
  if (typeof body !== "object" || body === null) return noAnswer("The answer was not JSON")
  const error = errorOf(body)
  if (error !== undefined) return refuse(answer, error, undefined, "The answer was an error in a 200")
  if (blocked(body)) {
    return { _tag: "Failure", failure: make("content_filter", "The prompt was blocked by the vendor's filter") }
  }
  if (!isAnswer(body)) return refuse(answer, body, undefined, "The answer held no choices and no content")
  return answer.asked === "stream" ? noAnswer("The answer was JSON where a stream was asked for") : success
}

const decide = (answer: Answer): Verdict => {
  const { status } = answer
  const given = answer.body instanceof Uint8Array ? decode(answer.body) : answer.body
  if (!(status >= 200 && status < 300)) {
    const text = typeof given === "string" ? given : undefined
    const body =
      text === undefined ? given : (parseComposite(text) ?? firstEvent(text) ?? (isHtml("", text) ? title(text) : text))
    const refused = Number.isInteger(status) && status >= 400 && status < 600
    if (refused) return refuse(answer, body, status, `HTTP ${status}`)
    const kind = kindOfStatus(answer.provider, status)
    return { _tag: "Failure", failure: make(kind, `HTTP ${Number.isFinite(status) ? status : "?"}`) }
  }
  const type = lower(answer.headers)["content-type"]?.toLowerCase() ?? ""
  if (typeof given === "string" && (type.includes("text/event-stream") || (type === "" && answer.asked === "stream"))) {
    if (answer.asked === "json") return noAnswer("The answer was a stream where JSON was asked for")
    // Nothing at all is no answer; only of a stream that was asked for can one say that it was cut.
    if (given.trim() !== "" || answer.asked === "stream") return stream(answer, given)
  }
  return json(answer, given, type)
}

/** An error status may still speak in events. */
const firstEvent = (text: string): unknown => {
  if (!/^(?:data|event|:)/m.test(text)) return undefined
  for (const { data } of events(text.slice(0, 65_536))) {
    const body = parseComposite(data)
    if (body !== undefined) return body
  }
  return undefined
}

/**
 * Classifies a complete answer. A 200 that is no answer (a page, nothing, an error, JSON where a stream was asked for) is
 * never a success.
 *
 * @example
 * ```ts
 * import * as Classifier from "@switchgear/failures/Classifier"
 * import * as assert from "node:assert"
 *
 * const verdict = Classifier.classify({
 *   provider: "anthropic",
 *   status: 529,
 *   headers: { "content-type": "application/json" },
 *   body: `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`,
 *   now: 0
 * })
 * assert.deepStrictEqual(verdict, {
 *   _tag: "Failure",
 *   failure: {
 *     kind: "overloaded",
 *     scope: "provider+model",
 *     status: 529,
 *     code: "overloaded_error",
 *     message: "Overloaded"
 *   }
 * })
 * ```
 *
 * @since 0.1.0
 * @category classifying
 */
export const classify = (answer: Answer): Verdict => {
  try {
    return decide(answer)
  } catch {
    // Only a hostile object (a throwing getter, a revoked proxy) gets here; its status still says something.
    const status = typeof answer.status === "number" ? answer.status : Number.NaN
    return status >= 200 && status < 300
      ? noAnswer("The answer could not be read")
      : { _tag: "Failure", failure: make(kindOfStatus(answer.provider, status), `HTTP ${status}`) }
  }
}
