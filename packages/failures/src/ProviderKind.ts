/**
 * Whose answers we read. The kind picks the rows of the tables; it says nothing about the wire format in use.
 *
 * @since 0.1.0
 */

/**
 * The vendors whose answers have rows of their own. Everyone else who speaks OpenAI's format is `openai-compatible`.
 *
 * @since 0.1.0
 * @category models
 */
export type ProviderKind = (typeof all)[number]

/**
 * Every provider kind, in the order of the tables.
 *
 * @since 0.1.0
 * @category models
 * @example
 * ```ts
 * import * as ProviderKind from "@switchgear/failures/ProviderKind"
 * import * as assert from "node:assert"
 *
 * assert.ok(ProviderKind.all.every(ProviderKind.isProviderKind))
 * ```
 */
export const all = [
  "openai",
  "azure-openai",
  "anthropic",
  "gemini",
  "bedrock",
  "mistral",
  "groq",
  "openrouter",
  "openai-compatible",
  "scripted"
] as const

/** Names people use for vendors whose answers are read with another kind's rows. */
const aliases: ReadonlyMap<string, ProviderKind> = new Map([
  ["azure", "azure-openai"],
  ["google", "gemini"],
  ["vertex", "gemini"],
  ["vertex-ai", "gemini"],
  ["aws-bedrock", "bedrock"],
  ...[
    "cerebras",
    "cohere",
    "deepseek",
    "fireworks",
    "llama.cpp",
    "moonshot",
    "ollama",
    "scaleway",
    "sglang",
    "tgi",
    "together",
    "vllm",
    "xai"
  ].map((name) => [name, "openai-compatible"] as const)
])

/**
 * Whether a value names a provider kind; what vendors are called otherwise is for `fromName`.
 *
 * @example
 * ```ts
 * import * as ProviderKind from "@switchgear/failures/ProviderKind"
 * import * as assert from "node:assert"
 *
 * assert.ok(ProviderKind.isProviderKind("groq"))
 * assert.ok(!ProviderKind.isProviderKind("ollama"))
 * ```
 *
 * @since 0.1.0
 * @category guards
 */
export const isProviderKind = (u: unknown): u is ProviderKind => all.some((kind) => kind === u)

/**
 * The kind whose rows fit a vendor's name, or `undefined` for a name nobody here knows.
 *
 * @example
 * ```ts
 * import * as ProviderKind from "@switchgear/failures/ProviderKind"
 * import * as assert from "node:assert"
 *
 * assert.strictEqual(ProviderKind.fromName("vertex"), "gemini")
 * assert.strictEqual(ProviderKind.fromName("ollama"), "openai-compatible")
 * assert.strictEqual(ProviderKind.fromName("__proto__"), undefined)
 * ```
 *
 * @since 0.1.0
 * @category constructors
 */
export const fromName = (name: string): ProviderKind | undefined => (isProviderKind(name) ? name : aliases.get(name))
