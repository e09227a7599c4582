import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { afterAll, describe, expect, it } from "vitest"
import * as Scenario from "../src/Scenario.js"
import * as Scenarios from "../src/Scenarios.js"
import { base, scenario } from "./support.js"

const folder = mkdtempSync(join(tmpdir(), "switchgear-scenario-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const file = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}

const faults = (input: unknown): ReadonlyArray<string> => {
  const decoded = Scenario.decode(input)
  return Either.isRight(decoded) ? [] : decoded.left.faults.map(({ message, path }) => `${path}: ${message}`)
}

const outage = { kind: "outage", from: 0, to: 1_000 }

describe("a scenario", () => {
  it("fills in what is not said", () => {
    expect(scenario()).toMatchObject({
      duration: 300_000,
      replicas: 1,
      clients: { timeout: 60_000 },
      breakers: { policy: "hosted", per: ["provider"], replicas: "own", enforce: true }
    })
  })

  it.each<[string, Readonly<Record<string, unknown>>, string]>([
    ["a length of nothing", { duration: 0 }, "duration: duration must be at least 1 ms, got 0 ms"],
    [
      "a misspelt unit",
      { duration: "5 minuts" },
      'duration: write whole milliseconds or a duration such as "30 seconds", got "5 minuts"'
    ],
    [
      "an unknown arrival",
      { arrivals: { kind: "poison", rate: 1 } },
      'arrivals.kind: must be one of constant, poisson, bursts, log, got "poison"'
    ],
    [
      "a rate of nothing",
      { arrivals: { kind: "poisson", rate: 0 } },
      "arrivals.rate: rate must be a number above 0, got 0"
    ],
    ["no provider", { providers: [] }, "providers"],
    [
      "a model of nobody",
      { models: [{ name: "m", provider: "x" }] },
      'models.0.provider: there is no provider "x"; there are "openai", "anthropic"'
    ],
    [
      "a chain to nowhere",
      { models: [{ name: "m", provider: "openai", fallbackChain: ["y"] }] },
      'models.0.fallbackChain.0: there is no model "y"; there are "m"'
    ],
    [
      "a second provider of a name",
      { providers: [{ name: "openai" }, { name: "openai" }, { name: "anthropic" }] },
      'providers.1.name: a second "openai": give it another name'
    ],
    [
      "a phase that ends before it begins",
      { providers: [{ name: "openai", phases: [{ ...outage, from: 2_000 }] }, { name: "anthropic" }] },
      "providers.0.phases.0.to: must be after from (2000 ms), got 1000 ms"
    ],
    [
      "a phase after the end",
      { providers: [{ name: "openai", phases: [{ ...outage, from: 400_000, to: 500_000 }] }, { name: "anthropic" }] },
      "providers.0.phases.0.from: is after the end of the run (300000 ms)"
    ],
    [
      "a phase of another's model",
      { providers: [{ name: "openai", phases: [{ ...outage, only: { model: "o1" } }] }, { name: "anthropic" }] },
      'providers.0.phases.0.only.model: there is no upstream model "o1"; there are "gpt-4o"'
    ],
    [
      "a phase of an unknown kind",
      { providers: [{ name: "openai", phases: [{ ...outage, kind: "rain" }] }, { name: "anthropic" }] },
      "providers.0.phases.0.kind: must be one of outage, brown-out, slow, hang, rate-limit, quota, flapping, bad-key"
    ],
    [
      "a share beyond all",
      { providers: [{ name: "openai", noise: { rate: 2 } }, { name: "anthropic" }] },
      "providers.0.noise.rate: rate is a share: write a number from 0 to 1, got 2"
    ],
    [
      "quantiles in the wrong order",
      { providers: [{ name: "openai", latency: { p50: 9, p95: 3 } }, { name: "anthropic" }] },
      "providers.0.latency.p95: must not be below p50"
    ],
    [
      "a preset that does not exist",
      { breakers: { policy: "strict" } },
      'breakers.policy: no preset is called "strict"'
    ],
    [
      "a policy's own fault",
      { breakers: { policy: { trip: { _tag: "Consecutive", failureThreshold: 0 } } } },
      "breakers.policy.trip.failureThreshold: must be a whole number of at least 1"
    ],
    ["a fallback's own fault", { fallback: { maxDepth: -1 } }, "fallback.maxDepth"],
    ["an unknown key", { provider: [] }, "provider: is no key here: take it out, or mend its spelling"]
  ])("names the field and the fix: %s", (_, over, expected) => {
    const found = faults({ ...base, ...over })
    expect(found.filter((fault) => fault.startsWith(expected))).toHaveLength(1)
    expect(found.filter((fault) => fault.includes("Expected"))).toEqual([])
  })

  it("tells all faults at once, and those of YAML by their line", () => {
    expect(faults({ name: "x" }).length).toBeGreaterThan(4)
    const decoded = Scenario.fromYaml("name: x\nduration: [", { source: "my.yaml" })
    expect(Either.isLeft(decoded) && decoded.left.message).toMatch(/^1 fault in my.yaml:\n {2}line 2: /)
  })

  it("reads a recorded log from beside it, in its own order and from its first call on", async () => {
    file("calls.jsonl", '{"at":"2026-01-01T00:00:02Z","requestedModel":"gpt-4o"}\n\n{"at":"2026-01-01T00:00:01Z"}\n')
    const path = file("logged.yaml", JSON.stringify({ ...base, arrivals: { kind: "log", file: "calls.jsonl" } }))
    const loaded = await Effect.runPromise(Scenario.load(path))
    expect(loaded.arrivals).toEqual({ kind: "log", calls: [{ at: 0 }, { at: 1_000, model: "gpt-4o" }] })
  })

  it("names the line of a log that cannot be read, and the log that is not there", async () => {
    file("broken.jsonl", '{"at":1}\n{"when":2}\nno json\n')
    const load = (log: string) =>
      Effect.runPromise(
        Effect.flip(
          Scenario.load(file("broken.yaml", JSON.stringify({ ...base, arrivals: { kind: "log", file: log } })))
        )
      )
    expect((await load("broken.jsonl")).message).toMatch(/line 3: is not JSON.*line 2: at is missing/s)
    expect((await load("none.jsonl")).message).toMatch(/arrivals.file: there is no such file/)
  })
})

describe("the named scenarios", () => {
  it("are at least ten", () => expect(Scenarios.names.length).toBeGreaterThanOrEqual(10))

  it.each(Scenarios.names)("%s is well written, and says where it comes from and what it teaches", async (name) => {
    const found = await Effect.runPromise(Scenarios.get(name))
    expect(found.name).toBe(name)
    expect(found.incident.length).toBeGreaterThan(20)
    expect(found.lesson.length).toBeGreaterThan(20)
  })
})
