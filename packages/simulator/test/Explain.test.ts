import * as Policy from "@switchgear/core/Policy"
import * as Effect from "effect/Effect"
import { describe, expect, it } from "vitest"
import * as Explain from "../src/Explain.js"
import type { Scenario } from "../src/Scenario.js"
import * as Simulator from "../src/Simulator.js"
import { scenario, simulate } from "./support.js"

const at = (of: Scenario, time: number, policy?: Simulator.NamedPolicy): Promise<Explain.Explanation> =>
  Effect.runPromise(Explain.at(of, time, { policy }))

const three: Simulator.NamedPolicy = { name: "three", policy: Policy.consecutive({ failureThreshold: 3 }) }

describe("an explanation", () => {
  it("of a closed breaker: what would open it, found out from the machine", async () => {
    const { breakers } = await at(scenario(), 30_000, three)
    const [openai] = breakers
    expect(openai).toMatchObject({ breaker: "openai", provider: "openai", replica: 0, last: null })
    expect(openai?.view).toMatchObject({ state: "Closed", streak: 0 })
    expect(openai?.tips.map(({ count, kind, to }) => [kind, count, to])).toEqual([
      ["server_error", 3, "Open"],
      ["rate_limit", 3, "Open"],
      ["timeout", 3, "Open"]
    ])
  })

  it("follows kinds with rules of their own", async () => {
    const quick = { name: "kinds", policy: Policy.presets["omniRoute.article"] }
    const [openai] = (await at(scenario(), 30_000, quick)).breakers
    const counts = Object.fromEntries(openai?.tips.map(({ count, kind }) => [kind, count]) ?? [])
    expect(counts).toMatchObject({ server_error: 5 })
    expect(counts["timeout"]).toBeLessThanOrEqual(8)
  })

  it("of an open one: the rule and its counts, and when it probes", async () => {
    const of = scenario()
    const opening = (await simulate(of, { policy: three })).transitions[0]
    expect(opening?.to).toBe("Open")
    const [openai] = (await at(of, (opening?.at ?? 0) + 1, three)).breakers
    expect(openai?.view).toMatchObject({ state: "Open", until: (opening?.at ?? 0) + 30_000 })
    expect(openai?.last).toEqual(opening)
    expect(openai?.tips).toEqual([])
    const lines = Explain.render(await at(of, (opening?.at ?? 0) + 1, three)).join("\n")
    expect(lines).toMatch(/Closed to Open: 3 failures in a row, the last one server_error; 3 open it \(P1\)/)
    expect(lines).toMatch(/Probes from 1m 30s/)
  })

  it("says the same of a moment as the run that goes on from there", async () => {
    const of = scenario({ replicas: 2 })
    const { transitions } = await simulate(of, { policy: three })
    for (const { at: time, breaker, replica } of transitions) {
      const found = (await at(of, time + 1, three)).breakers.find(
        (one) => one.breaker === breaker && one.replica === replica
      )
      const last = transitions.findLast((one) => one.at <= time && one.breaker === breaker && one.replica === replica)
      expect(found?.last).toEqual(last)
    }
  })

  it("without breakers says so", async () => {
    expect(Explain.render(await at(scenario(), 0, Simulator.none)).at(-1)).toBe("There are no breakers.")
  })
})
