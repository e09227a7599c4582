import * as Fallback from "@switchgear/core/Fallback"
import * as Schema from "effect/Schema"
import { boolean, count, length, oneOf, policy, positive, share, text, time } from "./fields.js"

/** Kinds of failure a script may have, each said in a vendor's words and classified as such. */
export const errorKinds = [
  "server_error",
  "overloaded",
  "rate_limit",
  "quota_exhausted",
  "network_error",
  "timeout",
  "auth",
  "model_unavailable",
  "client_fault"
] as const

export type ErrorKind = (typeof errorKinds)[number]

/** One time for all, or a log-normal distribution by two of its quantiles. */
export const latency = Schema.Union(
  length("a latency"),
  Schema.Struct({ p50: length("p50"), p95: length("p95") }).pipe(
    Schema.filter(({ p50, p95 }) => (p95 >= p50 ? undefined : { path: ["p95"], message: "must not be below p50" }))
  )
).annotations({ description: "A duration, or { p50, p95 } of a log-normal distribution." })

export type Latency = typeof latency.Type

const weight = Schema.optional(positive("an error's weight"))

const errorWeights = Schema.Struct({
  server_error: weight,
  overloaded: weight,
  rate_limit: weight,
  quota_exhausted: weight,
  network_error: weight,
  timeout: weight,
  auth: weight,
  model_unavailable: weight,
  client_fault: weight
}).pipe(Schema.filter((weights) => Object.keys(weights).length > 0 || `name a kind of error: ${errorKinds.join(", ")}`))

export type Errors = typeof errorWeights.Type

const errors = Schema.optionalWith(errorWeights, { default: () => ({ server_error: 1 }) }).annotations({
  description: "Kinds of failure by their weight. Default: server_error."
})

const requests = Schema.Struct({
  model: Schema.optional(text("a model")),
  host: Schema.optional(text("a host")),
  share: Schema.optional(share("share"))
}).annotations({ description: "Which calls meet it. Default: all." })

const span = {
  from: time("from"),
  to: length("to"),
  only: Schema.optional(requests),
  sick: Schema.optionalWith(boolean("sick"), { default: () => true }).annotations({
    description: "Whether a breaker should notice it. An opening in a phase that is not sick is a false trip."
  })
}

const errorLatency = Schema.optionalWith(latency, { default: () => ({ p50: 120, p95: 400 }) })

const phase = Schema.Union(
  Schema.Struct({
    kind: Schema.Literal("outage"),
    ...span,
    errors,
    errorLatency
  }),
  Schema.Struct({
    kind: Schema.Literal("brown-out"),
    ...span,
    errorRate: share("errorRate"),
    errors,
    errorLatency
  }),
  Schema.Struct({ kind: Schema.Literal("slow"), ...span, latency }),
  Schema.Struct({ kind: Schema.Literal("hang"), ...span }),
  Schema.Struct({
    kind: Schema.Literal("rate-limit"),
    ...span,
    perSecond: positive("perSecond"),
    burst: Schema.optionalWith(count("burst"), { default: () => 1 }),
    retryAfter: Schema.optionalWith(boolean("retryAfter"), { default: () => true }),
    errorLatency
  }),
  Schema.Struct({
    kind: Schema.Literal("quota"),
    ...span,
    retryAfter: Schema.optionalWith(boolean("retryAfter"), { default: () => false }),
    errorLatency
  }),
  Schema.Struct({
    kind: Schema.Literal("flapping"),
    ...span,
    down: length("down"),
    up: length("up"),
    errors,
    errorLatency
  }),
  Schema.Struct({ kind: Schema.Literal("bad-key"), ...span, errorLatency })
).annotations({
  message: () => "kind must be one of outage, brown-out, slow, hang, rate-limit, quota, flapping, bad-key"
})

export type Phase = typeof phase.Type

const provider = Schema.Struct({
  name: text("a provider's name"),
  latency: Schema.optionalWith(latency, { default: () => ({ p50: 900, p95: 2_500 }) }),
  noise: Schema.optional(
    Schema.Struct({
      rate: share("rate"),
      errors
    })
  ).annotations({ description: "Failures that it has at all times, in health too." }),
  limits: Schema.optionalWith(Schema.Struct({ total: Schema.optional(length("total")) }), {
    default: () => ({})
  }).annotations({ description: "How long one attempt may take. Default: 10 minutes, as in the gateway." }),
  maxConcurrent: Schema.optional(count("maxConcurrent")),
  retries: Schema.optional(
    Schema.Struct({
      max: count("max", 0),
      base: Schema.optional(length("base")),
      cap: Schema.optional(length("cap"))
    })
  ),
  hosts: Schema.optional(Schema.NonEmptyArray(text("a host"))),
  phases: Schema.optionalWith(Schema.Array(phase), { default: () => [] })
})

export type ProviderScript = typeof provider.Type

const model = Schema.Struct({
  name: text("a model's name"),
  provider: text("a model's provider"),
  upstream: Schema.optional(text("upstream")),
  fallbackChain: Schema.optionalWith(Schema.Array(text("a model")), { default: () => [] }),
  price: Schema.optional(Schema.Struct({ input: Schema.NonNegative, output: Schema.NonNegative })).annotations({
    description: "USD per million tokens. Default: the product's price table."
  })
})

export type Model = typeof model.Type

const arrivals = Schema.Union(
  Schema.Struct({ kind: Schema.Literal("constant"), rate: positive("rate") }),
  Schema.Struct({ kind: Schema.Literal("poisson"), rate: positive("rate") }),
  Schema.Struct({
    kind: Schema.Literal("bursts"),
    rate: positive("rate"),
    every: length("every"),
    size: count("size"),
    within: Schema.optionalWith(length("within"), { default: () => 1_000 })
  }),
  Schema.Struct({
    kind: Schema.Literal("log"),
    calls: Schema.Array(
      Schema.Union(time("a call's time"), Schema.Struct({ at: time("at"), model: Schema.optional(text("a model")) }))
    )
  }),
  Schema.Struct({ kind: Schema.Literal("log"), file: text("file") })
).annotations({
  message: () => "kind must be one of constant, poisson, bursts, log (with calls or file)",
  description: "When calls come; rates a second."
})

export type Arrivals = typeof arrivals.Type

const traffic = Schema.Struct({
  model: text("a model"),
  share: Schema.optionalWith(positive("share"), { default: () => 1 }),
  tokens: Schema.optionalWith(Schema.Struct({ input: count("input", 0), output: count("output", 0) }), {
    default: () => ({ input: 800, output: 300 })
  })
})

const clients = Schema.Struct({
  timeout: Schema.optionalWith(length("timeout"), { default: () => 60_000 }).annotations({
    description: "A client leaves after so long, and calls that a failure."
  }),
  abort: Schema.optional(Schema.Struct({ share: share("share"), after: latency })).annotations({
    description: "Clients that leave because they have changed their mind."
  }),
  retry: Schema.optional(
    Schema.Struct({
      max: count("max"),
      backoff: Schema.optionalWith(length("backoff"), { default: () => 500 }),
      multiplier: Schema.optionalWith(positive("multiplier"), { default: () => 2 }),
      maxBackoff: Schema.optionalWith(length("maxBackoff"), { default: () => 8_000 }),
      jitter: Schema.optionalWith(share("jitter"), { default: () => 0.25 }),
      maxRetryAfter: Schema.optionalWith(time("maxRetryAfter"), { default: () => 60_000 })
    })
  ).annotations({
    description:
      "What a client does about an error. The defaults are those of the official SDKs: half a second doubling to eight, " +
      "and a Retry-After of up to a minute is waited for."
  })
})

export type Clients = typeof clients.Type

const breakers = Schema.Struct({
  policy: Schema.optionalWith(policy, { default: (): unknown => "hosted" }).annotations({
    description: "A preset's name, or a policy."
  }),
  per: Schema.optionalWith(Schema.Array(oneOf("per", "provider", "provider:model", "provider:host")), {
    default: () => ["provider" as const]
  }),
  replicas: Schema.optionalWith(oneOf("replicas", "own", "shared"), { default: () => "own" as const }).annotations({
    description: "Whether each replica has breakers of its own."
  }),
  enforce: Schema.optionalWith(boolean("enforce"), { default: () => true })
})

const fallback = Schema.Unknown.pipe(
  Schema.filter((input) => {
    const decoded = Fallback.decode(input)
    if (decoded._tag === "Success") return []
    return decoded.faults.map(({ message, path }) => ({ path: path === "" ? [] : path.split("."), message }))
  })
).annotations({ description: "The fallback settings, as in the gateway's configuration." })

export const fields = {
  name: text("name"),
  description: text("description"),
  incident: Schema.optionalWith(Schema.String, { default: () => "" }).annotations({
    description: "The incident it is taken from."
  }),
  lesson: Schema.optionalWith(Schema.String, { default: () => "" }).annotations({
    description: "What one learns from it."
  }),
  duration: length("duration"),
  arrivals,
  traffic: Schema.optionalWith(Schema.NonEmptyArray(traffic), { exact: true }),
  providers: Schema.NonEmptyArray(provider).annotations({ message: () => "list at least one provider" }),
  models: Schema.NonEmptyArray(model).annotations({ message: () => "list at least one model" }),
  clients: Schema.optionalWith(clients, { default: () => ({ timeout: 60_000 }) }),
  breakers: Schema.optionalWith(breakers, {
    default: (): typeof breakers.Type => ({ policy: "hosted", per: ["provider"], replicas: "own", enforce: true })
  }),
  fallback: Schema.optionalWith(fallback, { default: (): unknown => ({}) }),
  replicas: Schema.optionalWith(count("replicas"), { default: () => 1 })
}
