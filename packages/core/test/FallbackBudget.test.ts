import * as FallbackBudget from "@switchgear/core/FallbackBudget"
import * as fc from "fast-check"
import { assert, describe, it } from "vitest"

interface Act {
  readonly do: "first" | "hop"
  readonly at: number
}

const acts = fc
  .array(fc.tuple(fc.constantFrom("first" as const, "hop" as const), fc.nat(2_500)), { maxLength: 200 })
  .map((list) => {
    let at = 0
    return list.map(([act, gap]): Act => {
      at += gap
      return { do: act, at }
    })
  })

const apply = (state: FallbackBudget.State, act: Act) => FallbackBudget[act.do](state, act.at)

describe("FallbackBudget", () => {
  it("F13: totals equal a naive recount over the last ten buckets", () => {
    fc.assert(
      fc.property(acts, (list) => {
        let state = FallbackBudget.initial(0)
        for (const [index, act] of list.entries()) {
          state = apply(state, act)
          const counted = list
            .slice(0, index + 1)
            .filter((one) => Math.floor(one.at / 1_000) > Math.floor(act.at / 1_000) - 10)
          assert.strictEqual(state.firsts, counted.filter((one) => one.do === "first").length)
          assert.strictEqual(state.hops, counted.filter((one) => one.do === "hop").length)
          assert(state.sealed.length < 10)
        }
      })
    )
  })

  it("F13: admitted hops never exceed the share of first attempts beyond 20", () => {
    fc.assert(
      fc.property(acts, fc.double({ min: 0, max: 0.99, noNaN: true }), (list, share) => {
        let state = FallbackBudget.initial(0)
        for (const act of list) {
          if (act.do === "hop") {
            if (!FallbackBudget.admits(share, state, act.at)) continue
            state = apply(state, act)
            assert(state.hops <= Math.max(20, share * state.firsts))
          } else state = apply(state, act)
        }
      })
    )
  })

  it("F13: asking changes nothing, and a share of 1 is off", () => {
    fc.assert(
      fc.property(acts, (list) => {
        const state = list.reduce(apply, FallbackBudget.initial(0))
        const before = JSON.stringify(state)
        assert(FallbackBudget.admits(1, state, list.at(-1)?.at ?? 0))
        FallbackBudget.admits(0.5, state, Number.MAX_SAFE_INTEGER)
        assert.strictEqual(JSON.stringify(state), before)
      })
    )
  })

  it("F13: a clock that steps back, or is no number, does not move the window", () => {
    const state = FallbackBudget.first(FallbackBudget.first(FallbackBudget.initial(60_000), 60_500), 0)
    assert.strictEqual(state.firsts, 2)
    assert.strictEqual(FallbackBudget.first(state, Number.NaN).firsts, 3)
    assert.strictEqual(FallbackBudget.first(state, 71_000).firsts, 1)
  })
})
