import type { State } from "@switchgear/core/Breaker"
import { describe, expect, it } from "vitest"
import { falseTrips, timeToOpen, timeToRecover } from "../src/internal/recovery.js"
import { phaseBands, sicknesses } from "../src/internal/sickness.js"
import type { Transition } from "../src/RunReport.js"
import { scenario } from "./support.js"

const change = (at: number, from: State["_tag"], to: State["_tag"], replica = 0): Transition => ({
  at,
  provider: "p",
  breaker: "p",
  replica,
  from,
  to,
  reason: { rule: "A3", by: "deadline" }
})

const opened = [change(120, "Closed", "Open"), change(150, "Open", "HalfOpen"), change(155, "HalfOpen", "Open")]

describe("times of a sickness from 100 to 200", () => {
  const spells = [{ from: 100, to: 200 }]

  it("to open: until the first opening within it", () => {
    expect(timeToOpen(opened, spells)).toEqual([20])
    expect(timeToOpen([change(90, "Closed", "Open")], spells)).toEqual([])
    expect(timeToOpen([change(200, "Closed", "Open")], spells)).toEqual([])
    expect(timeToOpen([change(120, "HalfOpen", "Open")], spells)).toEqual([])
  })

  it("to recover: until no breaker is open", () => {
    const closed = [...opened, change(230, "Open", "HalfOpen"), change(240, "HalfOpen", "Closed")]
    expect(timeToRecover(closed, spells, 1_000)).toEqual([40])
    expect(
      timeToRecover([change(110, "Closed", "Open", 1), ...closed, change(260, "HalfOpen", "Closed", 1)], spells, 1_000)
    ).toEqual([60])
  })

  it("to recover: nothing where nothing was open at its end", () => {
    expect(timeToRecover([], spells, 1_000)).toEqual([])
    expect(timeToRecover([...opened, change(190, "HalfOpen", "Closed")], spells, 1_000)).toEqual([])
    expect(timeToRecover([change(300, "Closed", "Open"), change(400, "HalfOpen", "Closed")], spells, 1_000)).toEqual([])
  })

  it("to recover: at least until the next sickness, or the end", () => {
    expect(timeToRecover(opened, spells, 1_000)).toEqual([800])
    expect(timeToRecover(opened, [...spells, { from: 250, to: 300 }], 1_000)).toEqual([50, 700])
  })

  it("an opening outside of it is false, one from HalfOpen is none", () => {
    expect(falseTrips([change(99, "Degraded", "Open"), change(200, "Closed", "Open"), ...opened], spells)).toBe(2)
    expect(falseTrips([change(300, "HalfOpen", "Open")], spells)).toBe(0)
  })

  it("breakers that are shared open once for all", () => {
    expect(falseTrips([change(300, "Closed", "Open", 0), change(300, "Closed", "Open", 1)], spells)).toBe(1)
  })
})

describe("the phases of a provider", () => {
  const bandsOf = (...phases: ReadonlyArray<unknown>) => {
    const [provider] = scenario({
      duration: 100,
      providers: [{ name: "openai", phases }, { name: "anthropic" }]
    }).providers
    return { bands: phaseBands(provider, 100), spells: sicknesses(provider, 100) }
  }

  it("are healthy where nothing is said, and cut at the end", () => {
    const { bands, spells } = bandsOf({ kind: "hang", from: 40, to: 200 })
    expect(bands).toEqual([
      { from: 0, to: 40, phase: "healthy", sick: false },
      { from: 40, to: 100, phase: "hang", sick: true }
    ])
    expect(spells).toEqual([{ from: 40, to: 100 }])
  })

  it("flap", () => {
    const { spells } = bandsOf({ kind: "flapping", from: 10, to: 60, down: 20, up: 10 })
    expect(spells).toEqual([
      { from: 10, to: 30 },
      { from: 40, to: 60 }
    ])
  })

  it("overlap, and follow each other in one sickness", () => {
    const { bands, spells } = bandsOf(
      { kind: "outage", from: 10, to: 30 },
      { kind: "hang", from: 20, to: 50, only: { share: 0.5 } },
      { kind: "bad-key", from: 60, to: 70, sick: false }
    )
    expect(bands.map(({ phase }) => phase)).toEqual([
      "healthy",
      "outage",
      "outage + hang (50 % of calls)",
      "hang (50 % of calls)",
      "healthy",
      "bad-key",
      "healthy"
    ])
    expect(spells).toEqual([{ from: 10, to: 50 }])
  })
})
