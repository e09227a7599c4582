import * as Cursor from "./cursor.js"
import {
  array,
  type Decoder,
  declares,
  integer,
  mentions,
  optional,
  required,
  struct,
  text,
  withDefault
} from "./decoder.js"
import { type RetriesConfig, retries, type TimeoutsConfig, timeouts } from "./limitsSection.js"
import { headerSafe } from "./values.js"

export interface ModelConfig {
  /** What clients ask for. */
  readonly name: string
  readonly provider: string
  /** What the provider knows it by. */
  readonly upstream: string
  readonly fallbackChain: ReadonlyArray<string>
  /** Tokens; without it the model is never tried for a request that was too long elsewhere. */
  readonly contextWindow: number | undefined
  /** ms; over the provider's. */
  readonly timeouts: TimeoutsConfig
  /** In place of the provider's. */
  readonly retries: RetriesConfig | undefined
}

/** ROUTING F2: at most 8 entries; blank and repeated ones are dropped. */
export const chain: Decoder<ReadonlyArray<string>> = (at) => {
  const entry: Decoder<string> = (item) => {
    const value = Cursor.scalar(item)
    return value === null || (typeof value === "string" && value.trim() === "") ? "" : mentions("model")(item)
  }
  const names = array(entry, "models", { max: 8 })(at)
  return names === undefined ? undefined : [...new Set(names)].filter((name) => name !== "")
}

const modelFields = struct(
  {
    name: required(headerSafe(declares("model")), "give the name that clients ask for"),
    provider: required(mentions("provider"), "name the provider that serves it"),
    upstream: optional(text("the name the provider knows the model by")),
    fallbackChain: withDefault(chain, []),
    contextWindow: optional(integer("the tokens the model takes", 1, Number.MAX_SAFE_INTEGER)),
    timeouts: withDefault(timeouts, {}),
    retries: optional(retries)
  },
  "a model"
)

const model: Decoder<ModelConfig> = (at) => {
  const fields = modelFields(at)
  return fields === undefined ? undefined : { ...fields, upstream: fields.upstream ?? fields.name }
}

/** Its own limits, in words that are the same for the same limits. */
const limitsOf = ({ retries, timeouts: { connect, firstOutput, idle, total } }: ModelConfig): string =>
  JSON.stringify([connect, firstOutput, idle, total, retries?.max, retries?.base, retries?.cap])

/** Two names for one model of a provider are one target, so they have one set of limits. */
export const models: Decoder<ReadonlyArray<ModelConfig>> = (at) => {
  const found = array(model, "models", { min: 1 })(at)
  if (found === undefined) return undefined
  const items = Cursor.items(at) ?? []
  let good = true
  for (const [index, each] of found.entries()) {
    const first = found.find(({ provider, upstream }) => provider === each.provider && upstream === each.upstream)
    const item = items[index]
    if (first === undefined || item === undefined || limitsOf(first) === limitsOf(each)) continue
    Cursor.fault(item, `is "${first.name}" by another name: give both the same timeouts and retries`)
    good = false
  }
  return good ? found : undefined
}
