import { existsSync, readdirSync, readFileSync } from "node:fs"
import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Arbitraries from "../src/Arbitraries.js"
import * as Machines from "../src/Machines.js"
import * as Trace from "../src/Trace.js"

const here = new URL("../traces/", import.meta.url)
/** Where the examples are written, when they stand beside the repository. */
const origin = new URL("../../../../shared/traces/", import.meta.url)

const decoded = Trace.decode(JSON.parse(readFileSync(new URL("breaker.json", here), "utf8")))
const traces = decoded._tag === "Success" ? decoded.value : []

describe("the traces", () => {
  it("are well formed, and 84", () => {
    expect(decoded).toMatchObject({ _tag: "Success" })
    expect(traces.length).toBe(84)
  })

  // A clone has the copy alone; there is nothing to compare then, and nothing to skip.
  if (existsSync(origin)) {
    it("are those from which they were copied", () => {
      expect(readdirSync(here).sort()).toEqual(readdirSync(origin).sort())
      for (const name of readdirSync(origin)) {
        expect(readFileSync(new URL(name, here), "utf8"), name).toBe(readFileSync(new URL(name, origin), "utf8"))
      }
    })
  }

  it.each(traces.map((trace) => [trace.id, trace] as const))("%s, on the machine", (_, trace) => {
    expect(Trace.run(Machines.real, trace).mismatches).toEqual([])
  })

  it.each(traces.map((trace) => [trace.id, trace] as const))("%s, on the naive machine", (_, trace) => {
    expect(Trace.run(Machines.naive, trace).mismatches).toEqual([])
  })
})

/** The paths at which a trace is refused. */
const faults = (input: unknown): ReadonlyArray<string> => {
  const result = Trace.decode(input)
  return result._tag === "Failure" ? result.faults.map((fault) => fault.path) : []
}

const policy = { trip: { _tag: "Consecutive", failureThreshold: 1 }, cooldown: { base: 100 } }
const withStep = (step: unknown): unknown => [{ id: "one", policy, steps: [step] }]

describe("the trace decoder", () => {
  it("takes every random scenario, and gives it back as it is", () => {
    fc.assert(
      fc.property(Arbitraries.scenario(), (scenario) => {
        const trace = { id: "random", ...scenario }
        expect(Trace.decode(JSON.parse(JSON.stringify([trace])))).toEqual({
          _tag: "Success",
          value: [JSON.parse(JSON.stringify(trace))]
        })
      }),
      { numRuns: 300 }
    )
  })

  it("is total", () => {
    fc.assert(
      fc.property(fc.anything(), (input) => {
        const result = Trace.decode(input)
        expect(result._tag === "Success" || result.faults.length > 0).toBe(true)
      })
    )
  })

  it("takes one trace alone", () => {
    expect(Trace.decode({ id: "one", policy, steps: [] })).toMatchObject({ _tag: "Success", value: [{ id: "one" }] })
  })

  it.each([
    ["no trace at all", 3, [""]],
    ["an unknown step", withStep({ at: 0, do: "aquire", call: "1" }), ["0.steps.0.do"]],
    ["no time", withStep({ do: "observe" }), ["0.steps.0.at"]],
    ["a time between ms", withStep({ at: 0.5, do: "observe" }), ["0.steps.0.at"]],
    ["no call", withStep({ at: 0, do: "acquire" }), ["0.steps.0.call"]],
    ["a field of another step", withStep({ at: 0, do: "observe", for: 3 }), ["0.steps.0.for"]],
    ["an empty span", withStep({ at: 0, do: "forceOpen", for: 0 }), ["0.steps.0.for"]],
    ["luck of one", withStep({ at: 0, do: "success", call: "1", rnd: 1 }), ["0.steps.0.rnd"]],
    ["a state that none is", withStep({ at: 0, do: "observe", expect: { state: "Ajar" } }), ["0.steps.0.expect.state"]],
    [
      "an expectation that cannot be",
      withStep({ at: 0, do: "observe", expect: { applied: true } }),
      ["0.steps.0.expect.applied"]
    ],
    ["a misspelt expectation", withStep({ at: 0, do: "auto", expect: { sate: "Open" } }), ["0.steps.0.expect.sate"]],
    [
      "a name used twice",
      [
        {
          id: "one",
          policy,
          steps: [
            { at: 0, do: "acquire", call: "1" },
            { at: 1, do: "tail", call: "1" }
          ]
        }
      ],
      ["0.steps.1.call"]
    ],
    ["neither steps nor a refusal", [{ id: "one", policy }], ["0.steps"]],
    ["both", [{ id: "one", policy, steps: [], invalidPolicy: [] }], ["0.invalidPolicy"]],
    ["no policy", [{ id: "one", steps: [] }], ["0.policy"]],
    ["all at once", [{ id: "", step: [], policy }, 7], ["0.id", "0.steps", "0.step", "1"]]
  ])("names the place of: %s", (_, input, paths) => {
    expect(faults(input)).toEqual(paths)
  })
})

describe("the trace runner", () => {
  const run = (steps: ReadonlyArray<unknown>) => {
    const result = Trace.decode({ id: "t", policy, steps })
    return result._tag === "Failure"
      ? result.faults
      : Trace.run(Machines.real, result.value[0] ?? { id: "", policy, steps: [] })
  }

  it("prints only the keys that apply, in their order", () => {
    const replay = run([
      { at: 0, do: "acquire", call: "1" },
      { at: 5, do: "failure", call: "1" },
      { at: 6, do: "acquire", call: "2" },
      { at: 7, do: "success", call: "2" },
      { at: 8, do: "tail", call: "3" },
      { at: 9, do: "forceOpen" }
    ])
    expect("observed" in replay ? replay.observed.map((line) => JSON.stringify(line)) : replay).toEqual([
      '{"id":"t","step":0,"at":0,"do":"acquire","state":"Closed","permit":true,"retryAfter":0}',
      '{"id":"t","step":1,"at":5,"do":"failure","state":"Open","applied":true,"retryAfter":100,"until":105}',
      '{"id":"t","step":2,"at":6,"do":"acquire","state":"Open","permit":false,"retryAfter":99,"until":105}',
      '{"id":"t","step":3,"at":7,"do":"success","state":"Open","applied":false,"retryAfter":98,"until":105}',
      '{"id":"t","step":4,"at":8,"do":"tail","state":"Open","permit":false,"retryAfter":97,"until":105}',
      '{"id":"t","step":5,"at":9,"do":"forceOpen","state":"Open"}'
    ])
  })

  it("tells each key that does not hold, with what was seen", () => {
    const replay = run([
      { at: 0, do: "acquire", call: "1", expect: { permit: false, state: "Open", until: 3 } },
      { at: 0, do: "forceOpen", expect: { retryAfter: null, until: null } }
    ])
    expect("mismatches" in replay ? replay.mismatches : replay).toEqual([
      { id: "t", step: 0, at: 0, do: "acquire", field: "permit", expected: false, actual: true },
      { id: "t", step: 0, at: 0, do: "acquire", field: "state", expected: "Open", actual: "Closed" },
      { id: "t", step: 0, at: 0, do: "acquire", field: "until", expected: 3, actual: null }
    ])
  })

  it("tells the paths of a policy that must be refused, and of one that must not", () => {
    const wrong = { trip: { _tag: "Consecutive", failureThreshold: 0 } }
    expect(Trace.run(Machines.real, { id: "t", policy: wrong, invalidPolicy: ["trip.failureThreshold"] })).toEqual({
      id: "t",
      observed: [{ id: "t", invalidPolicy: ["trip.failureThreshold"] }],
      mismatches: []
    })
    expect(Trace.run(Machines.real, { id: "t", policy, invalidPolicy: ["trip"] }).mismatches).toEqual([
      { id: "t", field: "invalidPolicy", expected: ["trip"], actual: [] }
    ])
    expect(Trace.run(Machines.real, { id: "t", policy: wrong, steps: [] }).mismatches).toMatchObject([
      { id: "t", field: "policy", expected: "valid" }
    ])
  })
})
