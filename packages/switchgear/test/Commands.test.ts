import { createHash } from "node:crypto"
import { readFileSync } from "node:fs"
import * as Policy from "@switchgear/core/Policy"
import { describe, expect, it } from "vitest"
import { file, run, shell, traces } from "./support.js"

const lines = (text: string): ReadonlyArray<string> => text.split("\n").filter((line) => line !== "")

describe("switchgear", () => {
  it("--help and --version are plain text in a pipe", () => {
    const help = run("--help")
    expect(help.status).toBe(0)
    for (const command of ["gateway", "demo", "keys", "replay", "classify", "policy", "simulate", "backtest"])
      expect(help.stdout).toContain(`- ${command}`)
    expect(help.stdout).not.toContain("\u001b")
    expect(run("--version").stdout.trim()).toBe("0.1.0")
  })

  it.each([
    [["nonsense"], /Invalid subcommand/],
    [["replay"], /Missing argument <file>/],
    [["gateway"], /--config/],
    [["gateway", "--confg", "x"], /Did you mean '--config'/]
  ])("%j says what is wrong once, on stderr, with exit 2", (args, message) => {
    const { status, stderr, stdout } = run(...args)
    expect([status, stdout]).toEqual([2, ""])
    expect(stderr).toMatch(message)
    expect(stderr.match(new RegExp(message, "g"))).toHaveLength(1)
    expect(stderr).not.toContain("\u001b")
  })
})

describe("switchgear keys add", () => {
  it("makes a key that no other has, and the line for the configuration with its hash", () => {
    const { status, stdout } = run("keys", "add", "acme")
    const key = /sk-switchgear-[A-Za-z0-9_-]{43}/.exec(stdout)?.[0] ?? ""
    const hash = createHash("sha256").update(key).digest("hex")
    expect(status).toBe(0)
    expect(stdout).toContain(`- { org: "acme", keyHash: "sha256:${hash}" }`)
    expect(stdout.split(key)).toHaveLength(2)
    expect(run("keys", "add", "acme").stdout).not.toContain(key)
  })

  it("refuses an organisation without a name", () => {
    expect(run("keys", "add", " ")).toMatchObject({ status: 2, stdout: "" })
  })
})

describe("switchgear replay", () => {
  const published = `${traces}breaker.json`

  it("passes every published trace", () => {
    const { status, stderr, stdout } = run("replay", published)
    const count = (JSON.parse(readFileSync(published, "utf8")) as ReadonlyArray<unknown>).length
    expect([status, stderr]).toEqual([0, ""])
    expect(stdout).toMatch(new RegExp(`^${count} traces, \\d+ steps: ${count} passed, 0 failed\n$`))
  })

  it("--print shows every step as a line of JSON, in order", () => {
    const { status, stdout } = run("replay", "--print", published)
    const printed = lines(stdout).map((line) => JSON.parse(line) as Record<string, unknown>)
    const source = JSON.parse(readFileSync(published, "utf8")) as ReadonlyArray<{
      id: string
      steps?: ReadonlyArray<unknown>
    }>
    expect(status).toBe(0)
    expect(printed.map((line) => line["id"])).toEqual(source.flatMap(({ id, steps }) => (steps ?? [0]).map(() => id)))
    const allowed = ["id", "step", "at", "do", "state", "permit", "applied", "retryAfter", "until", "invalidPolicy"]
    for (const line of printed) expect(Object.keys(line).filter((key) => !allowed.includes(key))).toEqual([])
  })

  it("the options may stand on either side of the file", () => {
    expect(run("replay", published, "--print").stdout).toBe(run("replay", "--print", published).stdout)
  })

  it("a trace that does not hold: the step, expected and actual, exit 1", () => {
    const policy = { trip: { _tag: "Consecutive", failureThreshold: 1 }, cooldown: { base: 100 } }
    const steps = [
      { at: 0, do: "acquire", call: "a", expect: { permit: true } },
      { at: 5, do: "failure", call: "a", expect: { state: "Closed", until: 105 } }
    ]
    const { status, stderr, stdout } = run("replay", file("bad.json", JSON.stringify([{ id: "wrong", policy, steps }])))
    expect([status, stderr]).toEqual([1, ""])
    expect(stdout).toContain('wrong, step 1 (at 5, failure): state: expected "Closed", got "Open"')
    expect(stdout).toContain("1 traces, 2 steps: 0 passed, 1 failed")
  })

  it.each([
    ["no-such.json", undefined, /no-such\.json: there is no such file/],
    ["text.json", "[{]", /text\.json:1:3: this is not JSON: unexpected "\]"/],
    ["shape.json", '[{"id":"x","policy":{}}]', /0\.steps: steps is missing/]
  ])("%s: names file, place and fix, exit 2", (name, text, message) => {
    const { status, stderr, stdout } = run("replay", text === undefined ? `/${name}` : file(name, text))
    expect([status, stdout]).toEqual([2, ""])
    expect(stderr).toMatch(message)
  })

  it("a reader that leaves early ends it quietly", () => {
    const { status, stderr, stdout } = shell(`$BIN replay --print ${published} | head -n 1`)
    expect([status, stderr, lines(stdout).length]).toEqual([0, "", 1])
  })

  it("a slow reader gets all of a large output", () => {
    const all = lines(run("replay", "--print", published).stdout).length
    expect(shell(`$BIN replay --print ${published} | (sleep 1; wc -l)`).stdout.trim()).toBe(String(all))
  })
})

describe("switchgear classify", () => {
  const published = `${traces}responses.json`

  it("has no mismatch on the published answers", () => {
    const { status, stderr, stdout } = run("classify", published)
    expect([status, stderr]).toEqual([0, ""])
    expect(stdout).toMatch(/^\d+ answers: \d+ as expected, 0 not\n$/)
  })

  it("--print gives a verdict a line", () => {
    const source = JSON.parse(readFileSync(published, "utf8")) as ReadonlyArray<{ id: string }>
    const printed = lines(run("classify", published, "--print").stdout).map(
      (line) => JSON.parse(line) as Record<string, unknown>
    )
    expect(printed.map((line) => line["id"])).toEqual(source.map(({ id }) => id))
    for (const line of printed) expect(Object.keys(line).slice(0, 4)).toEqual(["id", "kind", "scope", "retryAfter"])
  })

  it("a mismatch is named with expected and actual, exit 1; what is no case is refused, exit 2", () => {
    const one = { id: "x", provider: "openai", response: { status: 500, body: "" }, expect: { kind: "auth" } }
    const wrong = run("classify", file("cases.json", JSON.stringify([one])))
    expect(wrong.status).toBe(1)
    expect(wrong.stdout).toContain('x: kind: expected "auth", got "server_error"')
    const refused = run("classify", file("none.json", '[{"id":"x"}]'))
    expect([refused.status, refused.stderr.includes("[0].provider")]).toEqual([2, true])
  })
})

describe("switchgear policy", () => {
  it.each(Object.keys(Policy.presets))("--preset %s: JSON that is a policy again, then words", (name) => {
    const { status, stdout } = run("policy", "--preset", name)
    const end = stdout.indexOf("\n}\n") + 3
    const decoded = Policy.decode(JSON.parse(stdout.slice(0, end)))
    expect([status, decoded._tag]).toEqual([0, "Success"])
    expect(stdout.slice(end)).toMatch(/^\nOpens .*\.\n/)
    expect(stdout.slice(end)).toMatch(/Then rejects every call for /)
  })

  it("a file, as JSON or YAML, is shown with its defaults; --json leaves the words out", () => {
    const path = file("policy.yaml", "trip: { _tag: Consecutive, failureThreshold: 2 }\n")
    const shown = JSON.parse(run("policy", path, "--json").stdout)
    expect(shown.cooldown.base).toBe(30_000)
    expect(run("policy", path).stdout).toContain("Opens after 2 failures in a row; a success starts the count again.")
  })

  it("a bad one: every fault with its line, exit 1", () => {
    const path = file(
      "bad-policy.json",
      '{\n "trip": { "_tag": "Consecutive", "failureThreshold": 0 },\n "cooldwn": {}\n}'
    )
    const { status, stderr, stdout } = run("policy", path)
    expect([status, stdout]).toEqual([1, ""])
    expect(stderr).toMatch(/line 2, trip\.failureThreshold: .*\n.*line 3, cooldwn: /)
  })

  it("an unknown preset, or neither file nor preset: exit 2 and the presets", () => {
    for (const args of [["--preset", "hostd"], []]) {
      const { status, stderr } = run("policy", ...args)
      expect([status, stderr.includes("ibex.selfHosted")]).toEqual([2, true])
    }
  })
})
