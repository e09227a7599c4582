import { framesOf, jsonOf, pingOf } from "./dialect.js"
import { errorBody, errorFrame } from "./errors.js"
import type { Behaviour, Call, Complaint, Reply, Step } from "./model.js"

const json = { "content-type": "application/json" }
const sse = { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache" }

const head = (status: number, headers: Readonly<Record<string, string>>): Step => ({ _tag: "Head", status, headers })
const write = (chunk: string | Uint8Array): Step => ({ _tag: "Write", chunk })
const wait = (millis: number): Step => ({ _tag: "Wait", millis })
const hang: Step = { _tag: "Hang" }
const end: Step = { _tag: "End" }
const close: Step = { _tag: "Close" }
const reset: Step = { _tag: "Reset" }

/** Lets what was written reach the client before the connection goes. */
const settle = wait(20)

const behaviour = (name: string, steps: (call: Call) => Iterable<Step>): Behaviour => ({ name, steps })

const whole = (status: number, headers: Readonly<Record<string, string>>, body: string): ReadonlyArray<Step> => [
  head(status, { ...headers, "content-length": `${Buffer.byteLength(body)}` }),
  write(body),
  end
]

const headers = (base: Readonly<Record<string, string>>, reply: Reply | Complaint): Readonly<Record<string, string>> =>
  reply.headers === undefined ? base : { ...base, ...reply.headers }

/**
 * A good answer in the dialect and the form (JSON or SSE) that was asked for.
 *
 * @since 0.1.0
 * @category behaviours
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
 */
export const html: Behaviour = behaviour("html 200", () =>
  whole(200, { "content-type": "text/html" }, "<!doctype html><html><body><h1>Welcome to nginx!</h1></body></html>")
)

/**
 * 200 with nothing, typed as the answer that was asked for.
 *
 * @since 0.1.0
 * @category behaviours
 */
export const empty: Behaviour = behaviour("empty 200", (call) => [head(200, call.stream ? sse : json), end])

/**
 * An error body in a 200, as JSON whatever was asked for.
 *
 * @since 0.1.0
 * @category behaviours
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
 */
export const jsonForStream = (reply: Reply = {}): Behaviour =>
  behaviour("json for a stream", (call) => whole(200, headers(json, reply), JSON.stringify(jsonOf(call, reply))))

/**
 * The request is read, and no answer ever comes.
 *
 * @since 0.1.0
 * @category behaviours
 */
export const hangBeforeHeaders: Behaviour = behaviour("hang before headers", () => [hang])

/**
 * The headers of a good answer, then silence.
 *
 * @since 0.1.0
 * @category behaviours
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
 */
export const resetBeforeHeaders: Behaviour = behaviour("reset before headers", () => [reset])

/**
 * The connection is reset after the headers.
 *
 * @since 0.1.0
 * @category behaviours
 */
export const resetAfterHeaders: Behaviour = behaviour("reset after headers", (call) => [
  head(200, call.stream ? sse : json),
  settle,
  reset
])

const beginning = (call: Call, after: number, reply: Reply = {}): ReadonlyArray<Step> => {
  if (!call.stream) return [head(200, json), write(JSON.stringify(jsonOf(call, reply)).slice(0, 40))]
  const frames = framesOf(call, reply)
  return [head(200, sse), write([...frames.opening, ...frames.output.slice(0, after)].join(""))]
}

/**
 * Output, then the end without the terminal event: `reset`, `close` (FIN, mid-body) or `end` (an orderly end of the
 * body, the hardest to tell). JSON bodies break off in the middle.
 *
 * @since 0.1.0
 * @category behaviours
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
 */
export const slowHeaders = (millis: number, then: Behaviour = ok()): Behaviour =>
  behaviour(`slow ${then.name}`, function* (call) {
    yield wait(millis)
    yield* then.steps(call)
  })

/**
 * A good answer whose text is `size` bytes long, in parts of 32 KiB as fast as the client takes them.
 *
 * @since 0.1.0
 * @category behaviours
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
