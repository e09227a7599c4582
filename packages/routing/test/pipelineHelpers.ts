import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
import * as Fallback from "@switchgear/core/Fallback"
import * as Policy from "@switchgear/core/Policy"
import type { Provider } from "@switchgear/providers/Provider"
import type { Access } from "@switchgear/routing/Access"
import type { Request } from "@switchgear/routing/Call"
import * as Pipeline from "@switchgear/routing/Pipeline"
import type * as Rejected from "@switchgear/routing/Rejected"
import type { RouteError } from "@switchgear/routing/RouteError"
import type { Stage } from "@switchgear/routing/Stage"
import { StoreError } from "@switchgear/routing/StoreError"
import * as Effect from "effect/Effect"

export const ask = (over: Partial<Request> = {}): Request => {
  const { model = "m0", stream = false } = over
  return {
    model,
    operation: "chat.completions",
    body: new TextEncoder().encode(JSON.stringify({ model, messages: [{ role: "user", content: "hi" }], stream })),
    stream,
    headers: {},
    ...over
  }
}

export interface Setup {
  readonly stages?: ReadonlyArray<Stage>
  readonly policy?: Policy.Policy
  readonly access?: Access
  readonly maxConcurrent?: number
  readonly order?: "priority" | "listed"
  /** Only these models have a chain: the first one, unless told otherwise. */
  readonly chains?: "first" | "all" | "none"
}

export const fallback = (input: Parameters<typeof Fallback.make>[0] = { budget: 1 }): Stage =>
  Pipeline.fallback({ settings: Fallback.make({ budget: 1, ...input }) })

/** Model `m0` on the first provider, `m1` on the second, and so on. */
export const build = (providers: ReadonlyArray<Provider>, setup: Setup = {}) =>
  Effect.gen(function* () {
    const policy = setup.policy ?? Policy.consecutive({ failureThreshold: 1_000 })
    const breakers = yield* Effect.forEach(providers, ({ name }) => CircuitBreaker.make({ name, policy }))
    const { chains = "first" } = setup
    const pipeline = yield* Pipeline.make({
      providers: providers.map((provider, index) => ({
        provider,
        breaker: breakers[index],
        maxConcurrent: setup.maxConcurrent
      })),
      models: providers.map(({ name }, index) => ({
        name: `m${index}`,
        provider: name,
        upstream: `up${index}`,
        fallbackChain:
          chains === "all" || (chains === "first" && index === 0)
            ? providers.flatMap((_, at) => (at === index ? [] : [`m${at}`]))
            : []
      })),
      stages: setup.stages ?? [fallback(), Pipeline.breaker()],
      access: setup.access,
      order: setup.order
    })
    return { pipeline, breakers }
  })

export const codeOf = (error: RouteError | Rejected.Rejected): string =>
  error._tag === "Rejected" ? error.code : error.reason._tag

export const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

export const down = (store: string) => Effect.fail(new StoreError({ store, reason: "Unavailable" }))

export const read = async (body: AsyncIterable<Uint8Array>): Promise<Uint8Array> => {
  const chunks: Array<Uint8Array> = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks)
}
