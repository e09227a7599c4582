/**
 * What a thrown thing means. By its structure and without importing anything: `RequestError` and `ResponseError` of
 * `@effect/platform`, `AiError` of `@effect/ai`, Effect's causes and timeouts, Node's and undici's codes, what `fetch`
 * throws, the vendors' SDK errors, plain objects, strings.
 *
 * Messages hold neither keys nor addresses: those of system errors and of requests name the upstream, so they are told
 * in our own words.
 *
 * @since 0.1.0
 */
import * as Classifier from "./Classifier.js"
import { type Failure, isKind, make, scopes } from "./Failure.js"
import { parseComposite } from "./internal/json.js"
import { codeRow, phraseRow } from "./internal/systemRows.js"
import type { ProviderKind } from "./ProviderKind.js"
import * as Redact from "./Redact.js"

/**
 * What reading a thrown thing needs to know.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options {
  /** Wall time in ms, for dates in a Retry-After. */
  readonly now: number
  /** Whose answer an error may carry; default `openai-compatible`. */
  readonly provider?: ProviderKind
  /** Masked in messages whatever they look like. */
  readonly secrets?: ReadonlyArray<string>
}

/** `final` ends the search; a weak verdict stands only if no cause says more. */
interface Finding {
  readonly failure: Failure
  readonly final: boolean
}

const depth = 16

const read = (u: unknown, key: string): unknown => {
  if ((typeof u !== "object" && typeof u !== "function") || u === null) return undefined
  try {
    return Reflect.get(u, key)
  } catch {
    return undefined
  }
}

const text = (u: unknown, key: string): string => {
  const value = read(u, key)
  return typeof value === "string" ? value : ""
}

const status = (u: unknown): number | undefined => {
  for (const holder of [u, read(u, "response")]) {
    for (const key of ["status", "statusCode"]) {
      const value = read(holder, key)
      if (typeof value === "number" && Number.isInteger(value) && value >= 100 && value < 600) return value
    }
  }
  return undefined
}

/** The body of the answer an error carries, where the SDKs put it. */
const body = (u: unknown): unknown => {
  const response = read(u, "response")
  const candidates = [
    read(u, "responseBody"),
    read(u, "body"),
    read(response, "data"),
    read(response, "body"),
    read(u, "data"),
    read(u, "error"),
    read(u, "description")
  ]
  const found = candidates.find(
    (value) => typeof value === "string" || (typeof value === "object" && value !== null && !isStream(value))
  )
  // The SDKs hand over the inner error alone.
  if (found === read(u, "error") && found !== undefined && read(found, "error") === undefined) return { error: found }
  return found ?? text(u, "message")
}

const isStream = (u: object): boolean =>
  "getReader" in u || "pipe" in u || "runForEach" in u || Symbol.asyncIterator in u

const answered = (u: unknown, code: number, options: Options): Failure => {
  const verdict = Classifier.classify({
    provider: options.provider ?? "openai-compatible",
    status: code,
    headers: read(u, "responseHeaders") ?? read(u, "headers") ?? read(read(u, "response"), "headers"),
    body: body(u),
    now: options.now,
    secrets: options.secrets ?? []
  })
  return verdict._tag === "Failure" ? verdict.failure : make("server_error", "The answer could not be read")
}

/** JSON somewhere in a text, as in "Unexpected ... actual {"error":{...}}". */
const quoted = (words: string): unknown => {
  const start = words.indexOf("{")
  const end = words.lastIndexOf("}")
  return start === -1 || end < start || end - start > 65_536 ? undefined : parseComposite(words.slice(start, end + 1))
}

const errorBody = (value: unknown, options: Options): Finding | undefined => {
  if (typeof value !== "object" || value === null) return undefined
  // An error inside is followed as a cause; only what came as JSON is read as a body.
  const inner = read(value, "error")
  if (inner instanceof Error || text(inner, "_tag") !== "" || text(value, "_tag") !== "") return undefined
  const verdict = Classifier.classify({
    provider: options.provider ?? "openai-compatible",
    status: 200,
    body: value,
    now: options.now,
    secrets: options.secrets ?? []
  })
  return verdict._tag === "Failure" && (read(value, "error") !== undefined || verdict.failure.kind !== "server_error")
    ? { failure: verdict.failure, final: true }
    : undefined
}

/** An output that could not be decoded may be an error's body: the decoder's issue holds what was there. */
const malformed = (u: unknown, options: Options): Finding => {
  for (const holder of [u, read(u, "cause")]) {
    const issue = read(holder, "issue")
    const words = `${text(holder, "description")} ${text(holder, "message")}`
    const found =
      errorBody(read(issue, "actual") ?? read(read(issue, "issue"), "actual"), options) ??
      errorBody(quoted(words), options)
    if (found !== undefined) return found
    const kind = phraseRow(words, true)
    if (kind !== undefined) return { failure: make(kind, Redact.local(words, options.secrets)), final: true }
  }
  return { failure: make("server_error", "The answer could not be decoded"), final: false }
}

const refusedLocally = (u: unknown): Failure => {
  const after = read(u, "retryAfter")
  const millis =
    typeof after === "number" ? after : Number(read(after, "millis") ?? read(read(after, "value"), "millis"))
  return make("circuit_open", "The circuit is open", {
    retryAfter: Number.isFinite(millis) ? Math.ceil(millis) : undefined
  })
}

/** Something that already says its kind: a `Failure` of ours, or an error with one. */
const known = (u: unknown, options: Options): Failure | undefined => {
  const holder = isKind(read(u, "kind")) ? u : read(u, "failure")
  const kind = read(holder, "kind")
  if (!isKind(kind)) return undefined
  const scope = read(holder, "scope")
  const after = read(holder, "retryAfter")
  const code = text(holder, "code")
  return make(kind, Redact.local(text(holder, "message") || kind, options.secrets), {
    scope: Object.values(scopes)
      .concat(["project", "model"])
      .find((one) => one === scope),
    status: status(holder),
    retryAfter: typeof after === "number" ? Math.ceil(after) : undefined,
    code: code === "" ? undefined : Redact.code(code, options.secrets)
  })
}

const byTag = (u: unknown, options: Options): Finding | undefined => {
  const tag = text(u, "_tag") || text(u, "name")
  const reason = text(u, "reason")
  if (tag === "MalformedOutput" || tag === "ParseError") return malformed(u, options)
  if (tag === "MalformedInput")
    return { failure: make("client_fault", "The request could not be encoded"), final: true }
  if (tag === "RequestError" || tag === "HttpRequestError") {
    return reason === "Encode" || reason === "InvalidUrl"
      ? {
          failure: make(
            "client_fault",
            reason === "Encode" ? "The request could not be encoded" : "The URL is invalid"
          ),
          final: true
        }
      : { failure: make("network_error", "The request did not reach the provider"), final: false }
  }
  if (/timeout/i.test(tag)) return { failure: make("timeout", "Timed out"), final: true }
  if (tag === "AbortError" || tag === "APIUserAbortError" || tag === "InterruptedException" || tag === "Interrupt") {
    return { failure: make("cancelled", "Cancelled by the caller"), final: false }
  }
  return undefined
}

const examine = (u: unknown, options: Options): Finding | undefined => {
  if (typeof u === "string") {
    const kind = phraseRow(u, false)
    const found = kind === undefined ? errorBody(quoted(u), options) : undefined
    return (
      found ?? {
        failure: make(kind ?? "unknown", Redact.local(u, options.secrets) || "Unknown error"),
        final: kind !== undefined
      }
    )
  }
  const tag = text(u, "_tag") || text(u, "name")
  if (tag === "CircuitOpen" || tag === "CircuitOpenError") return { failure: refusedLocally(u), final: true }
  const own = known(u, options)
  if (own !== undefined) return { failure: own, final: true }
  const code = status(u)
  if (code !== undefined && (code < 200 || code > 299)) return { failure: answered(u, code, options), final: true }
  const tagged = byTag(u, options)
  if (tagged?.final === true) return tagged
  const system = codeRow(text(u, "code"))
  if (system !== undefined)
    return { failure: make(system, text(u, "code"), { code: text(u, "code") }), final: system !== "cancelled" }
  if (tagged !== undefined) return tagged
  if (code !== undefined) return { failure: make("server_error", "The answer could not be read"), final: false }
  const body = errorBody(u, options)
  if (body !== undefined) return body
  const words = text(u, "message") || text(u, "description")
  const kind = phraseRow(words, false)
  if (kind !== undefined) return { failure: make(kind, Redact.local(words, options.secrets)), final: false }
  return words === "" ? undefined : { failure: make("unknown", Redact.local(words, options.secrets)), final: false }
}

/** What may have caused it, outermost first: causes, Effect's causes, the errors of an aggregate. */
const within = (u: unknown): ReadonlyArray<unknown> => {
  const errors = read(u, "errors")
  return [
    ...["cause", "error", "defect", "left", "right", "reason"].map((key) => read(u, key)),
    ...(Array.isArray(errors) ? errors.slice(0, 8) : [])
  ].filter((inner) => (typeof inner === "object" && inner !== null) || typeof inner === "function")
}

/**
 * Classifies anything thrown. Our own refusals (`CircuitOpen`) are `circuit_open` and nothing in them is looked at; what
 * already has a `kind` keeps it. Total, also for hostile objects and for causes that go round in circles.
 *
 * @example
 * ```ts
 * import * as Thrown from "@switchgear/failures/Thrown"
 * import * as assert from "node:assert"
 *
 * const cause = Object.assign(new Error("connect ECONNREFUSED 10.0.0.5:8000"), { code: "ECONNREFUSED" })
 * const failure = Thrown.classify(new TypeError("fetch failed", { cause }), { now: 0 })
 * assert.deepStrictEqual(failure, { kind: "network_error", scope: "host", code: "ECONNREFUSED", message: "ECONNREFUSED" })
 * ```
 *
 * @since 0.1.0
 * @category classifying
 */
export const classify = (error: unknown, options: Options): Failure => {
  try {
    const queue: Array<unknown> = [error]
    const seen = new Set<unknown>()
    let weak: Failure | undefined
    for (let looked = 0; looked < depth && queue.length > 0; looked++) {
      const next = queue.shift()
      if (seen.has(next)) continue
      seen.add(next)
      const found = examine(next, options)
      if (found?.final === true) return found.failure
      if (found !== undefined && (weak === undefined || weak.kind === "unknown")) weak = found.failure
      queue.push(...within(next))
    }
    return weak ?? make("unknown", "Unknown error")
  } catch {
    return make("unknown", "Unknown error")
  }
}
