import type * as Policy from "@switchgear/core/Policy"
import type * as Redacted from "effect/Redacted"
import { type BreakerConfig, breaker, breakers } from "./breakersSection.js"
import * as Cursor from "./cursor.js"
import { type Decoder, declares, integer, literal, optional, required, struct, text, withDefault } from "./decoder.js"
import { list } from "./faults.js"
import { type RetriesConfig, retries, type TimeoutsConfig, timeouts } from "./limitsSection.js"
import { type ScriptStep, script } from "./scriptSection.js"
import { baseUrl, headerSafe, secret } from "./values.js"

/** What the kinds have of their own: whose wire and errors they are is decided where they are made. */
interface Kind {
  /** Where its API is, if everyone's is there. */
  readonly baseUrl?: string
  /** Why an address has to be given, as an example. */
  readonly example?: string
  /** Keys that only this kind, or only other kinds, take. */
  readonly only?: ReadonlyArray<string>
  readonly without?: ReadonlyArray<string>
}

export const providerKinds = {
  openai: { baseUrl: "https://api.openai.com/v1" },
  "azure-openai": { example: "https://NAME.openai.azure.com", only: ["apiVersion"] },
  anthropic: { baseUrl: "https://api.anthropic.com" },
  gemini: { baseUrl: "https://generativelanguage.googleapis.com/v1beta/openai" },
  openrouter: { baseUrl: "https://openrouter.ai/api/v1" },
  "openai-compatible": { example: "http://127.0.0.1:8000/v1" },
  scripted: { only: ["script"], without: ["baseUrl", "apiKey", "retries"] }
} as const satisfies Readonly<Record<string, Kind>>

export type ProviderKind = keyof typeof providerKinds

const kindNames = Object.keys(providerKinds) as ReadonlyArray<ProviderKind>

export interface ProviderConfig {
  readonly name: string
  readonly kind: ProviderKind
  /** Absent for a scripted one. */
  readonly baseUrl: string | undefined
  readonly apiKey: Redacted.Redacted<string> | undefined
  /** Azure's. */
  readonly apiVersion: string | undefined
  /** What a scripted one does, call by call, over and over. */
  readonly script: ReadonlyArray<ScriptStep> | undefined
  /** ms; limits left out are the provider's defaults. */
  readonly timeouts: TimeoutsConfig
  /** Default: none. */
  readonly retries: RetriesConfig | undefined
  /** Calls at one time (ROUTING F14). Default: no limit. */
  readonly maxConcurrent: number | undefined
  /** One at least, of which one stands for the whole provider. */
  readonly breakers: ReadonlyArray<BreakerConfig>
}

const noColon =
  (decode: Decoder<string>): Decoder<string> =>
  (at) => {
    const value = decode(at)
    return value?.includes(":") === true
      ? Cursor.fault(at, 'must not hold a ":", which parts provider and model in the name of a breaker')
      : value
  }

/** What a kind needs or has no use for, each at its own line. */
const checkKind = (at: Cursor.Cursor): boolean => {
  const entries = Cursor.entries(at) ?? []
  const find = (name: string) => entries.find(({ key }) => key === name)
  const given = find("kind")
  const name = kindNames.find((each) => given !== undefined && each === Cursor.scalar(given.value))
  let good = true
  const fault = (entry: Cursor.Entry, message: string) => {
    at.file.reading.faults.push({ ...entry.keyPlace, message })
    good = false
  }
  const breaker = find("breaker")
  if (breaker !== undefined && find("breakers") !== undefined) {
    fault(breaker, "breaker is short for one entry of breakers; keep one of the two")
  }
  if (name === undefined) return good
  const kind: Kind = providerKinds[name]
  if (kind.example !== undefined && find("baseUrl") === undefined) {
    const path = at.place.path === "" ? "baseUrl" : `${at.place.path}.baseUrl`
    at.file.reading.faults.push({
      ...at.place,
      path,
      message: `is missing; give its address, such as "${kind.example}"`
    })
    good = false
  }
  for (const key of kind.without ?? []) {
    const entry = find(key)
    if (entry !== undefined) fault(entry, `a provider of kind ${name} takes no ${key}; remove it`)
  }
  for (const other of kindNames) {
    const { only = [] }: Kind = providerKinds[other]
    for (const key of only) {
      const entry = find(key)
      if (entry !== undefined && other !== name)
        fault(entry, `only a provider of kind ${other} takes ${key}; remove it`)
    }
  }
  return good
}

export const provider = (hosted: Policy.Policy): Decoder<ProviderConfig> => {
  const fields = struct(
    {
      name: required(noColon(headerSafe(declares("provider"))), "give the provider a name that models refer to"),
      kind: required(literal("kind of provider", ...kindNames), `write one of ${list(kindNames)}`),
      baseUrl: optional(baseUrl),
      apiKey: optional(secret),
      apiVersion: optional(text("a version of Azure's API, such as 2024-10-21 or v1")),
      script: optional(script),
      timeouts: withDefault(timeouts, {}),
      retries: optional(retries),
      maxConcurrent: optional(integer("the most calls at one time", 1, 1_000_000)),
      breaker: optional(breaker(hosted)),
      breakers: optional(breakers(hosted))
    },
    "a provider"
  )
  return (at) => {
    const found = fields(at)
    if (!checkKind(at) || found === undefined) return undefined
    const { breaker, breakers, ...rest } = found
    const kind: Kind = providerKinds[found.kind]
    return {
      ...rest,
      baseUrl: found.baseUrl ?? kind.baseUrl,
      breakers: breakers ?? breaker ?? [{ key: "provider", policy: hosted, mode: undefined }]
    }
  }
}
