/**
 * A provider of one dialect that also serves clients of the other: Chat Completions and Messages (ROUTING W6).
 *
 * @since 0.1.0
 */
import * as Failure from "@switchgear/failures/Failure"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { TranslatedBody } from "./internal/translatedBody.js"
import type { Answer, Provider, ProviderRequest } from "./Provider.js"
import { ProviderError } from "./Provider.js"
import * as Wire from "./Wire.js"

/** A request's headers that mean something to one dialect only. */
const foreign: { readonly [D in Wire.Dialect]: string } = { messages: "anthropic-", "chat.completions": "openai-" }

const forwarded = (headers: ProviderRequest["headers"], from: Wire.Dialect): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !name.toLowerCase().startsWith(foreign[from])))

const unfit = (provider: string, fields: ReadonlyArray<string>): ProviderError =>
  new ProviderError({
    provider,
    failure: Failure.make("client_fault", `this provider cannot carry ${fields.join(", ")}`, { code: "untranslatable" })
  })

const unreadable = (provider: string): ProviderError =>
  new ProviderError({
    provider,
    failure: Failure.make("server_error", "the answer cannot be said in the client's dialect", {
      code: "untranslatable_answer"
    })
  })

/** The failure is what it was; only the words are the client's. */
const reworded = (error: ProviderError, to: Wire.Dialect): ProviderError => {
  const { failure, provider, response } = error
  if (response === undefined) return error
  const body = Wire.error(to, response.status, response.body, failure.message)
  const headers = { ...response.headers, "content-type": "application/json" }
  return new ProviderError({ provider, failure, response: { ...response, headers, body } })
}

/** The dialect of the two that a provider speaks, if it is one of them only. */
const spoken = ({ operations }: Provider): Wire.Dialect | undefined => {
  const known = operations?.filter(Wire.isDialect) ?? []
  return known.length === 1 ? known[0] : undefined
}

/**
 * The same provider, which now serves the other dialect too: requests, answers, streams and error bodies are translated, its
 * own dialect passes untouched. What of a request cannot be said is known beforehand (`cannotCarry`). A failure keeps its
 * kind, its status and its Retry-After.
 *
 * A provider that speaks both, or neither, or does not say what it speaks, is returned as it is.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Provider from "@switchgear/providers/Provider"
 * import * as ScriptedProvider from "@switchgear/providers/ScriptedProvider"
 * import * as Translated from "@switchgear/providers/Translated"
 * import * as Effect from "effect/Effect"
 *
 * const claude = { ...ScriptedProvider.make("claude", [ScriptedProvider.ok("Hi")]), operations: ["messages"] } as const
 * const both = Translated.make(claude)
 *
 * const program = Effect.gen(function*() {
 *   const request = Provider.request("chat.completions", { model: "m", messages: [{ role: "user", content: "Hello" }] })
 *   const answer = yield* both.call(request)
 *   assert.ok(answer._tag === "Json")
 *   assert.strictEqual(JSON.parse(new TextDecoder().decode(answer.body)).choices[0].message.content, "Hi")
 * })
 *
 * await Effect.runPromise(program)
 * ```
 *
 * @since 0.1.0
 * @category combinators
 */
export const make = (provider: Provider, settings: Wire.Settings = {}): Provider => {
  const native = spoken(provider)
  if (native === undefined) return provider
  const from = Wire.other(native)

  // Looked at beforehand and then called, a request is translated once.
  const known = new WeakMap<Uint8Array, Wire.Translated | Wire.Untranslatable>()
  const translate = (body: Uint8Array): Wire.Translated | Wire.Untranslatable => {
    const found = known.get(body) ?? Wire.request(from, body, settings)
    known.set(body, found)
    return found
  }

  const reply = (answer: Answer, usage: boolean, created: number): Effect.Effect<Answer, ProviderError> => {
    if (answer._tag === "Stream") {
      const body = new TranslatedBody(answer.body, Wire.stream(native, { usage, created }), () =>
        unreadable(provider.name)
      )
      return Effect.succeed({ ...answer, body })
    }
    const body = Wire.answer(native, answer.body, created)
    return body === undefined ? Effect.fail(unreadable(provider.name)) : Effect.succeed({ ...answer, body })
  }

  const call = Effect.fnUntraced(function* (request: ProviderRequest) {
    const translated = translate(request.body)
    if (translated._tag === "Untranslatable") return yield* unfit(provider.name, translated.fields)
    const { body, usage } = translated
    const headers = forwarded(request.headers, from)
    const answer = yield* Effect.mapError(provider.call({ ...request, operation: native, body, headers }), (error) =>
      reworded(error, from)
    )
    const now = yield* Clock.currentTimeMillis
    return yield* reply(answer, usage, Math.floor(now / 1000))
  })

  return {
    ...provider,
    operations: [...(provider.operations ?? []), from],
    cannotCarry: (request) => {
      if (request.operation !== from) return provider.cannotCarry?.(request) ?? []
      const translated = translate(request.body)
      return translated._tag === "Untranslatable" ? translated.fields : []
    },
    call: (request) => (request.operation === from ? call(request) : provider.call(request))
  }
}
