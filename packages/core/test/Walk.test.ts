import * as Fallback from "@switchgear/core/Fallback"
import * as Walk from "@switchgear/core/Walk"
import * as fc from "fast-check"
import { assert, describe, it } from "vitest"
import * as arb from "./walkArbitrary.js"

const check = (property: fc.IProperty<[Walk.Plan, ReadonlyArray<Walk.Event>]>) =>
  fc.assert(property, { numRuns: 2_000 })
const forAll = (predicate: (plan: Walk.Plan, events: ReadonlyArray<Walk.Event>) => void) => () =>
  check(fc.property(arb.plan, fc.oneof(arb.goingOn, arb.events), predicate))

const isError = (event: Walk.Event) => event._tag === "Failed" || event._tag === "Refused"
const chainNames = (plan: Walk.Plan) => Walk.start(plan).rest.map((target) => target.name)

describe("Walk: properties", () => {
  it(
    "F1: a walk is plain JSON-able data, and goes on from its copy as from itself",
    forAll((plan, events) => {
      let walk: Walk.Step = Walk.start(plan)
      for (const event of events) {
        const copy: Walk.Step = JSON.parse(JSON.stringify(walk))
        assert.deepEqual(copy, walk)
        const next = Walk.step(walk, event)
        assert.deepStrictEqual(JSON.parse(JSON.stringify(Walk.step(copy, event))), JSON.parse(JSON.stringify(next)))
        walk = next
      }
    })
  )

  it("F1: nothing throws and every walk ends, whatever numbers the events carry", () => {
    const wild = fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -1, 0, 1e308)
    const event = fc.oneof(
      fc.tuple(wild, wild).map(([status, retryAfter]) => Walk.failed({ kind: "timeout", status, retryAfter })),
      fc
        .tuple(wild, fc.string())
        .map(([retryAfter, openedBy]) => Walk.refused("circuit_open", { retryAfter, openedBy }))
    )
    fc.assert(
      fc.property(arb.plan, fc.array(event, { minLength: 12, maxLength: 12 }), (plan, events) => {
        const { last } = arb.run(plan, events)
        assert(last._tag === "Done")
        if (last.answer._tag === "Refused" && last.answer.retryAfter !== undefined) {
          assert(Number.isFinite(last.answer.retryAfter) && last.answer.retryAfter >= 0)
        }
      })
    )
  })

  it(
    "F1: each event that may happen to the target uses it up; a walk that is over stays as it is",
    forAll((plan, events) => {
      const { steps } = arb.run(plan, events)
      for (const [index, event] of events.entries()) {
        const before = steps[index]
        const after = steps[index + 1]
        assert(before !== undefined && after !== undefined)
        if (before._tag === "Done" || (event._tag === "OverBudget" && !before.hop)) assert.strictEqual(after, before)
        else assert(after.attempts.length > before.attempts.length)
      }
    })
  )

  it(
    "F1: the primary is due first, whatever the chain",
    forAll((plan) => {
      const first = Walk.start(plan)
      assert(first.target.name === "p" && !first.hop && !first.lastResort)
    })
  )

  it(
    "F2: the walked chain is trimmed, without blanks, repeats or the primary, at most 8 long",
    forAll((plan) => {
      const names = chainNames(plan)
      assert.strictEqual(new Set(names).size, names.length)
      assert(names.length <= 8)
      for (const name of names) assert(name !== "" && name === name.trim() && name !== "p")
    })
  )

  it(
    "F3: listed, the first maxDepth entries of the sorted chain are all there is",
    forAll((plan) => {
      const listed = Fallback.make({ ...plan.settings, depthCounts: "listed" })
      const attempts = Fallback.make({ ...plan.settings, depthCounts: "attempts" })
      assert.deepStrictEqual(
        chainNames({ ...plan, settings: listed }),
        chainNames({ ...plan, settings: attempts }).slice(0, listed.maxDepth)
      )
    })
  )

  it("F3: counting attempts, refused and skipped hops are free", () => {
    const free = fc.oneof(arb.refusal, fc.constantFrom(Walk.denied, Walk.unknown, Walk.ineligible("tools")))
    fc.assert(
      fc.property(arb.plan, fc.array(free, { minLength: 8, maxLength: 8 }), (plan, events) => {
        const settings = Fallback.make({
          ...plan.settings,
          on: ["timeout", "circuit_open"],
          never: [],
          depthCounts: "attempts"
        })
        let walk: Walk.Step = Walk.step(Walk.start({ ...plan, settings }), Walk.failed({ kind: "timeout" }))
        for (const name of chainNames({ ...plan, settings })) {
          assert(walk._tag === "Next")
          assert.strictEqual(walk.target.name, name)
          walk = Walk.step(walk, events.pop() ?? Walk.denied)
        }
        assert.strictEqual(walk._tag, "Done")
      })
    )
  })

  it(
    "F4: a called target's successor is due only if its failure moves on",
    forAll((plan, events) => {
      const { steps } = arb.run(plan, events)
      for (const [index, event] of events.entries()) {
        const before = steps[index]
        const after = steps[index + 1]
        if (event._tag !== "Failed" || before?._tag !== "Next" || after?._tag !== "Next") continue
        const { kind, status } = event.failure
        const keys = [kind, ...(status === undefined ? [] : [`${status}`, `${Math.floor(status / 100)}xx`])]
        assert(keys.some((key) => plan.settings.on.includes(key)))
        assert(!keys.some((key) => plan.settings.never.includes(key)))
      }
    })
  )

  it(
    "F4: after context_length only a target with a larger window is due, for the rest of the walk",
    forAll((plan, events) => {
      let floor = 0
      const { steps } = arb.run(plan, events)
      for (const [index, event] of events.entries()) {
        const before = steps[index]
        const after = steps[index + 1]
        if (before?._tag !== "Next" || after?._tag !== "Next") continue
        if (event._tag === "Failed" && event.failure.kind === "context_length") {
          assert(before.target.contextWindow !== undefined)
          floor = Math.max(floor, before.target.contextWindow)
        }
        if (floor > 0 && after !== before) assert((after.target.contextWindow ?? 0) > floor)
      }
    })
  )

  it(
    "F5: when the policy cannot be asked about a hop, the primary's error is answered at once",
    forAll((plan, events) => {
      const { last, steps } = arb.run(plan, events)
      const asked = steps.findIndex((walk, index) => walk._tag === "Next" && events[index]?._tag === "PolicyError")
      const walk = steps[asked]
      if (walk?._tag !== "Next" || !walk.hop) return
      assert(last._tag === "Done" && last.answer._tag === "Failed")
      const attempt = last.attempts[last.answer.index]
      assert(attempt !== undefined && !attempt.hop && isError(attempt.event))
    })
  )

  it(
    "F5: the primary's own policy decides alone",
    forAll((plan) => {
      const answer = (event: Walk.Event) => {
        const walk = Walk.step(Walk.start(plan), event)
        return walk._tag === "Done" ? walk.answer : undefined
      }
      assert.deepStrictEqual(answer(Walk.denied), { _tag: "NotAllowed" })
      assert.deepStrictEqual(answer(Walk.policyError), { _tag: "PolicyUnavailable" })
      assert.deepStrictEqual(answer(Walk.unknown), { _tag: "UnknownModel" })
      assert.deepStrictEqual(answer(Walk.ineligible("audio")), { _tag: "Ineligible", reason: "audio" })
    })
  )

  it(
    "F6: an answer is always an error that some attempt really had",
    forAll((plan, events) => {
      const { last } = arb.run(plan, events)
      if (last._tag !== "Done") return
      const { answer, attempts } = last
      if (answer._tag === "Failed") {
        assert.deepStrictEqual(attempts[answer.index]?.event, answer.error)
        assert(isError(answer.error))
      }
      if (answer._tag === "Broken")
        assert.deepStrictEqual(attempts[answer.index]?.event, Walk.failed(answer.failure, true))
      if (answer._tag === "Exhausted") {
        assert(answer.indices.length > 1)
        const errors = attempts.flatMap((attempt, index) => (isError(attempt.event) ? [index] : []))
        assert.deepStrictEqual(answer.indices, errors)
      }
      if (answer._tag === "Refused" && answer.retryAfter !== undefined) {
        const waits = attempts.map((one) =>
          one.event._tag === "Refused" ? Math.max(0, one.event.retryAfter ?? 0) : Number.NaN
        )
        assert(waits.includes(answer.retryAfter))
      }
    })
  )

  it(
    "F6: the primary's, the last one's or all errors are answered, by surface",
    forAll((plan, events) => {
      const { last } = arb.run(plan, events)
      if (last._tag !== "Done") return
      const { answer, attempts } = last
      const errors = attempts.flatMap((attempt, index) => (isError(attempt.event) ? [index] : []))
      if (answer._tag === "Exhausted") assert.strictEqual(plan.settings.surface, "exhausted")
      if (answer._tag !== "Failed" || attempts.at(-1)?.event._tag === "PolicyError") return
      if (plan.settings.surface === "primary") assert.strictEqual(attempts[answer.index]?.hop, false)
      else assert.strictEqual(answer.index, errors.at(-1))
    })
  )

  it("F6: a hop whose failure does not move on stops the walk", () => {
    fc.assert(
      fc.property(arb.plan, (plan) => {
        const settings = Fallback.make({ ...plan.settings, on: ["timeout"], never: [] })
        const hop = Walk.step(Walk.start({ ...plan, settings }), Walk.failed({ kind: "timeout" }))
        assert.strictEqual(Walk.step(hop, Walk.failed({ kind: "content_filter", status: 400 }))._tag, "Done")
      })
    )
  })

  it(
    "F7: after output there is no next target",
    forAll((plan, events) => {
      const { steps } = arb.run(plan, events)
      const at = steps.findIndex((walk, index) => {
        const event = events[index]
        return walk._tag === "Next" && event?._tag === "Failed" && event.outputSent
      })
      if (at >= 0) assert(steps.slice(at + 1).every((walk) => walk._tag === "Done" && walk.answer._tag === "Broken"))
    })
  )

  it(
    "F8: a caller's own key never falls back",
    forAll((plan, events) => {
      const { called } = arb.run({ ...plan, byo: true }, events)
      assert(called.length <= 1 && called.every((name) => name === "p"))
    })
  )

  it(
    "F9: a cancelled caller stops the walk at once",
    forAll((plan, events) => {
      for (const walk of arb.run(plan, events).steps) {
        const after = Walk.step(walk, Walk.cancelled)
        assert.strictEqual(after._tag, "Done")
        if (walk._tag === "Next" && after._tag === "Done") assert.deepStrictEqual(after.answer, { _tag: "Cancelled" })
      }
    })
  )

  it("F10: if all refused, Retry-After is the earliest time any may be tried, and 429 only if limits opened all", () => {
    fc.assert(
      fc.property(arb.plan, fc.array(arb.refusal, { minLength: 9, maxLength: 9 }), (plan, events) => {
        const settings = Fallback.make({ ...plan.settings, lastResort: "none" })
        const { last } = arb.run({ ...plan, settings }, events)
        assert(last._tag === "Done" && last.answer._tag === "Refused")
        const refusals = last.attempts.flatMap((one) => (one.event._tag === "Refused" ? [one.event] : []))
        const waits = refusals
          .map((one) =>
            one.kind === "saturated" ? (one.retryAfter ?? 0) : (one.retryAfter ?? Number.POSITIVE_INFINITY)
          )
          .map((ms) => Math.max(0, ms))
        const earliest = Math.min(...waits)
        assert.strictEqual(last.answer.retryAfter ?? Number.POSITIVE_INFINITY, earliest)
        const limits = refusals.every(
          (one) => one.kind === "circuit_open" && ["rate_limit", "quota_exhausted"].includes(one.openedBy ?? "")
        )
        assert.strictEqual(last.answer.status, limits ? 429 : 503)
      })
    )
  })

  it(
    "F10: the last resort is a target that refused, is offered once, and only if all refused",
    forAll((plan, events) => {
      const { steps } = arb.run(plan, events)
      const offered = steps.filter(
        (walk, index) => walk._tag === "Next" && walk.lastResort && walk !== steps[index - 1]
      )
      assert(offered.length <= 1)
      for (const walk of offered) {
        assert(walk._tag === "Next")
        assert.strictEqual(plan.settings.lastResort, "soonest")
        const errors = walk.attempts.filter((one) => isError(one.event))
        assert(errors.every((one) => one.event._tag === "Refused"))
        assert(errors.some((one) => one.target.name === walk.target.name && one.hop === walk.hop))
      }
    })
  )

  it(
    "F12: no walk calls more than 1 + maxDepth targets, nor one target twice",
    forAll((plan, events) => {
      const { called } = arb.run(plan, events)
      assert(called.length <= 1 + plan.settings.maxDepth)
      assert.strictEqual(new Set(called).size, called.length)
    })
  )

  it(
    "F13: over the budget the walk stops as if the chain had ended",
    forAll((plan, events) => {
      const settings = Fallback.make({ ...plan.settings, lastResort: "none" })
      for (const walk of arb.run({ ...plan, settings }, events).steps) {
        if (walk._tag !== "Next" || !walk.hop) continue
        const over = Walk.step(walk, Walk.overBudget)
        const ended = Walk.step({ ...walk, rest: [] }, Walk.denied)
        assert(over._tag === "Done" && ended._tag === "Done")
        assert.deepStrictEqual(over.answer, ended.answer)
      }
    })
  )

  it(
    "F14: a target without room moves on, whatever is in on",
    forAll((plan) => {
      if (plan.settings.never.includes("saturated")) return
      const [first] = chainNames(plan)
      const walk = Walk.step(Walk.start(plan), Walk.refused("saturated"))
      if (first !== undefined) assert.strictEqual(walk._tag === "Next" && walk.target.name, first)
    })
  )

  it("H2, H4: sorting is stable, drops nothing, and puts nothing better behind", () => {
    const rank = (target: Walk.Target) => ["Closed", "Degraded", "HalfOpen", "Open"].indexOf(target.state ?? "Closed")
    const badness = (target: Walk.Target) => -(target.score ?? 0.5)
    for (const [sort, key] of [
      [Walk.sortByState, rank],
      [Walk.sortByHealth, badness]
    ] as const) {
      fc.assert(
        fc.property(fc.array(arb.target, { maxLength: 12 }), (chain) => {
          const before = chain.map((target, index) => ({ ...target, name: String(index) }))
          const after = sort(before)
          assert.strictEqual(after.length, before.length)
          for (const [index, target] of after.entries()) {
            const next = after[index + 1]
            if (next === undefined) continue
            assert(key(target) < key(next) || (key(target) === key(next) && Number(target.name) < Number(next.name)))
          }
        })
      )
    }
  })

  it(
    "H2, H4: neither is applied when off, and the primary is never moved",
    forAll((plan) => {
      const off = Fallback.make({ ...plan.settings, preferHealthyState: false, reorderByHealth: false })
      const names = chainNames({ ...plan, settings: off })
      const configured = [...new Set(plan.chain.map((target) => target.name.trim()))]
      assert.deepStrictEqual(
        names,
        plan.byo ? [] : configured.filter((name) => name !== "" && name !== "p").slice(0, names.length)
      )
    })
  )
})

describe("Walk: examples", () => {
  const settings = Fallback.make({ preferHealthyState: false })
  const plan = (over: Partial<Walk.Plan> = {}): Walk.Plan => ({
    primary: { name: "p", contextWindow: 8_000 },
    chain: [{ name: "a" }, { name: "b", contextWindow: 32_000 }],
    settings,
    ...over
  })
  const open = (retryAfter: number, openedBy = "timeout") => Walk.refused("circuit_open", { retryAfter, openedBy })
  const walk = (plan: Walk.Plan, ...events: ReadonlyArray<Walk.Event>): Walk.Step => arb.run(plan, events).last

  it("F2: no more than 8 entries are walked", () => {
    const chain = Array.from({ length: 10 }, (_, index) => ({ name: `m${index}` }))
    const names = Walk.start(plan({ chain })).rest.map((target) => target.name)
    assert.deepStrictEqual(names, ["m0", "m1", "m2", "m3", "m4", "m5", "m6", "m7"])
  })

  it("H2, H4: the sort by state is applied first, so that among equal scores the healthier comes first", () => {
    const both = Fallback.make({ preferHealthyState: true, reorderByHealth: true })
    const chain: ReadonlyArray<Walk.Target> = [
      { name: "open", state: "Open", score: 0.5 },
      { name: "best", state: "Open", score: 0.9 },
      { name: "closed" }
    ]
    const names = Walk.start(plan({ chain, settings: both })).rest.map((target) => target.name)
    assert.deepStrictEqual(names, ["best", "closed", "open"])
  })

  it("F3: [open, healthy] is served with a depth of one", () => {
    const last = walk(plan(), Walk.failed({ kind: "timeout" }), open(100), Walk.served)
    assert(last._tag === "Done")
    assert.deepStrictEqual(last.answer, {
      _tag: "Served",
      target: { name: "b", contextWindow: 32_000 },
      substituted: true
    })
  })

  it("F3: with the preset ibex [open, healthy] is not", () => {
    const last = walk(plan({ settings: Fallback.ibex }), Walk.failed({ kind: "server_error", status: 500 }), open(100))
    assert(last._tag === "Done" && last.answer._tag === "Failed")
    assert.strictEqual(last.answer.index, 0)
  })

  it("F4: context_length passes over a target of no known window and records it", () => {
    const last = walk(plan(), Walk.failed({ kind: "context_length", status: 400 }))
    assert(last._tag === "Next")
    assert.strictEqual(last.target.name, "b")
    assert.deepStrictEqual(last.attempts.at(-1)?.event, Walk.ineligible("context_window"))
  })

  it("F4: ibex never falls back on 4xx, 429 included", () => {
    for (const status of [400, 401, 404, 408, 429]) {
      const kind = status === 408 ? "timeout" : status === 429 ? "rate_limit" : "client_fault"
      assert.strictEqual(walk(plan({ settings: Fallback.ibex }), Walk.failed({ kind, status }))._tag, "Done")
    }
  })

  it("F6: a failed hop leaves the primary's error to be answered", () => {
    const last = walk(plan(), open(5_000), Walk.failed({ kind: "client_fault", status: 404 }))
    assert(last._tag === "Done" && last.answer._tag === "Failed")
    assert.deepStrictEqual(last.answer.error, open(5_000))
  })

  it("F10: the Retry-After of the soonest", () => {
    const last = walk(plan(), open(5_000), open(2_000), open(9_000))
    assert.deepStrictEqual(last._tag === "Done" && last.answer, { _tag: "Refused", status: 503, retryAfter: 2_000 })
  })

  it("F10: a circuit that was forced open is no last resort", () => {
    const soonest = Fallback.make({ ...settings, lastResort: "soonest" })
    const last = walk(plan({ settings: soonest }), Walk.refused("circuit_open"), open(7_000), Walk.refused("saturated"))
    assert(last._tag === "Next" && last.lastResort)
    assert.strictEqual(last.target.name, "a")
  })

  it("F10: a primary called as a last resort answers with the error its call had", () => {
    const soonest = Fallback.make({ ...settings, lastResort: "soonest" })
    const last = walk(
      plan({ settings: soonest }),
      open(1_000),
      open(7_000),
      open(8_000),
      Walk.failed({ kind: "auth", status: 401 })
    )
    assert(last._tag === "Done" && last.answer._tag === "Failed")
    assert.strictEqual(last.answer.index, 3)
  })
})
