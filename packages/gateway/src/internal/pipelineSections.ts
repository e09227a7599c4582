import * as Dedupe from "@switchgear/core/Dedupe"
import type { Limit } from "@switchgear/routing/Budget"
import type { Client, Rule } from "@switchgear/routing/ModelPolicies"
import type { Settings } from "@switchgear/routing/Presets"
import type { Prices } from "@switchgear/routing/Usage"
import * as Cursor from "./cursor.js"
import {
  array,
  boolean,
  type Decoder,
  duration,
  durationOrNone,
  type Field,
  integer,
  literal,
  number,
  optional,
  record,
  required,
  struct,
  text,
  withDefault
} from "./decoder.js"
import { chain } from "./modelSection.js"

export interface IdempotencyConfig {
  /** ms an answer is kept. */
  readonly ttl: number
  /** ms a claim lasts whose call never ends. */
  readonly lease: number
  /** ms that one who repeats a running request waits for its answer. */
  readonly wait: number
  readonly store: "final" | "success"
}

export interface CacheConfig {
  readonly enabled: boolean
  /** ms */
  readonly ttl: number
}

export interface HeadersConfig {
  /** Of the headers that tell a client of a substitution (ROUTING W3). */
  readonly prefix: string
}

export interface PipelineConfig {
  readonly clients: ReadonlyArray<Client>
  /** undefined: every model is allowed, and chains are the models' own. */
  readonly policies: ReadonlyArray<Rule> | undefined
  readonly dedupe: Dedupe.Settings | undefined
  readonly idempotency: IdempotencyConfig
  readonly cache: CacheConfig
  readonly budgets: ReadonlyArray<Limit>
  readonly headers: HeadersConfig
  readonly retryAfter: "remaining" | "cooldown"
  /** USD per million tokens, by model; undefined: the library's own. */
  readonly prices: Prices | undefined
}

const org = text("the name of an organisation")

const keyHash: Decoder<string> = (at) => {
  const value = text("the hash of a client's key")(at)
  if (value === undefined) return undefined
  return /^sha256:[0-9a-f]{64}$/.test(value)
    ? value
    : Cursor.fault(
        at,
        'must be "sha256:" and 64 hexadecimal digits; "switchgear keys add ORG" makes a key and its hash'
      )
}

const clientFields = struct(
  {
    org: required(org, "name the organisation whose key it is"),
    keyHash: required(keyHash, '"switchgear keys add ORG" makes a key and its hash')
  },
  "a client"
)

const clients: Decoder<ReadonlyArray<Client>> = (at) => {
  const found = array(clientFields, "clients")(at)
  const items = Cursor.items(at) ?? []
  let good = found !== undefined
  for (const [index, { keyHash }] of (found ?? []).entries()) {
    const item = items[index]
    if (item === undefined || found?.findIndex((each) => each.keyHash === keyHash) === index) continue
    Cursor.fault(item, "has the same key as a client above; keep one of them, or make another key")
    good = false
  }
  return good ? found : undefined
}

const rule: Decoder<Rule> = struct(
  {
    org: withDefault(text('an organisation, or a pattern such as "*"'), "*"),
    model: withDefault(text('a model, or a pattern such as "gpt-*"'), "*"),
    allow: withDefault(boolean("whether the model may be used"), true),
    fallbackChain: withDefault(chain, [])
  },
  "a rule"
)

const idempotency = (defaults: IdempotencyConfig): Decoder<IdempotencyConfig> =>
  struct(
    {
      ttl: withDefault(duration("the time an answer is kept"), defaults.ttl),
      lease: withDefault(duration("the time a claim lasts whose call never ends"), defaults.lease),
      wait: withDefault(
        durationOrNone("the time a repeated request waits for the first (0: not at all)"),
        defaults.wait
      ),
      store: withDefault(literal("word for what is stored", "final", "success"), defaults.store)
    },
    "what is done with idempotency keys"
  )

const cache = (defaults: CacheConfig): Decoder<CacheConfig> =>
  struct(
    {
      enabled: withDefault(boolean("whether answers are cached"), defaults.enabled),
      ttl: withDefault(duration("the time an answer is served from the cache"), defaults.ttl)
    },
    "the cache of answers"
  )

const limitFields = struct(
  {
    org: withDefault(text('an organisation, or a pattern such as "*"'), "*"),
    window: required(duration("the time that the limit is for"), 'give the time it is for, such as "1 day"'),
    usd: optional(number("what may be spent", 0)),
    tokens: optional(integer("the tokens that may be used", 0, Number.MAX_SAFE_INTEGER))
  },
  "a budget"
)

const limit: Decoder<Limit> = (at) => {
  const found = limitFields(at)
  if (found === undefined || found.usd !== undefined || found.tokens !== undefined) return found
  return Cursor.fault(at, "limits nothing: give it usd or tokens")
}

const prefix: Decoder<string> = (at) => {
  const value = text('the beginning of header names, such as "X-Switchgear-Provider"')(at)
  if (value === undefined || (/^[A-Za-z0-9]+(-[A-Za-z0-9]+)*$/.test(value) && value.length <= 64)) return value
  return Cursor.fault(at, "must be up to 64 letters and digits with single hyphens between them, as header names are")
}

const price = struct(
  {
    input: required(number("USD per million tokens in", 0), "give the USD per million tokens in"),
    output: required(number("USD per million tokens out", 0), "give the USD per million tokens out")
  },
  "a price"
)

const dedupeFields = struct(
  {
    window: withDefault(duration("the time in which failures of a provider count once"), Dedupe.defaults.window),
    networkWindow: withDefault(duration("the same for network errors"), Dedupe.defaults.networkWindow),
    successes: withDefault(boolean("whether successes count once as well"), Dedupe.defaults.successes)
  },
  "what counts once"
)

/** `true` is the defaults, `false` is off. */
const dedupe: Decoder<Dedupe.Settings | "off"> = (at) => {
  const value = Cursor.scalar(at)
  if (typeof value === "boolean") return value ? Dedupe.defaults : "off"
  if (Cursor.entries(at) === undefined) {
    return Cursor.fault(at, "must be true, false, or a mapping of window, networkWindow, successes")
  }
  const found = dedupeFields(at)
  return found === undefined ? undefined : { ...Dedupe.defaults, ...found }
}

/** The keys of the file that are about a call's way; what they leave out is the preset's. */
export const pipelineFields = (preset: Settings, millis: (of: Settings["cache"]["ttl"]) => number) => {
  const { cache: cached, idempotency: claimed } = preset
  const idempotencyDefaults: IdempotencyConfig = {
    ttl: millis(claimed.ttl),
    lease: millis(claimed.lease),
    wait: millis(claimed.wait),
    store: claimed.keep
  }
  const cacheDefaults: CacheConfig = { enabled: cached.enabled, ttl: millis(cached.ttl) }
  const headers: HeadersConfig = { prefix: preset.headerPrefix }
  return {
    clients: withDefault(clients, []),
    policies: optional(array(rule, "rules", { min: 1 })),
    dedupe: withDefault<Dedupe.Settings | "off" | undefined>(dedupe, preset.dedupe),
    idempotency: withDefault(idempotency(idempotencyDefaults), idempotencyDefaults),
    cache: withDefault(cache(cacheDefaults), cacheDefaults),
    budgets: withDefault(array(limit, "budgets"), preset.budgets),
    headers: withDefault(
      struct({ prefix: withDefault(prefix, headers.prefix) }, "the headers that tell of a substitution"),
      headers
    ),
    retryAfter: withDefault(literal("way to tell when to come back", "remaining", "cooldown"), preset.retryAfter),
    prices: optional(record(price, "models and their prices"))
  } satisfies Record<keyof PipelineConfig, Field<unknown>>
}
