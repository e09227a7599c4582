import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import { drive } from "../src/conformance/drive.js"
import type { Fit, Live } from "../src/conformance/peer.js"
import { FakeTime } from "../src/peers/fakeTime.js"

describe("FakeTime", () => {
  it("runs each timer once, in order, at its own time, however far time is moved at once", () => {
    const delays = fc.array(fc.integer({ min: 1, max: 5_000 }), { maxLength: 8 })
    const moves = fc.array(fc.integer({ min: 0, max: 3_000 }), { maxLength: 8 })
    fc.assert(
      fc.property(delays, moves, (timers, steps) => {
        const time = new FakeTime(0)
        time.install()
        const fired: Array<number> = []
        try {
          for (const delay of timers) setTimeout(() => fired.push(time.toTrace(Date.now())), delay)
          let at = 0
          for (const step of steps) {
            at += step
            time.set(at)
          }
          expect(fired).toEqual(timers.filter((delay) => delay <= at).sort((a, b) => a - b))
        } finally {
          time.uninstall()
        }
      })
    )
  })

  it("a wall clock that steps back moves no timer, and a delay over 32 bits is one ms", () => {
    const time = new FakeTime(1_000)
    time.install()
    try {
      const fired: Array<string> = []
      setTimeout(() => fired.push("later"), 100)
      setTimeout(() => fired.push("too long"), 2 ** 31)
      time.set(500)
      expect([time.toTrace(Date.now()), fired]).toEqual([500, []])
      time.set(501)
      expect(fired).toEqual(["too long"])
      time.set(600)
      expect(fired).toEqual(["too long", "later"])
    } finally {
      time.uninstall()
    }
  })

  it("gives the platform's own time back", () => {
    const before = [Date, setTimeout, setInterval, performance]
    const time = new FakeTime(0)
    time.install()
    time.uninstall()
    expect([Date, setTimeout, setInterval, performance]).toEqual(before)
  })
})

describe("drive", () => {
  const live = (call: Live["call"]): Fit => ({
    losses: [],
    start: () => ({ call, seen: () => ({ state: "Closed" }), act: () => {}, close: () => {} })
  })
  const trace = (permit: boolean, state: "Closed" | "Open") => ({
    id: "t",
    policy: {},
    steps: [{ at: 0, do: "acquire", call: "a", expect: { permit, state, retryAfter: 7 } } as const]
  })

  it("sees a permit where the guarded function is entered, and none where the call is refused or made to wait", async () => {
    const fields = async (call: Live["call"], permit: boolean) =>
      (await drive(trace(permit, "Closed"), live(call))).map(({ field }) => field)
    expect(await fields((body) => body(), true)).toEqual([])
    expect(await fields((body) => body(), false)).toEqual(["permit"])
    expect(await fields(() => Promise.reject(new Error("open")), false)).toEqual([])
    expect(await fields(() => new Promise(() => {}), true)).toEqual(["permit"])
  })

  it("names a state that differs, and asks for nothing the breaker does not tell", async () => {
    const found = await drive(
      trace(true, "Open"),
      live((body) => body())
    )
    expect(found).toEqual([
      { id: "t", step: 0, at: 0, do: "acquire", field: "state", expected: "Open", actual: "Closed" }
    ])
  })
})
