import type { Mode } from "@switchgear/breaker/CircuitBreakerRegistry"
import type * as Policy from "@switchgear/core/Policy"
import { policy } from "./coreDecoder.js"
import * as Cursor from "./cursor.js"
import { array, type Decoder, literal, optional, required, struct, withDefault } from "./decoder.js"
import { list } from "./faults.js"
import { mode } from "./storeSections.js"

/** What a breaker stands for: all of a provider, each of its models, or its host (DESIGN 6). */
export const breakerKeys = ["provider", "provider:model", "provider:host"] as const

export type BreakerKey = (typeof breakerKeys)[number]

export interface BreakerConfig {
  readonly key: BreakerKey
  readonly policy: Policy.Policy
  /** undefined: the store's. */
  readonly mode: Mode | undefined
}

/** `breaker`: short for one that stands for the provider. */
export const breaker =
  (hosted: Policy.Policy): Decoder<ReadonlyArray<BreakerConfig>> =>
  (at) => {
    const found = struct({ policy: withDefault(policy, hosted), mode: optional(mode) }, "a breaker")(at)
    return found === undefined ? undefined : [{ key: "provider", ...found }]
  }

export const breakers = (hosted: Policy.Policy): Decoder<ReadonlyArray<BreakerConfig>> => {
  const one = struct(
    {
      key: required(literal("key of a breaker", ...breakerKeys), `write one of ${list(breakerKeys)}`),
      policy: withDefault(policy, hosted),
      mode: optional(mode)
    },
    "a breaker"
  )
  return (at) => {
    const found = array(one, "breakers", { min: 1 })(at)
    const keys = (Cursor.items(at) ?? []).map((item) => {
      const entry = Cursor.entries(item)?.find(({ key }) => key === "key")
      return { entry, key: entry === undefined ? undefined : Cursor.scalar(entry.value) }
    })
    let good = found !== undefined
    for (const [index, { entry, key }] of keys.entries()) {
      if (entry === undefined || keys.findIndex((each) => each.key === key) === index) continue
      Cursor.fault(entry.value, `a second breaker with the key ${String(key)}; keep one of them`)
      good = false
    }
    if (keys.length > 0 && keys.every(({ key }) => key !== "provider")) {
      Cursor.fault(
        at,
        'one of the breakers must have the key "provider": it takes what concerns no single model or host'
      )
      good = false
    }
    return good ? found : undefined
  }
}

/** The name of a provider's breaker: no two are alike, because a provider's name holds neither colon nor space. */
export const breakerName = (key: BreakerKey, provider: string, upstream: string): string =>
  key === "provider" ? provider : key === "provider:model" ? `${provider}:${upstream}` : `${provider} (host)`
