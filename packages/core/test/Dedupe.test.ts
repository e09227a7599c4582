import * as Dedupe from "@switchgear/core/Dedupe"
import * as fc from "fast-check"
import { assert, describe, it } from "vitest"

interface Report {
  readonly outcome: Dedupe.Outcome
  readonly at: number
}

const reports = (probes: boolean): fc.Arbitrary<ReadonlyArray<Report>> =>
  fc
    .array(
      fc.record({
        provider: fc.constantFrom("p", "q"),
        connection: fc.constantFrom("c", "d"),
        kind: fc.constantFrom("timeout", "timeout", "server_error", "network_error", null),
        probe: probes ? fc.boolean() : fc.constant(false),
        gap: fc.constantFrom(0, 1, 1_000, 4_999, 5_000, 9_999, 10_000)
      }),
      { maxLength: 40 }
    )
    .map((list) => {
      let at = 0
      return list.map(({ gap, ...outcome }) => {
        at += gap
        return { outcome, at }
      })
    })

const isNetwork = (outcome: Dedupe.Outcome) => outcome.kind === "network_error"

/** Whether two outcomes are news of one thing. */
const related = (a: Dedupe.Outcome, b: Dedupe.Outcome): boolean =>
  a.provider === b.provider && isNetwork(a) === isNetwork(b) && (isNetwork(a) || a.connection === b.connection)

/** STORES by the letter, from the whole history: is there a counted failure whose window this one is in? */
const naive = (
  history: ReadonlyArray<Report & { readonly verdict: string; readonly opens: boolean }>,
  next: Report
): boolean => {
  if (next.outcome.kind === null) return true
  const window = isNetwork(next.outcome) ? 10_000 : 5_000
  const opener = history.filter((one) => one.opens && related(one.outcome, next.outcome)).at(-1)
  if (opener === undefined || next.at - opener.at >= window) return true
  const cleared = history
    .slice(history.indexOf(opener) + 1)
    .some(
      ({ outcome }) =>
        outcome.kind === null &&
        outcome.provider === next.outcome.provider &&
        (isNetwork(next.outcome) || outcome.connection === next.outcome.connection)
    )
  return cleared
}

describe("Dedupe", () => {
  it("failures within the window of the first counted one count once, as the whole history says", () => {
    fc.assert(
      fc.property(reports(true), (list) => {
        const table = new Dedupe.Table()
        const history: Array<Report & { verdict: string; opens: boolean }> = []
        for (const report of list) {
          const fresh = naive(history, report)
          const verdict = table.report(report.outcome, report.at)
          assert.strictEqual(verdict, fresh || report.outcome.probe ? "Counted" : "Dropped")
          history.push({ ...report, verdict, opens: fresh && report.outcome.kind !== null })
        }
      }),
      { numRuns: 2_000 }
    )
  })

  it("a probe's outcome is never dropped, and a success only if that is set", () => {
    fc.assert(
      fc.property(reports(true), (list) => {
        const table = new Dedupe.Table()
        for (const { at, outcome } of list) {
          const verdict = table.report(outcome, at)
          if (outcome.probe || outcome.kind === null) assert.strictEqual(verdict, "Counted")
        }
      })
    )
  })

  it("the window does not slide: no failure is without a counted one of its kind in the window before it", () => {
    fc.assert(
      fc.property(reports(false), (list) => {
        const table = new Dedupe.Table()
        const counted: Array<Report> = []
        for (const report of list) {
          if (table.report(report.outcome, report.at) === "Counted") counted.push(report)
          else {
            const window = isNetwork(report.outcome) ? 10_000 : 5_000
            assert(counted.some((one) => related(one.outcome, report.outcome) && report.at - one.at < window))
          }
        }
      })
    )
  })

  it("successes: true does the same for successes; each sort of news ends the other's window", () => {
    const table = new Dedupe.Table({ ...Dedupe.defaults, successes: true })
    const at = (kind: string | null, now: number) =>
      table.report({ provider: "p", connection: "c", kind, probe: false }, now)
    assert.deepStrictEqual(
      [at(null, 0), at(null, 4_999), at("timeout", 4_999), at("timeout", 4_999), at(null, 4_999), at(null, 9_999)],
      ["Counted", "Dropped", "Counted", "Dropped", "Counted", "Counted"]
    )
  })

  it("a step changes nothing it is given", () => {
    const entry = { counted: "failure", since: 0 } as const
    const [verdict, after] = Dedupe.step(Dedupe.defaults, entry, { kind: "timeout", probe: true }, 10)
    assert.deepStrictEqual([verdict, after], ["Counted", entry])
  })

  it("the table is bounded, and forgets the oldest window first", () => {
    const table = new Dedupe.Table({ ...Dedupe.defaults, maxEntries: 3 })
    const fail = (connection: string) => table.report({ provider: "p", connection, kind: "timeout", probe: false }, 0)
    for (const connection of ["a", "b", "c", "d"]) assert.strictEqual(fail(connection), "Counted")
    assert.strictEqual(table.size, 3)
    assert.deepStrictEqual(["b", "c", "d", "a"].map(fail), ["Dropped", "Dropped", "Dropped", "Counted"])
  })

  it("names that only look alike are kept apart", () => {
    const table = new Dedupe.Table()
    const fail = (provider: string, connection: string) =>
      table.report({ provider, connection, kind: "timeout", probe: false }, 0)
    assert.deepStrictEqual(
      [fail("a", `b","c`), fail(`a","b`, "c"), fail("a,b", "c")],
      ["Counted", "Counted", "Counted"]
    )
  })

  it("a rule on a rate is refused with what to change", () => {
    assert.strictEqual(Dedupe.check({ _tag: "Consecutive" }), undefined)
    for (const _tag of ["Rolling", "AnyOf"] as const) {
      assert.match(Dedupe.check({ _tag })?.message ?? "", /use a Consecutive rule, or leave dedupe out/)
    }
  })
})
