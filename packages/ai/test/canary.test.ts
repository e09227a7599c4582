import { inspect } from "node:util"
import * as AiError from "@effect/ai/AiError"
import * as LanguageModel from "@effect/ai/LanguageModel"
import * as HttpClientError from "@effect/platform/HttpClientError"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import { assert, describe, it } from "@effect/vitest"
import * as FallbackLanguageModel from "@switchgear/ai/FallbackLanguageModel"
import * as GuardedLanguageModel from "@switchgear/ai/GuardedLanguageModel"
import * as ModelFailure from "@switchgear/ai/ModelFailure"
import * as Redaction from "@switchgear/ai/Redaction"
import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
import * as CircuitBreakerRegistry from "@switchgear/breaker/CircuitBreakerRegistry"
import { CircuitOpen } from "@switchgear/breaker/CircuitOpen"
import * as Policy from "@switchgear/core/Policy"
import * as Thrown from "@switchgear/failures/Thrown"
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as FastCheck from "effect/FastCheck"
import * as Inspectable from "effect/Inspectable"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import * as Tracer from "effect/Tracer"
import * as vendors from "./internal/vendors.js"

/** Everything there is to see of a value, whoever prints it. */
const shown = (u: unknown): string =>
  [
    inspect(u, { depth: 12, showHidden: true }),
    attempt(() => JSON.stringify(u)),
    Inspectable.format(u),
    String(u),
    u instanceof Error ? `${u.message} ${u.stack} ${shown(u.cause)}` : "",
    Cause.isCause(u)
      ? `${Cause.pretty(u, { renderErrorCause: true })} ${Cause.prettyErrors(u).map((one) => `${one.stack} ${inspect(one, { depth: 20 })}`)} ${shown(Cause.squash(u))}`
      : ""
  ].join("\n")

const attempt = (f: () => unknown): string => {
  try {
    return String(f())
  } catch {
    return ""
  }
}

/** A log file, and a trace, of all that can be written. */
const recorder = () => {
  const lines: Array<string> = []
  const raw = Logger.make((log) => {
    lines.push(shown(log.message), shown(log.cause))
  })
  const printed = [Logger.logfmtLogger, Logger.jsonLogger, Logger.stringLogger].map((logger) =>
    Logger.map(logger, (line) => {
      lines.push(line)
    })
  )
  const note = (...values: ReadonlyArray<unknown>) => {
    for (const value of values) lines.push(shown(value))
  }
  const tracer = Tracer.make({
    span: (name, parent, context, links, startTime, kind, options) => {
      note(name, options?.attributes)
      const attributes = new Map<string, unknown>()
      return {
        _tag: "Span",
        name,
        spanId: "1",
        traceId: "1",
        parent,
        context,
        status: { _tag: "Started", startTime },
        attributes,
        links,
        sampled: true,
        kind,
        end: (_: bigint, exit: Exit.Exit<unknown, unknown>) =>
          note(exit, exit._tag === "Failure" ? exit.cause : undefined),
        attribute: (key: string, value: unknown) => note(key, value),
        event: (event: string, _: bigint, given?: Record<string, unknown>) => note(event, given),
        addLinks: () => {}
      }
    },
    context: (f) => f()
  })
  const record = <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    self.pipe(
      Effect.withSpan("service"),
      Effect.tapErrorCause((cause) => Effect.logError("the service failed", cause)),
      Effect.withTracer(tracer),
      Effect.provide(Layer.mergeAll(Logger.replace(Logger.defaultLogger, raw), ...printed.map(Logger.add))),
      Logger.withMinimumLogLevel(LogLevel.All)
    )
  return { lines, note, record }
}

const failures = (vendor: vendors.Vendor, key: string): Readonly<Record<string, vendors.Behaviour>> => {
  const echo = `Incorrect API key provided: ${key}.`
  const { errorFrame, refusal, start, text } = vendors
  const odd = { type: "surprise", message: echo, authorization: `Bearer ${key}` }
  return {
    "401 that echoes the key": vendors.json(refusal(vendor, echo), 401),
    "429 that is no JSON": vendors.raw(echo, "text/plain", 429),
    "400 of an unknown shape": vendors.json({ oops: echo }, 400),
    "broken JSON in a 400": vendors.raw(`{"error": "${key}`, "application/json", 400),
    "a 500 page": vendors.raw(`<html>${echo}</html>`, "text/html", 500),
    "a 503 with headers": vendors.json(refusal(vendor, "busy"), 503, { "x-echo": key, "set-cookie": `k=${key}` }),
    "an error in a 200": vendors.json(refusal(vendor, echo)),
    "an unknown shape in a 200": vendors.json({ oops: { echo, key } }),
    "broken JSON in a 200": vendors.raw(`{"oops": "${key}`, "application/json"),
    "an empty 200": vendors.raw("", "application/json"),
    "no connection": vendors.unreachable(`fetch failed with ${echo}`),
    "a defect that holds the request": (request) => Effect.die(Object.assign(new Error(echo), { request })),
    "an interrupted call": () => Effect.never,
    "a frame that cannot be decoded": vendors.sse([start(vendor), odd]),
    "an error frame": vendors.sse([start(vendor), errorFrame(vendor, echo)]),
    "an error frame after output": vendors.sse([start(vendor), ...text(vendor, "Hel"), errorFrame(vendor, echo)]),
    "a reset after output": vendors.sse([start(vendor), ...text(vendor, "Hel")], "reset")
  }
}

/** One that looks like a key, and one that looks like a word: it is known by the request's headers or by being named. */
const keys = [
  { name: "a key", key: "sk-proj-canaryQ7w8E9r0T1y2U3i4O5p6", secrets: [] },
  { name: "a word", key: "xylophone", secrets: [Redacted.make("xylophone")] }
]

describe.each(keys)("no key in an error, a log, a span or an event: $name", ({ key, secrets }) => {
  for (const vendor of ["openai", "anthropic"] as const) {
    for (const [name, behave] of Object.entries(failures(vendor, key))) {
      it.live(`${vendor}: ${name}`, () => {
        const { lines, note, record } = recorder()
        const options = {
          secrets,
          timeouts: { firstOutput: "30 millis", idle: "30 millis", total: "30 millis" }
        } as const
        const layer = vendor === "openai" ? vendors.openai(key) : vendors.anthropic(key)
        const fallback = FallbackLanguageModel.layer({
          ...options,
          targets: [
            { name: "a", layer },
            { name: "b", layer }
          ]
        })
        const guarded = GuardedLanguageModel.withCircuitBreaker(layer, { ...options, key: "g" })
        const calls = Effect.gen(function* () {
          yield* record(LanguageModel.generateText({ prompt: "Hello" })).pipe(Effect.exit, Effect.tap(noted))
          const parts = LanguageModel.streamText({ prompt: "Hello" }).pipe(
            Stream.tap((part) => Effect.sync(() => note(part)))
          )
          yield* record(Stream.runDrain(parts)).pipe(Effect.exit, Effect.tap(noted))
        })
        const noted = (exit: Exit.Exit<unknown, unknown>) =>
          Effect.sync(() => {
            assert.strictEqual(exit._tag, "Failure")
            note(exit, exit._tag === "Failure" ? exit.cause : undefined)
          })
        return Effect.gen(function* () {
          yield* calls.pipe(Effect.provide(fallback))
          yield* calls.pipe(Effect.provide(guarded))
          const registry = yield* CircuitBreakerRegistry.CircuitBreakerRegistry
          note(yield* registry.statuses)
          assert.isAbove(lines.length, 20)
          const leak = lines.find((line) => line.includes(key))
          assert.isUndefined(leak, leak?.slice(Math.max(0, leak.indexOf(key) - 2500), leak.indexOf(key) + 100))
        }).pipe(
          Effect.provide(
            Layer.merge(
              vendors.http(() => behave),
              CircuitBreakerRegistry.layer({ policy: Policy.hosted })
            )
          )
        )
      })
    }
  }

  it.live("without a guard the key is there: the test can fail", () => {
    const { lines, note, record } = recorder()
    return record(LanguageModel.generateText({ prompt: "Hello" })).pipe(
      Effect.provide(vendors.openai(key)),
      Effect.provide(vendors.http(() => vendors.unreachable())),
      Effect.exit,
      Effect.flatMap((exit) =>
        Effect.sync(() => {
          note(exit)
          assert.isTrue(lines.some((line) => line.includes(key)))
        })
      )
    )
  })
})

describe("Redaction", () => {
  const headers = { authorization: "Bearer canary-word", "api-key": "canary-word", "x-goog-api-key": "canary-word" }
  const url = "https://user:canary-word@llm.corp.internal:8000/v1/chat?key=canary-word"
  const platform = HttpClientRequest.post(url, { headers, urlParams: { token: "canary-word" } })
  const request = { method: "POST", url, urlParams: [["key", "canary-word"]], hash: Option.none(), headers } as const
  const base = { module: "OpenAiClient", method: "createResponse", description: "canary-word was refused" }
  const transport = new HttpClientError.RequestError({
    request: platform,
    reason: "Transport",
    cause: new TypeError("fetch failed", { cause: Object.assign(new Error("canary-word"), { code: "ECONNRESET" }) })
  })

  const errors: Readonly<Record<string, AiError.AiError>> = {
    HttpRequestError: new AiError.HttpRequestError({ ...base, reason: "Transport", request, cause: transport }),
    HttpResponseError: new AiError.HttpResponseError({
      ...base,
      reason: "StatusCode",
      request,
      response: { status: 429, headers: { "retry-after": "9", "set-cookie": "canary-word" } },
      body: '{"error":{"message":"canary-word","code":"insufficient_quota"}}'
    }),
    MalformedInput: new AiError.MalformedInput({ ...base, cause: transport }),
    MalformedOutput: new AiError.MalformedOutput({ ...base, cause: transport }),
    UnknownError: new AiError.UnknownError({ ...base, cause: { error: transport } }),
    nested: new AiError.UnknownError({
      ...base,
      cause: new AiError.MalformedOutput({ ...base, cause: Cause.fail(transport) })
    })
  }
  const now = Date.UTC(2026, 0, 1)

  for (const [name, error] of Object.entries(errors)) {
    it(`${name}: nothing of the request is left, and it means what it meant`, () => {
      const before = Thrown.classify(error, { now })
      const safe = Redaction.redact(error, { now })
      assert.strictEqual(safe._tag, error._tag)
      assert.notInclude(shown(safe), "canary-word")
      assert.notInclude(shown(safe), "llm.corp")
      const after = ModelFailure.failureOf(safe, { now })
      assert.deepStrictEqual(
        [after.kind, after.scope, after.status, after.retryAfter],
        [before.kind, before.scope, before.status, before.retryAfter]
      )
      assert.strictEqual(Redaction.redact(safe), safe)
    })
  }

  it("a CircuitOpen inside stays what it is", () => {
    const open = new CircuitOpen("inner", "Open", 1_000)
    const error = new AiError.HttpRequestError({
      ...base,
      reason: "Transport",
      request,
      cause: new Error("x", { cause: open })
    })
    assert.strictEqual(CircuitBreaker.findOpen(Redaction.redact(error)), open)
  })

  it("errors that are not the model's are left alone", () => {
    const own = { _tag: "Own", words: "canary-word" }
    const cause = Redaction.redactCause(Cause.parallel(Cause.fail(own), Cause.die(errors["HttpRequestError"])))
    assert.strictEqual(Option.getOrThrow(Cause.failureOption(cause)), own)
    assert.notInclude(shown(Option.getOrThrow(Cause.dieOption(cause))), "canary-word")
  })

  it("a ring of causes ends", () => {
    const ring = new Error("canary-word")
    ring.cause = ring
    const safe = Redaction.redact(new AiError.UnknownError({ ...base, cause: ring }), {
      secrets: [Redacted.make("canary-word")]
    })
    assert.notInclude(shown(safe), "canary-word")
  })

  it("whatever the key and wherever it stands, it is not in the error", () =>
    FastCheck.assert(
      FastCheck.property(
        FastCheck.string({ minLength: 6, maxLength: 60 }).filter(
          (key) => /^[\x21-\x7e]+$/.test(key) && !/^\[?masked|POST|createResponse/.test(key)
        ),
        FastCheck.array(FastCheck.lorem(), { maxLength: 6 }),
        FastCheck.nat(6),
        (key, words, at) => {
          const text = [...words.slice(0, at), key, ...words.slice(at)].join(" ")
          const error = new AiError.HttpResponseError({
            ...base,
            description: text,
            reason: "StatusCode",
            request: { ...request, headers: { authorization: `Bearer ${key}` } },
            response: { status: 401, headers: { "x-request-id": key } },
            body: text
          })
          const { body, description, response } = Redaction.redact(error) as typeof error
          return ![body, description, response.headers["x-request-id"]].some((one) => one?.includes(key))
        }
      )
    ))
})

it("a span's own fields are there for the tracer that made it", () => {
  const seen: Array<string> = []
  class Own implements Tracer.Span {
    readonly _tag = "Span"
    readonly spanId = "1"
    readonly traceId = "1"
    readonly sampled = true
    readonly attributes = new Map<string, unknown>()
    readonly links: ReadonlyArray<Tracer.SpanLink> = []
    readonly status: Tracer.SpanStatus = { _tag: "Started", startTime: 0n }
    readonly own = "own"
    constructor(
      readonly name: string,
      readonly parent: Option.Option<Tracer.AnySpan>,
      readonly context: Context.Context<never>,
      readonly kind: Tracer.SpanKind
    ) {
      if (Option.isSome(parent)) seen.push(String(Reflect.get(parent.value, "own")))
    }
    end() {}
    event() {}
    addLinks() {}
    attribute(key: string, value: unknown) {
      this.attributes.set(key, value)
    }
  }
  const tracer = Tracer.make({
    span: (name, parent, context, _links, _start, kind) => new Own(name, parent, context, kind),
    context: (f) => f()
  })
  const call = LanguageModel.generateText({ prompt: "Hello" }).pipe(
    Effect.withSpan("service"),
    Effect.withTracer(tracer),
    Effect.provide(
      GuardedLanguageModel.withCircuitBreaker(vendors.openai("sk-test"), { key: "a" }).pipe(
        Layer.provide(vendors.http((vendor) => vendors.healthy(vendor, "hi"))),
        Layer.provide(CircuitBreakerRegistry.layer({ policy: Policy.hosted }))
      )
    )
  )
  return Effect.runPromise(call).then(() => assert.deepStrictEqual([...new Set(seen)], ["own"]))
})
