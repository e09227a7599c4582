/**
 * Runs recorded answers through the classifier: what arrived, and what it means.
 *
 * @since 0.1.0
 */
import * as Classifier from "./Classifier.js"
import { isKind, type Kind, type Scope } from "./Failure.js"
import { get, isObject } from "./internal/json.js"
import { events } from "./internal/sse.js"
import { rfc3339 } from "./internal/time.js"
import * as ProviderKind from "./ProviderKind.js"

/**
 * One recorded answer. `stream` holds the frames of an event stream in order, after which the connection closed.
 *
 * @since 0.1.0
 * @category models
 */
export interface Case {
  readonly id: string
  readonly provider: ProviderKind.ProviderKind
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly stream?: ReadonlyArray<string>
  /** Wall time of arrival, ms. NaN if the case does not say: then dates cannot be read. */
  readonly at: number
  readonly asked?: "json" | "stream"
  readonly expect?: Expected
}

/**
 * What a case says its answer means. `retryAfter` is null for none and absent if not stated.
 *
 * @since 0.1.0
 * @category models
 */
export interface Expected {
  readonly kind?: Kind | "success"
  readonly scope?: Scope | string
  readonly retryAfter?: number | null
  readonly beforeOutput?: boolean
}

/**
 * What the classifier made of a case. `scope` is `none` for a success; `beforeOutput` is there for streams that failed.
 *
 * @since 0.1.0
 * @category models
 */
export interface Result {
  readonly id: string
  readonly kind: Kind | "success"
  readonly scope: Scope
  readonly retryAfter: number | null
  readonly beforeOutput?: boolean
}

/**
 * What is wrong with a case's shape, and where (keys joined by dots).
 *
 * @since 0.1.0
 * @category models
 */
export interface Fault {
  readonly path: string
  readonly message: string
}

/**
 * What a decoder made of an input: the value, or every fault with its path and how to mend it.
 *
 * @since 0.1.0
 * @category models
 */
export type Decoded<A> =
  | { readonly _tag: "Success"; readonly value: A }
  | { readonly _tag: "Failure"; readonly faults: ReadonlyArray<Fault> }

const expected = (input: unknown, fault: (path: string, message: string) => void): Expected | undefined => {
  if (input === undefined) return undefined
  if (!isObject(input)) {
    fault("expect", "must be an object")
    return undefined
  }
  const kind = get(input, "kind")
  const scope = get(input, "scope")
  const retryAfter = get(input, "retryAfter")
  const beforeOutput = get(input, "beforeOutput")
  if (kind !== undefined && kind !== "success" && !isKind(kind)) fault("expect.kind", 'must be a kind or "success"')
  if (scope !== undefined && typeof scope !== "string") fault("expect.scope", "must be a string")
  if (retryAfter !== undefined && retryAfter !== null && typeof retryAfter !== "number") {
    fault("expect.retryAfter", "must be a number of ms, or null for none")
  }
  if (beforeOutput !== undefined && typeof beforeOutput !== "boolean") fault("expect.beforeOutput", "must be a boolean")
  return {
    ...(kind === "success" || isKind(kind) ? { kind } : {}),
    ...(typeof scope === "string" ? { scope } : {}),
    ...(typeof retryAfter === "number" || retryAfter === null ? { retryAfter } : {}),
    ...(typeof beforeOutput === "boolean" ? { beforeOutput } : {})
  }
}

/**
 * Reads one case, naming every fault by its path under `at` (`[3]` for the fourth of a list).
 *
 * @example
 * ```ts
 * import * as Cases from "@switchgear/failures/Cases"
 * import * as assert from "node:assert"
 *
 * const decoded = Cases.decode({ id: "x", provider: "nobody", response: { status: "429" } })
 * assert.ok(decoded._tag === "Failure")
 * assert.deepStrictEqual(decoded.faults.map((fault) => fault.path), ["provider", "response.status"])
 * ```
 *
 * @since 0.1.0
 * @category decoding
 */
export const decode = (input: unknown, at = ""): Decoded<Case> => {
  const faults: Array<Fault> = []
  const fault = (path: string, message: string) => {
    faults.push({ path: at === "" ? path : path === "" ? at : `${at}.${path}`, message })
  }
  if (!isObject(input)) {
    fault("", "must be an object")
    return { _tag: "Failure", faults }
  }
  const id = get(input, "id")
  if (typeof id !== "string" || id === "") fault("id", "must be a name")
  const name = get(input, "provider")
  const provider = typeof name === "string" ? ProviderKind.fromName(name) : undefined
  if (provider === undefined) fault("provider", `must be one of ${ProviderKind.all.join(", ")}`)
  const response = get(input, "response")
  if (!isObject(response)) fault("response", "must be an object")
  const status = get(response, "status")
  if (isObject(response) && !(typeof status === "number" && Number.isInteger(status)))
    fault("response.status", "must be a whole number")
  const headers: Record<string, string> = Object.create(null)
  const given = get(response, "headers")
  if (given !== undefined && !isObject(given)) fault("response.headers", "must be an object")
  else if (given !== undefined) {
    for (const key of Object.keys(given)) {
      const value = given[key]
      if (typeof value === "string") headers[key] = value
      else fault(`response.headers.${key}`, "must be a string")
    }
  }
  const stream = get(response, "stream")
  const frames = Array.isArray(stream) ? stream.filter((frame) => typeof frame === "string") : undefined
  if (stream !== undefined && frames?.length !== (Array.isArray(stream) ? stream.length : -1)) {
    fault("response.stream", "must be a list of frames as text")
  }
  const body = get(response, "body")
  if (stream !== undefined && body !== undefined) fault("response.body", "must not stand beside a stream")
  const time = get(input, "at")
  const arrived = time === undefined ? Number.NaN : typeof time === "string" ? rfc3339(time) : undefined
  if (arrived === undefined) fault("at", "must be a time as in 2026-08-15T12:00:00Z")
  const asked = get(get(input, "request"), "stream")
  const expect = expected(get(input, "expect"), fault)
  if (
    faults.length > 0 ||
    typeof id !== "string" ||
    provider === undefined ||
    typeof status !== "number" ||
    arrived === undefined
  ) {
    return { _tag: "Failure", faults }
  }
  return {
    _tag: "Success",
    value: {
      id,
      provider,
      status,
      headers,
      at: arrived,
      ...(body === undefined ? {} : { body }),
      ...(frames === undefined ? {} : { stream: frames }),
      ...(typeof asked === "boolean" ? { asked: asked ? "stream" : "json" } : {}),
      ...(expect === undefined ? {} : { expect })
    }
  }
}

/**
 * Reads a list of cases, all faults at once.
 *
 * @example
 * ```ts
 * import * as Cases from "@switchgear/failures/Cases"
 * import * as assert from "node:assert"
 *
 * assert.deepStrictEqual(Cases.decodeAll([]), { _tag: "Success", value: [] })
 * ```
 *
 * @since 0.1.0
 * @category decoding
 */
export const decodeAll = (input: unknown): Decoded<ReadonlyArray<Case>> => {
  if (!Array.isArray(input)) return { _tag: "Failure", faults: [{ path: "", message: "must be a list of cases" }] }
  const values: Array<Case> = []
  const faults: Array<Fault> = []
  input.forEach((item, index) => {
    const decoded = decode(item, `[${index}]`)
    if (decoded._tag === "Success") values.push(decoded.value)
    else faults.push(...decoded.faults)
  })
  return faults.length > 0 ? { _tag: "Failure", faults } : { _tag: "Success", value: values }
}

const verdictOf = (one: Case): Classifier.Verdict => {
  const base = {
    provider: one.provider,
    status: one.status,
    now: one.at,
    ...(one.asked === undefined ? {} : { asked: one.asked })
  }
  if (one.stream === undefined) return Classifier.classify({ ...base, headers: one.headers, body: one.body })
  const text = one.stream.join("\n\n")
  const type = Object.keys(one.headers).find((name) => name.toLowerCase() === "content-type")
  const isStream = (type === undefined ? "" : (one.headers[type] ?? "")).includes("text/event-stream")
  // Frames are a stream if anyone says so: the type, or the frames themselves.
  const headers =
    isStream || events(text).length === 0
      ? one.headers
      : { ...one.headers, [type ?? "content-type"]: "text/event-stream" }
  const verdict = Classifier.classify({ ...base, headers, body: text, asked: "stream" })
  return verdict._tag === "Failure" && verdict.beforeOutput === undefined ? { ...verdict, beforeOutput: true } : verdict
}

/**
 * Classifies a case.
 *
 * @example
 * ```ts
 * import * as Cases from "@switchgear/failures/Cases"
 * import * as assert from "node:assert"
 *
 * const decoded = Cases.decode({
 *   id: "slow-down",
 *   provider: "openai",
 *   response: { status: 429, headers: { "retry-after": "2" }, body: "Too Many Requests" },
 *   at: "2026-08-15T12:00:00Z"
 * })
 * assert.ok(decoded._tag === "Success")
 * assert.deepStrictEqual(Cases.run(decoded.value), {
 *   id: "slow-down",
 *   kind: "rate_limit",
 *   scope: "key+model",
 *   retryAfter: 2000
 * })
 * ```
 *
 * @since 0.1.0
 * @category running
 */
export const run = (one: Case): Result => {
  const verdict = verdictOf(one)
  if (verdict._tag === "Success") return { id: one.id, kind: "success", scope: "none", retryAfter: null }
  const { failure, beforeOutput } = verdict
  return {
    id: one.id,
    kind: failure.kind,
    scope: failure.scope,
    retryAfter: failure.retryAfter ?? null,
    ...(beforeOutput === undefined ? {} : { beforeOutput })
  }
}

/**
 * Where a result differs from what its case expects: the names of the fields. What a case does not state is not compared.
 *
 * @example
 * ```ts
 * import * as Cases from "@switchgear/failures/Cases"
 * import * as assert from "node:assert"
 *
 * const result: Cases.Result = { id: "x", kind: "timeout", scope: "provider", retryAfter: null }
 * assert.deepStrictEqual(Cases.mismatches({ kind: "auth", retryAfter: null }, result), ["kind"])
 * ```
 *
 * @since 0.1.0
 * @category running
 */
export const mismatches = (expect: Expected | undefined, result: Result): ReadonlyArray<keyof Expected> =>
  (["kind", "scope", "retryAfter", "beforeOutput"] as const).filter(
    (key) => expect !== undefined && expect[key] !== undefined && expect[key] !== result[key]
  )
