import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import { describe, expect, it } from "vitest"
import * as Config from "../src/Config.js"

const good = `server: { host: 127.0.0.1, port: 8787 }
providers:
  - { name: primary, kind: openai-compatible, baseUrl: "http://127.0.0.1:9001/v1", apiKey: "\${PRIMARY_KEY}", breaker: { policy: hosted } }
  - { name: backup, kind: openai-compatible, baseUrl: "http://127.0.0.1:9002/v1", breaker: { policy: { trip: { _tag: Consecutive, failureThreshold: 5 } } } }
models:
  - { name: gpt-4o, provider: primary, upstream: gpt-4o-2024-08-06, fallbackChain: [llama] }
  - { name: llama, provider: backup }
fallback: { maxDepth: 1, on: [circuit_open, server_error, overloaded, timeout, network_error, rate_limit], surface: primary }
`
const key = "sk-canary-0123456789"
const reference = "$" + "{PRIMARY_KEY}"
const env = { PRIMARY_KEY: key }

const faults = (text: string, variables: Record<string, string> = env): ReadonlyArray<Config.Fault> => {
  const result = Config.decode(text, { env: variables })
  return Either.isLeft(result) ? result.left.faults : []
}

const config = (text: string, variables: Record<string, string> = env): Config.GatewayConfig =>
  Either.getOrThrowWith(Config.decode(text, { env: variables }), (error) => error)

/** A model that says nothing of its own. */
const bare = { contextWindow: undefined, timeouts: {}, retries: undefined }

describe("a good configuration", () => {
  it("is read with its defaults, the key redacted", () => {
    const read = config(good)
    expect(read.server).toEqual({
      host: "127.0.0.1",
      port: 8787,
      drain: 30_000,
      holdBack: 25_000,
      bodyLimit: 10_485_760
    })
    expect(read.providers.map((provider) => provider.baseUrl)).toEqual([
      "http://127.0.0.1:9001/v1",
      "http://127.0.0.1:9002/v1"
    ])
    expect(read.providers[0]?.breakers[0]?.policy.trip._tag).toBe("AnyOf")
    expect(read.providers[1]?.breakers[0]?.policy.trip).toMatchObject({ _tag: "Consecutive", failureThreshold: 5 })
    expect(read.models).toEqual([
      { ...bare, name: "gpt-4o", provider: "primary", upstream: "gpt-4o-2024-08-06", fallbackChain: ["llama"] },
      { ...bare, name: "llama", provider: "backup", upstream: "llama", fallbackChain: [] }
    ])
    expect(read.fallback.surface).toBe("primary")
    const secret = read.providers[0]?.apiKey
    expect(secret && Redacted.value(secret)).toBe(key)
    expect(JSON.stringify(read)).not.toContain(key)
  })

  it("has the defaults of its preset, and of fallback's own preset over it", () => {
    const read = config(`${good.replace(/fallback:.*\n/, "")}preset: ibex\n`)
    expect(read.headers.prefix).toBe("X-IBEX-Provider")
    expect(read.retryAfter).toBe("cooldown")
    expect(read.fallback.never).toEqual(["4xx"])
    const omni = config(
      good.replace(/fallback:.*\n/, "fallback: { preset: nrLlm }\n").replaceAll(/, breaker: .*/g, " }") +
        "preset: omniRoute\n"
    )
    expect(omni.fallback.surface).toBe("exhausted")
    expect(omni.dedupe?.window).toBe(5000)
    expect(omni.providers[0]?.breakers[0]?.policy.cooldown.base).toBe(30_000)
    expect(config(`${good}preset: omniRoute\ndedupe: false\n`).dedupe).toBeUndefined()
  })

  it("reads all there is to say of a call's way", () => {
    const keyHash = `sha256:${"0a".repeat(32)}`
    const read =
      config(`${good.replace("host: 127.0.0.1", "host: 0.0.0.0").replace("policy: hosted", "policy: nrLlm")}clients: [{ org: acme, keyHash: "${keyHash}" }]
policies: [{ org: "*", model: "gpt-*", allow: true, fallbackChain: [llama] }, { allow: false }]
idempotency: { ttl: "1 hour", lease: "9 minutes", wait: 0, store: success }
cache: { enabled: true, ttl: "5 minutes" }
budgets: [{ org: acme, window: "1 day", usd: 50.5 }]
headers: { prefix: X-Mine }
retryAfter: cooldown
dedupe: { window: 1 second }
prices: { llama: { input: 0.1, output: 0 } }
`)
    expect(read.clients).toEqual([{ org: "acme", keyHash }])
    expect(read.policies).toEqual([
      { org: "*", model: "gpt-*", allow: true, fallbackChain: ["llama"] },
      { org: "*", model: "*", allow: false, fallbackChain: [] }
    ])
    expect(read.idempotency).toEqual({ ttl: 3_600_000, lease: 540_000, wait: 0, store: "success" })
    expect(read.cache).toEqual({ enabled: true, ttl: 300_000 })
    expect(read.budgets).toEqual([{ org: "acme", window: 86_400_000, usd: 50.5 }])
    expect(read.dedupe).toEqual({ window: 1000, networkWindow: 10_000, successes: false, maxEntries: 10_000 })
    expect(read.prices).toEqual({ llama: { input: 0.1, output: 0 } })
  })

  it("needs no more than providers and models", () => {
    const read = config(`providers: [{ name: a, kind: openai-compatible, baseUrl: "http://127.0.0.1:1/v1/" }]
models: [{ name: m, provider: a }]`)
    expect(read.server.port).toBe(8787)
    expect(read.providers[0]?.baseUrl).toBe("http://127.0.0.1:1/v1")
    expect(read.fallback.maxDepth).toBe(1)
  })

  it("takes anchors, durations, sizes, and numbers from variables", () => {
    const read = config(
      `server: { port: "\${PORT}", drain: 5 seconds, bodyLimit: 1 MiB }
providers:
  - { name: a, kind: openai-compatible, baseUrl: "\${URL}", breaker: &shared { policy: nrLlm } }
  - { name: b, kind: openai-compatible, baseUrl: "\${URL}", breaker: *shared }
models: [{ name: m, provider: a, fallbackChain: [n, "", n] }, { name: n, provider: b }]`,
      { PORT: "9000", URL: "http://127.0.0.1:1" }
    )
    expect(read.server).toMatchObject({ port: 9000, drain: 5000, bodyLimit: 1_048_576 })
    expect(read.providers[1]?.breakers).toEqual(read.providers[0]?.breakers)
    expect(read.providers[1]?.breakers[0]?.policy.halfOpen.probeTimeout).toBe(30_000)
    expect(read.models[0]?.fallbackChain).toEqual(["n"])
  })

  it("takes a dollar sign that is meant", () => {
    const read = config(good.replace(reference, `$$$${reference}`), {})
    const secret = read.providers[0]?.apiKey
    expect(secret && Redacted.value(secret)).toBe(reference)
  })
})

describe("a fault names its line, its key and the fix", () => {
  const cases: ReadonlyArray<[string, (text: string) => string, number, string, RegExp]> = [
    ["an unknown key", (t) => t.replace("port: 8787", "prot: 8787"), 1, "server.prot", /unknown key.*"port"/],
    ["an unknown section", (t) => `${t}modells: []\n`, 9, "modells", /unknown key.*"models"/],
    ["a missing section", (t) => t.slice(0, t.indexOf("models:")), 1, "models", /is missing; list at least one model/],
    ["a missing key", (t) => t.replace("name: llama, ", ""), 7, "models[1].name", /is missing/],
    ["an empty list", (t) => `${t.slice(0, t.indexOf("models:"))}models: []`, 5, "models", /at least 1/],
    [
      "a list that is none",
      (t) => `${t.slice(0, t.indexOf("models:"))}models: { a: b }`,
      5,
      "models",
      /list of models/
    ],
    ["a port out of range", (t) => t.replace("8787", "70000"), 1, "server.port", /0 to 65535/],
    ["a port that is text", (t) => t.replace("8787", "http"), 1, "server.port", /whole number/],
    ["a fractional port", (t) => t.replace("8787", "80.5"), 1, "server.port", /whole number/],
    ["a host with a scheme", (t) => t.replace("host: 127.0.0.1", 'host: "http://x"'), 1, "server.host", /bare address/],
    [
      "an address that others reach, without clients",
      (t) => t.replace("host: 127.0.0.1", "host: 0.0.0.0"),
      1,
      "server.host",
      /everyone could use the providers' keys: list clients/
    ],
    ["an unknown preset", (t) => `${t}preset: ibx\n`, 9, "preset", /one of recommended, ibex, .*did you mean "ibex"/],
    [
      "a short admin token",
      (t) => t.replace("port: 8787", "port: 8787, adminToken: secret"),
      1,
      "server.adminToken",
      /16/
    ],
    [
      "a key where its hash belongs",
      (t) => `${t}clients: [{ org: acme, keyHash: "sk-switchgear-canary" }]\n`,
      9,
      "clients[0].keyHash",
      /"switchgear keys add ORG" makes/
    ],
    [
      "one key of two clients",
      (t) => {
        const keyHash = `sha256:${"a".repeat(64)}`
        return `${t}clients: [{ org: acme, keyHash: "${keyHash}" },\n  { org: beta, keyHash: "${keyHash}" }]\n`
      },
      10,
      "clients[1]",
      /same key/
    ],
    [
      "a policy's chain of nine",
      (t) => `${t}policies: [{ org: "*", model: "*", fallbackChain: [${"llama,".repeat(9)}] }]\n`,
      9,
      "policies[0].fallbackChain",
      /at most 8/
    ],
    [
      "a policy's chain to an unknown model",
      (t) => `${t}policies: [{ model: "gpt-*", fallbackChain: [claude] }]\n`,
      9,
      "policies[0].fallbackChain[0]",
      /no model "claude"/
    ],
    ["no policies", (t) => `${t}policies: []\n`, 9, "policies", /at least 1/],
    [
      "a policy that is no yes or no",
      (t) => `${t}policies: [{ allow: "no" }]\n`,
      9,
      "policies[0].allow",
      /true or false/
    ],
    ["a budget of nothing", (t) => `${t}budgets: [{ window: 1 day }]\n`, 9, "budgets[0]", /give it usd or tokens/],
    ["a budget below nothing", (t) => `${t}budgets: [{ window: 1 day, usd: -1 }]\n`, 9, "budgets[0].usd", /at least 0/],
    ["a price that is half", (t) => `${t}prices: { llama: { input: 1 } }\n`, 9, "prices.llama.output", /is missing/],
    ["a header that is none", (t) => `${t}headers: { prefix: "X Y" }\n`, 9, "headers.prefix", /letters and digits/],
    ["a lease of nothing", (t) => `${t}idempotency: { lease: 0 }\n`, 9, "idempotency.lease", /above 0/],
    ["another way to wait", (t) => `${t}retryAfter: never\n`, 9, "retryAfter", /remaining, cooldown/],
    [
      "dedupe under a rate",
      (t) => `${t}dedupe: true\n`,
      9,
      "dedupe",
      /rate that the breaker of provider "primary" trips by/
    ],
    ["dedupe that is a word", (t) => `${t}dedupe: on\n`, 9, "dedupe", /true, false, or a mapping/],
    ["an empty section", (t) => t.replace(/server:.*/, "server:"), 1, "server", /mapping of host, port/],
    [
      "a URL that is none",
      (t) => t.replace("http://127.0.0.1:9001/v1", "127.0.0.1/v1"),
      3,
      "providers[0].baseUrl",
      /http or https/
    ],
    [
      "a URL of another scheme",
      (t) => t.replace("http://127.0.0.1:9001", "ftp://127.0.0.1"),
      3,
      "providers[0].baseUrl",
      /http or https/
    ],
    ["a URL with a password", (t) => t.replace("http://127", "http://u:pw@127"), 3, "providers[0].baseUrl", /apiKey/],
    [
      "an unknown kind",
      (t) => t.replace("openai-compatible", "openai-compatable"),
      3,
      "providers[0].kind",
      /one of openai, .*did you mean "openai-compatible"/
    ],
    ["a missing kind", (t) => t.replace("kind: openai-compatible, ", ""), 3, "providers[0].kind", /write one of/],
    ["a key with a line break", (t) => t.replace(reference, "a\\nb"), 3, "providers[0].apiKey", /header/],
    ["a key that is a number", (t) => t.replace(`"${reference}"`, "1234"), 3, "providers[0].apiKey", /as text/],
    [
      "an unset variable",
      (t) => t.replace("PRIMARY_KEY", "OTHER_KEY"),
      3,
      "providers[0].apiKey",
      /OTHER_KEY is not set; .*export OTHER_KEY/
    ],
    [
      "an unknown preset",
      (t) => t.replace("policy: hosted", "policy: hosted2"),
      3,
      "providers[0].breaker.policy",
      /no preset.*"hosted"/
    ],
    [
      "a preset that is inherited",
      (t) => t.replace("policy: hosted", "policy: toString"),
      3,
      "providers[0].breaker.policy",
      /no preset/
    ],
    [
      "a bad number in a policy",
      (t) => t.replace("failureThreshold: 5", "failureThreshold: 0"),
      4,
      "providers[1].breaker.policy.trip.failureThreshold",
      /./
    ],
    [
      "an unknown key in a policy",
      (t) => t.replace("failureThreshold: 5", "failureTreshold: 5"),
      4,
      "providers[1].breaker.policy.trip.failureTreshold",
      /./
    ],
    [
      "a policy that is a list",
      (t) => t.replace("policy: hosted", "policy: [hosted]"),
      3,
      "providers[0].breaker.policy",
      /preset or a policy/
    ],
    [
      "an unknown provider",
      (t) => t.replace("provider: primary", "provider: primry"),
      6,
      "models[0].provider",
      /no provider "primry" \(did you mean "primary"\?\)/
    ],
    [
      "a chain to an unknown model",
      (t) => t.replace("[llama]", "[lama]"),
      6,
      "models[0].fallbackChain[0]",
      /no model "lama" \(did you mean "llama"\?\)/
    ],
    [
      "a chain of nine",
      (t) => t.replace("[llama]", `[${"llama,".repeat(9)}]`),
      6,
      "models[0].fallbackChain",
      /at most 8/
    ],
    [
      "a provider named twice",
      (t) => t.replace("name: backup", "name: primary"),
      4,
      "providers[1].name",
      /already named in line 3/
    ],
    [
      "a model named twice",
      (t) => t.replace("name: llama", "name: gpt-4o"),
      7,
      "models[1].name",
      /already named in line 6/
    ],
    [
      "a model's name with a space",
      (t) => t.replace("name: llama", "name: my llama"),
      7,
      "models[1].name",
      /visible ASCII/
    ],
    ["an unknown trigger", (t) => t.replace("circuit_open", "circut_open"), 8, "fallback.on[0]", /./],
    ["a depth of zero", (t) => t.replace("maxDepth: 1", "maxDepth: 0"), 8, "fallback.maxDepth", /./],
    ["a key given twice", (t) => t.replace("port: 8787", "port: 8787, port: 8788"), 1, "", /stands twice/],
    ["an unclosed brace", (t) => t.replace("port: 8787 }", "port: 8787"), 2, "", /./],
    ["an alias to nothing", (t) => t.replace("policy: hosted", "policy: *none"), 3, "", /anchor/],
    ["a list instead of a mapping", () => "- a\n", 1, "", /must be the gateway's configuration/],
    ["an empty file", () => "", 1, "", /mapping/]
  ]
  it.each(cases)("%s", (_, change, line, path, message) => {
    const found = faults(change(good))
    expect(found).toContainEqual(
      expect.objectContaining({ line, path, message: expect.stringMatching(message) as unknown as string })
    )
  })

  it("all of them at once, in the order of the file, and no more than there are", () => {
    const text = good
      .replace("port: 8787", "port: -1")
      .replace(reference, reference.replace("PRIMARY_KEY", "A"))
      .replace("policy: hosted", "policy: x")
      .replace("failureThreshold: 5", "failureThreshold: 0")
      .replace("provider: backup", "provider: none")
    expect(faults(text, { SWITCHGEAR_PROVIDER_FALLBACK_MAX_DEPTH: "0" }).map((fault) => fault.path)).toEqual([
      "server.port",
      "providers[0].apiKey",
      "providers[0].breaker.policy",
      "providers[1].breaker.policy.trip.failureThreshold",
      "models[1].provider",
      "SWITCHGEAR_PROVIDER_FALLBACK_MAX_DEPTH"
    ])
  })

  it("a fault inside a list of core's has the line of its item", () => {
    const text = good.replace(/fallback: .*/, "fallback:\n  on:\n    - timeout\n    - timout\n")
    expect(faults(text)).toMatchObject([{ line: 11, path: "fallback.on[1]" }])
  })

  it("a fault in a provider does not make its name unknown", () => {
    expect(faults(good.replace("policy: hosted", "policy: x"))).toHaveLength(1)
  })

  it("an empty variable is missing", () => {
    expect(faults(good, { PRIMARY_KEY: "" })[0]?.message).toMatch(/PRIMARY_KEY is empty/)
  })

  it("no key and no address stands in any message", () => {
    const literal = good.replace(reference, key)
    for (const [, change] of cases) {
      const result = Config.decode(change(literal), { env })
      const shown = Either.isLeft(result) ? result.left.message : ""
      expect(shown).not.toContain(key)
      expect(shown).not.toContain("127.0.0.1:9001")
    }
    // Broken right after the key: the parser's own message would quote it.
    for (const broken of [
      literal.replace(`"${key}"`, `"${key}" "${key}"`),
      literal.replace(`"${key}"`, `"${key}`),
      literal.replace(`"${key}"`, `\t*${key}`)
    ]) {
      const result = Config.decode(broken, { env })
      expect(Either.isLeft(result) && !result.left.message.includes(key)).toBe(true)
    }
  })
})

describe("the environment over the file", () => {
  const variable = (name: string) => `SWITCHGEAR_PROVIDER_CIRCUIT_BREAKER_${name}`

  it("overrides the rules that a policy has", () => {
    const read = config(good, {
      ...env,
      [variable("FAILURES")]: "7",
      [variable("WINDOW_SECONDS")]: "60",
      [variable("BUCKET_PERIOD_SECONDS")]: "0.5",
      [variable("MIN_SAMPLES")]: "20",
      [variable("FAILURE_RATE")]: "0.75",
      [variable("COOLDOWN_SECONDS")]: "10",
      SWITCHGEAR_PROVIDER_FALLBACK_MAX_DEPTH: "3"
    })
    expect(read.providers[0]?.breakers[0]?.policy.trip).toMatchObject({
      consecutive: { failureThreshold: 7 },
      rolling: { window: 60_000, bucketPeriod: 500, minSamples: 20, failureRateThreshold: 0.75 }
    })
    expect(read.providers[1]?.breakers[0]?.policy.trip).toMatchObject({ _tag: "Consecutive", failureThreshold: 7 })
    expect(read.providers.map((provider) => provider.breakers[0]?.policy.cooldown.base)).toEqual([10_000, 10_000])
    expect(read.fallback.maxDepth).toBe(3)
  })

  const names = [
    "FAILURES",
    "WINDOW_SECONDS",
    "BUCKET_PERIOD_SECONDS",
    "MIN_SAMPLES",
    "FAILURE_RATE",
    "COOLDOWN_SECONDS"
  ]
  const bad = ["0", "-1", "NaN", "", " ", "five", "1e3", "Infinity", "0x10", "5s"]
  it.each([...names.map(variable), "SWITCHGEAR_PROVIDER_FALLBACK_MAX_DEPTH"])(
    "%s: a bad value stops the start",
    (name) => {
      for (const value of bad) {
        const found = faults(good, { ...env, [name]: value })
        expect([value, found.map((fault) => fault.path)]).toEqual([value, [name]])
      }
    }
  )

  it("counts are whole, a rate is at most 1, times are whole milliseconds", () => {
    for (const [name, value] of [
      ["FAILURES", "2.5"],
      ["MIN_SAMPLES", "1.5"],
      ["FAILURE_RATE", "1.01"],
      ["COOLDOWN_SECONDS", "0.0001"]
    ] as const) {
      expect(faults(good, { ...env, [variable(name)]: value }).map((fault) => fault.path)).toEqual([variable(name)])
    }
  })

  it("a window that is no multiple of the bucket period names both variables", () => {
    const [found] = faults(good, { ...env, [variable("WINDOW_SECONDS")]: "20" })
    expect(found?.path).toBe(`${variable("WINDOW_SECONDS")} and ${variable("BUCKET_PERIOD_SECONDS")}`)
    expect(found?.message).toContain('provider "primary"')
  })

  it("a combination that the policy's degradation forbids names the variable", () => {
    const [found] = faults(good, { ...env, [variable("FAILURE_RATE")]: "0.2" })
    expect(found?.path).toContain(variable("FAILURE_RATE"))
  })

  it("a misspelt variable is refused with the name that was meant", () => {
    const [found] = faults(good, { ...env, [variable("FAILURE")]: "5" })
    expect(found?.message).toContain(variable("FAILURES"))
  })
})
