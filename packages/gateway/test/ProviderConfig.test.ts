import * as Either from "effect/Either"
import { describe, expect, it } from "vitest"
import * as Config from "../src/Config.js"

const decode = (providers: string, models = "[{ name: m, provider: a }]", env: Record<string, string> = {}) =>
  Config.decode(`providers:\n  - ${providers}\nmodels: ${models}\n`, { env })

const config = (providers: string, models?: string, env?: Record<string, string>): Config.GatewayConfig =>
  Either.getOrThrowWith(decode(providers, models, env), (error) => error)

const faults = (providers: string, models?: string): ReadonlyArray<Config.Fault> => {
  const result = decode(providers, models)
  return Either.isLeft(result) ? result.left.faults : []
}

describe("kinds of provider", () => {
  it("know where their API is, but for those that are somewhere else for everyone", () => {
    for (const [kind, address] of [
      ["openai", "https://api.openai.com/v1"],
      ["anthropic", "https://api.anthropic.com"],
      ["gemini", "https://generativelanguage.googleapis.com/v1beta/openai"],
      ["openrouter", "https://openrouter.ai/api/v1"],
      ["scripted", undefined]
    ] as const) {
      expect([kind, config(`{ name: a, kind: ${kind} }`).providers[0]?.baseUrl]).toEqual([kind, address])
    }
    for (const kind of ["azure-openai", "openai-compatible"]) {
      const [found] = faults(`{ name: a, kind: ${kind} }`)
      expect(found).toMatchObject({ line: 2, path: "providers[0].baseUrl" })
      expect(found?.message).toMatch(/is missing; give its address, such as "http/)
    }
  })

  it("an address given goes before", () => {
    expect(config('{ name: a, kind: anthropic, baseUrl: "http://127.0.0.1:1/v1" }').providers[0]?.baseUrl).toBe(
      "http://127.0.0.1:1/v1"
    )
  })

  it.each([
    ["apiVersion of another kind", "kind: openai, apiVersion: v1", "providers[0].apiVersion", /only.*azure-openai/],
    ["a script of another kind", "kind: openai, script: [ok]", "providers[0].script", /only.*scripted/],
    [
      "an address of a script",
      'kind: scripted, baseUrl: "http://127.0.0.1"',
      "providers[0].baseUrl",
      /takes no baseUrl/
    ],
    ["an unknown step", "kind: scripted, script: [okay]", "providers[0].script[0]", /one of ok/],
    ["a step of another shape", "kind: scripted, script: [{ fail: 1 }]", "providers[0].script[0]", /must be ok, hang/],
    [
      "a status that is no error",
      "kind: scripted, script: [{ status: 200 }]",
      "providers[0].script[0].status",
      /400 to 599/
    ],
    [
      "a drip without a pace",
      "kind: scripted, script: [{ drip: [a] }]",
      "providers[0].script[0].every",
      /say how far apart/
    ],
    ["too many retries", "kind: openai, retries: { max: 11 }", "providers[0].retries.max", /0 to 10/],
    ["retries without a number", "kind: openai, retries: { base: 1 }", "providers[0].retries.max", /say how many/],
    ["a base above the cap", "kind: openai, retries: { max: 1, base: 2, cap: 1 }", "providers[0].retries", /longer/],
    ["no calls at one time", "kind: openai, maxConcurrent: 0", "providers[0].maxConcurrent", /from 1/],
    ["no limit of a known name", "kind: openai, timeouts: { first: 1 }", "providers[0].timeouts.first", /unknown key/],
    ["no time at all", "kind: openai, timeouts: { connect: 0 }", "providers[0].timeouts.connect", /above 0/],
    [
      "breaker and breakers",
      "kind: openai, breaker: {}, breakers: [{ key: provider }]",
      "providers[0].breaker",
      /keep one/
    ],
    ["no breakers", "kind: openai, breakers: []", "providers[0].breakers", /at least 1/],
    [
      "a breaker without a key",
      "kind: openai, breakers: [{ policy: hosted }]",
      "providers[0].breakers[0].key",
      /missing/
    ],
    [
      "a breaker of a model",
      'kind: openai, breakers: [{ key: "provider:modl" }]',
      "providers[0].breakers[0].key",
      /did you mean "provider:model"/
    ],
    [
      "only a model's breaker",
      'kind: openai, breakers: [{ key: "provider:model" }]',
      "providers[0].breakers",
      /one of the breakers must/
    ],
    [
      "a breaker given twice",
      "kind: openai, breakers: [{ key: provider }, { key: provider }]",
      "providers[0].breakers[1].key",
      /a second/
    ],
    [
      "a policy of a breaker",
      "kind: openai, breakers: [{ key: provider, policy: x }]",
      "providers[0].breakers[0].policy",
      /no preset/
    ]
  ])("%s is refused at its line", (_, fields, path, message) => {
    const found = faults(`{ name: a, ${fields} }`)
    expect(found).toContainEqual(
      expect.objectContaining({ line: 2, path, message: expect.stringMatching(message) as unknown as string })
    )
  })

  it("a name with a colon is refused, because breakers are named with one", () => {
    expect(faults('{ name: "a:b", kind: openai }', '[{ name: m, provider: "a:b" }]')[0]).toMatchObject({
      path: "providers[0].name"
    })
  })

  it("everything wrong with a provider is said at once", () => {
    const found = faults("{ name: a, kind: openai, apiVersion: v1, retries: { max: x }, breaker: {}, breakers: [] }")
    expect(found.map(({ path }) => path).sort()).toEqual([
      "providers[0].apiVersion",
      "providers[0].breaker",
      "providers[0].breakers",
      "providers[0].retries.max"
    ])
  })
})

describe("limits, retries, breakers", () => {
  it("are read in the words of the documentation", () => {
    const [read] = config(`name: a
    kind: openai
    timeouts: { connect: "5 seconds", firstOutput: "60 seconds", idle: "60 seconds", total: "10 minutes" }
    retries: { max: 2, base: "500 millis", cap: "30 seconds" }
    maxConcurrent: 100
    breakers: [{ key: provider, policy: hosted }, { key: "provider:model", policy: nrLlm }, { key: "provider:host" }]`).providers
    expect(read?.timeouts).toEqual({ connect: 5000, firstOutput: 60_000, idle: 60_000, total: 600_000 })
    expect(read?.retries).toEqual({ max: 2, base: 500, cap: 30_000 })
    expect(read?.maxConcurrent).toBe(100)
    expect(read?.breakers.map(({ key }) => key)).toEqual(["provider", "provider:model", "provider:host"])
  })

  it("the environment goes over every breaker's policy", () => {
    const env = { SWITCHGEAR_PROVIDER_CIRCUIT_BREAKER_COOLDOWN_SECONDS: "7" }
    const read = config(
      '{ name: a, kind: openai, breakers: [{ key: provider }, { key: "provider:model" }] }',
      undefined,
      env
    )
    expect(read.providers[0]?.breakers.map(({ policy }) => policy.cooldown.base)).toEqual([7000, 7000])
  })

  it("a model has its own, and two names for one model have the same", () => {
    const models = (second: string) =>
      `[{ name: m, provider: a, upstream: u, timeouts: { firstOutput: 10 } }, { name: n, provider: a, upstream: u${second} }]`
    expect(config("{ name: a, kind: openai }", models(", timeouts: { firstOutput: 10 }")).models).toHaveLength(2)
    expect(faults("{ name: a, kind: openai }", models(""))).toMatchObject([{ path: "models[1]" }])
  })
})
