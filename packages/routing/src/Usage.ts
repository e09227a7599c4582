/**
 * Tokens and cost of the call that was served: from what the answer says, a stream's from its usage frames, else counted
 * (ROUTING S3).
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type { Call, Served } from "./Call.js"
import * as usageOf from "./internal/usageOf.js"
import { watch } from "./internal/watch.js"
import { make, priorities, type Stage } from "./Stage.js"
import type { Tokens } from "./Tokens.js"

/**
 * What a model costs, in USD for a million tokens.
 *
 * @since 0.1.0
 * @category models
 */
export interface Price {
  readonly input: number
  readonly output: number
}

/**
 * Prices by model. A dated name (`gpt-4o-2024-08-06`) has the price of the longest name it begins with.
 *
 * @since 0.1.0
 * @category models
 */
export type Prices = Readonly<Record<string, Price>>

/**
 * List prices of some hosted models. They change: put your own in their place or beside them.
 *
 * @since 0.1.0
 * @category prices
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Usage from "@switchgear/routing/Usage"
 *
 * const mine: Usage.Prices = { ...Usage.prices, llama: { input: 0, output: 0 } }
 * assert.ok("gpt-4o" in mine)
 * ```
 */
export const prices: Prices = {
  "gpt-4o": { input: 2.5, output: 10 },
  "gpt-4o-mini": { input: 0.15, output: 0.6 },
  "gpt-4.1": { input: 2, output: 8 },
  "gpt-4.1-mini": { input: 0.4, output: 1.6 },
  "gpt-4.1-nano": { input: 0.1, output: 0.4 },
  "gpt-5": { input: 1.25, output: 10 },
  "gpt-5-mini": { input: 0.25, output: 2 },
  "gpt-5-nano": { input: 0.05, output: 0.4 },
  "o4-mini": { input: 1.1, output: 4.4 },
  "text-embedding-3-small": { input: 0.02, output: 0 },
  "text-embedding-3-large": { input: 0.13, output: 0 },
  "claude-opus-4-1": { input: 15, output: 75 },
  "claude-sonnet-4": { input: 3, output: 15 },
  "claude-sonnet-4-5": { input: 3, output: 15 },
  "claude-haiku-4-5": { input: 1, output: 5 }
}

/**
 * What tokens of a model cost in USD; `undefined` if it has no price.
 *
 * @since 0.1.0
 * @category prices
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Usage from "@switchgear/routing/Usage"
 *
 * assert.strictEqual(Usage.costOf(Usage.prices, "gpt-4o-2024-08-06", { input: 1_000_000, output: 100_000 }), 3.5)
 * assert.strictEqual(Usage.costOf(Usage.prices, "llama", { input: 1, output: 1 }), undefined)
 * ```
 */
export const costOf = (prices: Prices, model: string, tokens: Pick<Tokens, "input" | "output">): number | undefined => {
  const price = priceOf(prices, model)
  return price === undefined ? undefined : (tokens.input * price.input + tokens.output * price.output) / 1_000_000
}

const priceOf = (prices: Prices, model: string): Price | undefined => {
  if (Object.hasOwn(prices, model)) return prices[model]
  let longest = ""
  for (const name of Object.keys(prices)) {
    if (name.length > longest.length && model.startsWith(`${name}-`)) longest = name
  }
  return longest === "" ? undefined : prices[longest]
}

/**
 * The Usage stage: writes what it finds in the call's journal, for telemetry and budgets.
 *
 * Where an answer does not say, a stream's frames are counted, a JSON answer's bytes by four, and `estimated` is true.
 *
 * @since 0.1.0
 * @category stages
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Usage from "@switchgear/routing/Usage"
 *
 * const stage = Usage.stage({ prices: { "llama-3": { input: 0.1, output: 0.2 } } })
 * assert.strictEqual(stage.priority, 25)
 * ```
 */
export const stage = ({ prices: table = prices }: { readonly prices?: Prices | undefined } = {}): Stage =>
  make("usage", priorities.usage, (next, { routes }) => {
    const known = new Map<string, Price | undefined>()
    for (const [name, { upstream }] of routes) known.set(name, priceOf(table, upstream) ?? priceOf(table, name))
    const priced = (model: string, input: number, output: number, estimated: boolean): Tokens => {
      const price = known.get(model)
      if (price === undefined) return { input, output, estimated }
      return { input, output, estimated, cost: (input * price.input + output * price.output) / 1_000_000 }
    }
    const ofJson = ({ request }: Call, model: string, body: Uint8Array): Tokens => {
      const said = usageOf.ofJson(body)
      if (said !== undefined) return priced(model, said.input, said.output, false)
      return priced(model, usageOf.guess(request.body.length), usageOf.guess(body.length), true)
    }
    const served = (call: Call, served: Served): Served => {
      const { answer, model } = served
      if (answer._tag === "Json") {
        call.journal.tokens = ofJson(call, model, answer.body)
        return served
      }
      const reader = new usageOf.StreamUsage()
      const watched = watch(answer, {
        chunk: (bytes) => reader.chunk(bytes),
        ended: () => {
          const { frames, input, output } = reader.said()
          const estimated = input === undefined || output === undefined
          const prompt = input ?? usageOf.guess(call.request.body.length)
          call.journal.tokens = priced(model, prompt, output ?? frames, estimated)
        }
      })
      return { ...served, answer: watched }
    }
    return (call) => Effect.map(next(call), (it) => served(call, it))
  })
