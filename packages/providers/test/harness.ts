import * as Anthropic from "@switchgear/providers/Anthropic"
import type * as HttpProvider from "@switchgear/providers/HttpProvider"
import * as OpenAiCompatible from "@switchgear/providers/OpenAiCompatible"
import type * as Provider from "@switchgear/providers/Provider"
import { ProviderError } from "@switchgear/providers/Provider"
import * as Upstream from "@switchgear/testing/Upstream"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"

/** Nothing but the upstream's own request headers may ever hold this. */
export const canary = "sk-canary-5f0c1d2e3b4a59687766"

export type Operation = Exclude<Provider.Operation, "embeddings">

export const operations: ReadonlyArray<Operation> = ["chat.completions", "responses", "messages"]

export const request = (
  operation: Provider.Operation,
  stream: boolean,
  more: Partial<Provider.ProviderRequest> & { readonly extra?: Readonly<Record<string, unknown>> } = {}
): Provider.ProviderRequest => {
  const { extra, ...rest } = more
  return {
    operation,
    model: "m",
    body: Buffer.from(JSON.stringify({ model: "m", stream, messages: [{ role: "user", content: "hi" }], ...extra })),
    stream,
    headers: {},
    ...rest
  }
}

export type Options = Omit<HttpProvider.Options, "name" | "baseUrl" | "apiKey">

export const over = (upstream: Upstream.Upstream, operation: Provider.Operation, options: Options = {}) => {
  const all = { ...options, name: "subject", baseUrl: upstream.baseUrl, apiKey: Redacted.make(canary) }
  return operation === "messages" ? Anthropic.make(all) : OpenAiCompatible.make(all)
}

/** An upstream with this script, and a provider in front of it. */
export const setup = (operation: Provider.Operation, script: Upstream.Script, options: Options = {}) =>
  Effect.gen(function* () {
    const upstream = yield* Upstream.make(script)
    const provider = yield* over(upstream, operation, options)
    return { upstream, provider }
  })

/** What a caller ends up with. */
export interface Outcome {
  readonly bytes: Buffer
  /** Output had been handed over before. */
  readonly committed: boolean
  readonly error: ProviderError | undefined
  readonly answer: Provider.Answer | undefined
}

const read = async (body: AsyncIterable<Uint8Array>): Promise<{ bytes: Buffer; error: ProviderError | undefined }> => {
  const chunks: Array<Uint8Array> = []
  try {
    for await (const chunk of body) chunks.push(chunk)
  } catch (error) {
    if (error instanceof ProviderError) return { bytes: Buffer.concat(chunks), error }
    throw error
  }
  return { bytes: Buffer.concat(chunks), error: undefined }
}

/** Calls, and reads the answer to its end. Anything but a `ProviderError` is a defect of the test. */
export const outcome = (provider: Provider.Provider, of: Provider.ProviderRequest): Effect.Effect<Outcome> =>
  provider.call(of).pipe(
    Effect.flatMap(
      (answer): Effect.Effect<Outcome> =>
        answer._tag === "Json"
          ? Effect.succeed({ bytes: Buffer.from(answer.body), committed: true, error: undefined, answer })
          : Effect.map(
              Effect.promise(() => read(answer.body)),
              ({ bytes, error }) => ({ bytes, committed: true, error, answer })
            )
    ),
    Effect.catchAll((error) => Effect.succeed({ bytes: Buffer.alloc(0), committed: false, error, answer: undefined }))
  )
