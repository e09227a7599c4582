import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { file, runLong as run } from "./support.js"

const scenario = file(
  "friday.yaml",
  `name: friday
description: The primary is down for a minute.
duration: 3 minutes
arrivals: { kind: poisson, rate: 4 }
providers:
  - { name: openai, phases: [{ kind: outage, from: 1 minute, to: 2 minutes }] }
  - { name: anthropic }
models:
  - { name: gpt-4o, provider: openai, fallbackChain: [claude-sonnet-4-5] }
  - { name: claude-sonnet-4-5, provider: anthropic }
replicas: 2
breakers: { replicas: shared }
`
)

describe("switchgear simulate", { timeout: 120_000 }, () => {
  it("lists the scenarios that come with it", async () => {
    const { status, stdout } = await run("simulate")
    expect(status).toBe(0)
    for (const name of ["total-outage", "brown-out", "region-loss"]) expect(stdout).toContain(name)
  })

  it("gives the same bytes in two processes, shared breakers and jitter included", async () => {
    const args = ["simulate", scenario, "-p", "hosted", "-p", "none", "--runs", "2", "--seed", "5", "--json"]
    const [one, other] = await Promise.all([run(...args), run(...args)])
    expect([one.status, one.stderr]).toEqual([0, ""])
    expect(one.stdout.length).toBeGreaterThan(1_000)
    expect(other.stdout).toBe(one.stdout)
    const [hosted, none] = JSON.parse(one.stdout) as ReadonlyArray<Record<string, unknown>>
    expect([hosted?.["policy"], none?.["policy"], hosted?.["seed"], hosted?.["runs"]]).toEqual(["hosted", "none", 5, 2])
  })

  it("shows a row a figure and a column a policy, and no progress in a pipe", async () => {
    const { stderr, stdout } = await run("simulate", scenario, "-p", "nrLlm", "-p", "none")
    expect(stderr).toBe("")
    expect(stdout).toMatch(
      /^friday\nThe primary is down for a minute\.\n3 min · 1 run, seed 1 · [\d,]+ calls a run\n[\s\S]*\n +nrLlm +no breaker\n/
    )
    expect(stdout).toMatch(/\navailability +(✓ |≈ )?[\d.]+ % +(✓ |≈ )?[\d.]+ %\n/)
    expect(stdout).not.toContain("\u001b")
  })

  it("writes the reports as a page too, and says before it runs that it could not", async () => {
    const page = file("report.html", "")
    const { status, stdout } = await run("simulate", scenario, "-p", "nrLlm", "--html", page)
    expect([status, stdout.endsWith(`\nThe page is ${page}\n`)]).toEqual([0, true])
    expect(readFileSync(page, "utf8")).toMatch(/^<!doctype html>[\s\S]*<title>friday: nrLlm<[\s\S]*<\/html>\n$/)
    const lost = await run("simulate", scenario, "--html", "./no/such/folder/report.html")
    expect([lost.status, lost.stdout]).toEqual([2, ""])
    expect(lost.stderr).toMatch(/there is no such folder; make it first/)
  })

  it("takes a policy from a file", async () => {
    const policy = file("two.yaml", "trip: { _tag: Consecutive, failureThreshold: 2 }\n")
    const { status, stdout } = await run("simulate", scenario, "-p", policy, "--json")
    expect(status).toBe(0)
    expect(JSON.parse(stdout)[0].transitions[0].reason).toMatchObject({ by: "streak", threshold: 2 })
  })

  it("explains a moment", async () => {
    const { stdout } = await run("simulate", scenario, "-p", "nrLlm", "--explain", "1m30s")
    expect(stdout).toMatch(/^friday at 1m 30s under nrLlm, seed 1\n\nopenai, replica 1: \w+ since 1m/)
    expect(stdout).toMatch(/\(P1\)|\(P5\)/)
    const explained = JSON.parse((await run("simulate", scenario, "-p", "nrLlm", "--explain", "90", "--json")).stdout)
    expect(explained[0].at).toBe(90_000)
  })

  it.each([
    [["simulate", "sunshine"], /there is no scenario "sunshine"; scenarios that come with it:\n {2}total-outage/],
    [["simulate", "./none.yaml"], /there is no such file; check the path/],
    [["simulate", scenario, "-p", "strict"], /--policy strict: is no preset and no file; presets: /],
    [["simulate", scenario, "-p", file("bad.yaml", "trip: { _tag: Consecutive }")], /failureThreshold/],
    [
      ["simulate", file("bad-scenario.yaml", "name: x\nreplicas: 0\n")],
      /replicas: replicas must be a whole number, at least 1, got 0/
    ],
    [["simulate", scenario, "--runs", "0"], /--runs must be at least 1/],
    [["simulate", scenario, "--explain", "1h"], /--explain 1h: write a time of the run .* at most 3m/]
  ])("%j says what is wrong, with exit 2", async (args, message) => {
    const { status, stderr, stdout } = await run(...args)
    expect([status, stdout]).toEqual([2, ""])
    expect(stderr).toMatch(message)
  })
})

describe("switchgear backtest", { timeout: 120_000 }, () => {
  const calls = Array.from({ length: 12 }, (_, index) => ({
    at: index * 1_000,
    target: "openai",
    outcome: index < 3 || index > 7 ? "success" : index < 6 ? "timeout" : "circuit_open",
    latency: 200
  }))
  const log = file("calls.jsonl", calls.map((call) => JSON.stringify(call)).join("\n"))
  const policy = file("three.yaml", "trip: { _tag: Consecutive, failureThreshold: 3 }\n")

  it("shows each target between best and worst, and what it cannot know", async () => {
    const { status, stderr, stdout } = await run("backtest", log, "-p", policy, "-p", "hosted")
    expect([status, stderr]).toEqual([0, ""])
    expect(stdout).toMatch(/three\.yaml\n\n +calls +failed +refused +opens .*\nopenai +12 +3 +2 +1 +/)
    expect(stdout).toMatch(/2 of 12 calls were refused in life and have no outcome/)
    expect(stdout).toMatch(/\nhosted\n/)
    const [report] = JSON.parse((await run("backtest", log, "-p", policy, "--json")).stdout)
    expect(report.targets[0].best.changes[0]).toMatchObject({ at: 5_200, to: "Open" })
  })

  it.each([
    [["backtest", log], /--policy: name at least one policy/],
    [["backtest", log, "-p", "none"], /without a breaker the log is what happens/],
    [["backtest", file("empty.jsonl", ""), "-p", "hosted"], /line 1: the log holds no call/]
  ])("%j says what is wrong, with exit 2", async (args, message) => {
    const { status, stderr } = await run(...args)
    expect(status).toBe(2)
    expect(stderr).toMatch(message)
  })
})
