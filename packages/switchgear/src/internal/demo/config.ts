import { join } from "node:path"

/** The demo's configuration: what a person would write in a file of their own. */

const policy = "{ trip: { _tag: Consecutive, failureThreshold: 3 }, cooldown: { base: 10 seconds } }"

interface Given {
  readonly port: number
  readonly data: string
}

/** One file keeps breakers, telemetry and all: what was open when it ended is open when it starts again. */
const kept = ({ data, port }: Given, name: string): string => `server: { port: ${port} }
store: { kind: sqlite, path: ${JSON.stringify(join(data, `${name}.db`).replaceAll("$", "$$$$"))}, mode: durable }
telemetry: { kind: sqlite, path: ${JSON.stringify(join(data, `${name}.db`).replaceAll("$", "$$$$"))}, retention: 7 days }
`

/** Two scripted providers. */
export const scripted = (given: Given, primary: string, backup: string): string => `${kept(given, "demo")}
providers:
  - { name: primary, kind: openai-compatible, baseUrl: "${primary}", breaker: { policy: ${policy} } }
  - { name: backup, kind: openai-compatible, baseUrl: "${backup}", breaker: { policy: hosted } }
models:
  - { name: demo, provider: primary, fallbackChain: [demo-backup] }
  - { name: demo-backup, provider: backup }
fallback: { maxDepth: 1, budget: 1 }
`

/** OpenAI, with a smaller model to fall back to. */
export const openAi = (given: Given): string => `${kept(given, "openai")}
providers:
  - { name: openai, kind: openai, baseUrl: "\${OPENAI_BASE_URL}", apiKey: "\${OPENAI_API_KEY}", breaker: { policy: hosted } }
models:
  - { name: gpt-4o, provider: openai, fallbackChain: [gpt-4o-mini] }
  - { name: gpt-4o-mini, provider: openai }
`

/** Whether the scripted primary answers its call with this number (from 0): five times it does, then four times not. */
export const primaryAnswers = (call: number): boolean => call % 9 < 5
