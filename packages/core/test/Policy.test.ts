import * as Policy from "@switchgear/core/Policy"
import fc from "fast-check"
import { describe, expect, it } from "vitest"

const paths = (input: unknown): ReadonlyArray<string> => {
  const decoded = Policy.decode(input)
  return decoded._tag === "Failure" ? decoded.faults.map((fault) => fault.path) : []
}
const messages = (input: unknown): string => {
  const decoded = Policy.decode(input)
  return decoded._tag === "Failure" ? decoded.faults.map((fault) => `${fault.path} ${fault.message}`).join("\n") : ""
}
const consecutive = { _tag: "Consecutive", failureThreshold: 5 }
const rolling = { _tag: "Rolling", window: 1000, bucketPeriod: 100, minSamples: 4, failureRateThreshold: 0.5 }

describe("Policy.decode", () => {
  it("V: is total, whatever the input", () => {
    fc.assert(
      fc.property(fc.anything({ withNullPrototype: true, withBigInt: true, withSparseArray: true }), (input) => {
        expect(["Success", "Failure"]).toContain(Policy.decode(input)._tag)
        expect(["Success", "Failure"]).toContain(Policy.decode({ trip: consecutive, outcomes: input })._tag)
        expect(["Success", "Failure"]).toContain(Policy.decode({ trip: input, cooldown: input, halfOpen: input })._tag)
      }),
      { numRuns: 2_000 }
    )
  })

  it("V: a decoded policy is plain data that decodes to itself", () => {
    for (const policy of Object.values(Policy.presets)) {
      const again = Policy.decode(JSON.parse(JSON.stringify(policy)))
      expect(again).toEqual({ _tag: "Success", policy })
    }
  })

  it("V: fills in the defaults", () => {
    expect(Policy.decode({ trip: consecutive })).toEqual({
      _tag: "Success",
      policy: {
        trip: { _tag: "Consecutive", failureThreshold: 5, onSuccess: "reset" },
        cooldown: {
          base: 30_000,
          multiplier: 1,
          maxMultiplier: 16,
          graceOpenings: 0,
          jitter: 0,
          honorRetryAfter: false,
          maxRetryAfter: 3_600_000,
          resetAfter: 0
        },
        cooldownByKind: {},
        kindThresholds: {},
        halfOpen: { maxProbes: 1, successThreshold: 1, probeTimeout: 120_000 },
        outcomes: {},
        ignoredAs: "none"
      }
    })
  })

  it("V: names all faults at once", () => {
    expect(
      paths({
        trip: { _tag: "Rolling", window: 1050, bucketPeriod: 100, minSamples: 0, failureRateThreshold: 1.5 },
        cooldown: {
          base: 0,
          multiplier: 0.5,
          maxMultiplier: 0,
          graceOpenings: -1,
          jitter: 2,
          honorRetryAfter: 1,
          maxRetryAfter: 0.5,
          resetAfter: -1,
          pause: 3
        },
        halfOpen: { maxProbes: 1.5, successThreshold: 0, probeTimeout: "soon" },
        outcomes: { auth: "counted", "999": "failure", "9xx": "failure" },
        ignoredAs: "failure",
        name: "x"
      })
    ).toEqual([
      "name",
      "trip.minSamples",
      "trip.failureRateThreshold",
      "trip.window",
      "cooldown.pause",
      "cooldown.base",
      "cooldown.multiplier",
      "cooldown.maxMultiplier",
      "cooldown.graceOpenings",
      "cooldown.jitter",
      "cooldown.honorRetryAfter",
      "cooldown.maxRetryAfter",
      "cooldown.resetAfter",
      "outcomes.999",
      "outcomes.auth",
      "outcomes.9xx",
      "halfOpen.maxProbes",
      "halfOpen.successThreshold",
      "halfOpen.probeTimeout",
      "ignoredAs"
    ])
  })

  const refused: ReadonlyArray<readonly [string, unknown, ReadonlyArray<string>]> = [
    ["no object", "hosted", [""]],
    ["an array", [], [""]],
    ["no trip", {}, ["trip"]],
    ["a trip of no known tag", { trip: { _tag: "Count" } }, ["trip._tag"]],
    ["a trip that is no object", { trip: 5 }, ["trip"]],
    [
      "a threshold that is NaN",
      { trip: { _tag: "Consecutive", failureThreshold: Number.NaN } },
      ["trip.failureThreshold"]
    ],
    [
      "a threshold that is infinite",
      { trip: { _tag: "Consecutive", failureThreshold: Number.POSITIVE_INFINITY } },
      ["trip.failureThreshold"]
    ],
    ["a fractional threshold", { trip: { _tag: "Consecutive", failureThreshold: 1.5 } }, ["trip.failureThreshold"]],
    ["a missing threshold", { trip: { _tag: "Consecutive" } }, ["trip.failureThreshold"]],
    ["an unknown onSuccess", { trip: { ...consecutive, onSuccess: "forget" } }, ["trip.onSuccess"]],
    ["a decay of 0", { trip: { ...consecutive, onSuccess: { decayBy: 0 } } }, ["trip.onSuccess.decayBy"]],
    ["an unknown key in the trip", { trip: { ...consecutive, window: 1000 } }, ["trip.window"]],
    ["AnyOf with one rule", { trip: { _tag: "AnyOf", consecutive: { failureThreshold: 5 } } }, ["trip.rolling"]],
    [
      "AnyOf with faults in both",
      { trip: { _tag: "AnyOf", consecutive: { failureThreshold: 0 }, rolling: { ...rolling, minSamples: 0 } } },
      ["trip.rolling._tag", "trip.consecutive.failureThreshold", "trip.rolling.minSamples"]
    ],
    ["over 1 000 buckets", { trip: { ...rolling, window: 1001, bucketPeriod: 1 } }, ["trip.window"]],
    ["a rate of 0", { trip: { ...rolling, failureRateThreshold: 0 } }, ["trip.failureRateThreshold"]],
    ["a slow rate alone", { trip: { ...rolling, slowCallRateThreshold: 0.5 } }, ["trip.slowCallDuration"]],
    [
      "a degradation that is not below the trip rate",
      { trip: rolling, degradation: { threshold: 0.5 } },
      ["degradation.threshold"]
    ],
    [
      "a degradation that is not below the rolling rate of AnyOf",
      {
        trip: {
          _tag: "AnyOf",
          consecutive: { failureThreshold: 5 },
          rolling: { window: 1000, bucketPeriod: 100, minSamples: 4, failureRateThreshold: 0.5 }
        },
        degradation: { threshold: 0.6 }
      },
      ["degradation.threshold"]
    ],
    ["a degradation without its threshold", { trip: consecutive, degradation: {} }, ["degradation.threshold"]],
    [
      "recoverAt over the threshold",
      { trip: consecutive, degradation: { threshold: 2, recoverAt: 3 } },
      ["degradation.recoverAt"]
    ],
    [
      "a negative recoverAt",
      { trip: consecutive, degradation: { threshold: 2, recoverAt: -1 } },
      ["degradation.recoverAt"]
    ],
    [
      "immediateOpen with a threshold over 1",
      { trip: consecutive, kindThresholds: { quota_exhausted: { immediateOpen: true, threshold: 2 } } },
      ["kindThresholds.quota_exhausted.threshold"]
    ],
    [
      "a kind window of 0",
      { trip: consecutive, kindThresholds: { timeout: { window: 0 } } },
      ["kindThresholds.timeout.window"]
    ],
    [
      "a kind rule that cannot apply",
      { trip: consecutive, kindThresholds: { auth: { threshold: 2 } } },
      ["kindThresholds.auth"]
    ],
    [
      "a kind cooldown that cannot apply",
      { trip: consecutive, outcomes: { timeout: "ignored" }, cooldownByKind: { timeout: 5 } },
      ["cooldownByKind.timeout"]
    ],
    ["a negative kind cooldown", { trip: consecutive, cooldownByKind: { timeout: -1 } }, ["cooldownByKind.timeout"]],
    [
      "a kind without a name",
      { trip: consecutive, kindThresholds: { "": {} }, cooldownByKind: { "": 1 }, outcomes: { "": "failure" } },
      ["outcomes.", "kindThresholds.", "cooldownByKind."]
    ],
    ["null for an object", { trip: consecutive, cooldown: null }, ["cooldown"]],
    ["a fraction of a ms", { trip: consecutive, cooldown: { base: "0.5 millis" } }, ["cooldown.base"]],
    ["an endless duration", { trip: consecutive, cooldown: { base: "infinity" } }, ["cooldown.base"]]
  ]
  for (const [name, input, expected] of refused) {
    it(`V: refuses ${name}`, () => expect(paths(input)).toEqual(expected))
  }

  const accepted: ReadonlyArray<readonly [string, unknown]> = [
    ["resetAfter 0", { trip: consecutive, cooldown: { resetAfter: 0 } }],
    ["a kind cooldown of 0", { trip: consecutive, cooldownByKind: { timeout: 0 } }],
    ["recoverAt 0 and equal to the threshold", { trip: consecutive, degradation: { threshold: 2, recoverAt: 2 } }],
    ["a rate of 1", { trip: { ...rolling, failureRateThreshold: 1 } }],
    ["1 000 buckets", { trip: { ...rolling, window: 1000, bucketPeriod: 1 } }],
    [
      "a dead kind beside a status",
      { trip: consecutive, outcomes: { "401": "failure" }, kindThresholds: { auth: {} } }
    ],
    ["a dead kind beside a class", { trip: consecutive, outcomes: { "4xx": "failure" }, cooldownByKind: { auth: 1 } }],
    [
      "a kind called like a member of every object",
      { trip: consecutive, kindThresholds: { constructor: { threshold: 2 } } }
    ]
  ]
  for (const [name, input] of accepted) {
    it(`V: accepts ${name}`, () => expect(messages(input)).toBe(""))
  }

  it("V: names the nearest window that fits", () => {
    expect(messages({ trip: { ...rolling, window: 1000, bucketPeriod: 300 } })).toContain("the nearest is 900 ms")
    expect(messages({ trip: { ...rolling, window: 100, bucketPeriod: 300 } })).toContain("the nearest is 300 ms")
    expect(messages({ trip: { ...rolling, window: 5005, bucketPeriod: 2 } })).toContain("the nearest is 2000 ms")
  })

  it("V: shows what was given, however long, and what is asked", () => {
    expect(messages({ trip: { ...consecutive, failureThreshold: "x".repeat(1000) } })).toMatch(
      /^trip\.failureThreshold must be a whole number of at least 1, not "x{56}\.\.\.$/
    )
    expect(messages({ trip: { ...consecutive, onSuccess: () => 1 } })).toContain("not a function")
    expect(messages({ trip: consecutive, halfOpen: [] })).toContain("must be an object, not an array")
    expect(messages({ trip: consecutive, halfOpen: { maxProbes: {} } })).toContain("not an object")
  })

  const durations: ReadonlyArray<readonly [string, number]> = [
    ["1000000 nanos", 1],
    ["2000 micros", 2],
    ["1 milli", 1],
    ["500 millis", 500],
    ["0.3 seconds", 300],
    ["1 second", 1_000],
    ["1.5 minutes", 90_000],
    ["1 hour", 3_600_000],
    ["2 days", 172_800_000],
    ["1 week", 604_800_000]
  ]
  for (const [text, ms] of durations) {
    it(`V: reads ${text} as ${ms} ms`, () =>
      expect(Policy.consecutive({ failureThreshold: 1, cooldown: { base: text } }).cooldown.base).toBe(ms))
  }

  it("D1: recoverAt is one below a count, half of a rate", () => {
    expect(Policy.consecutive({ failureThreshold: 5, degradation: { threshold: 3 } }).degradation).toEqual({
      threshold: 3,
      recoverAt: 2
    })
    expect(Policy.hosted.degradation).toEqual({ threshold: 0.25, recoverAt: 0.125 })
  })

  it("P3: a kind's threshold defaults to 1 with immediateOpen, else to the policy's own", () => {
    const kindThresholds = { a: {}, b: { immediateOpen: true }, c: { threshold: 7, window: 10 } }
    const rule = { window: 1000, bucketPeriod: 100, minSamples: 4, failureRateThreshold: 0.5 }
    const thresholds = (policy: Policy.Policy) => Object.values(policy.kindThresholds).map((own) => own.threshold)
    expect(thresholds(Policy.consecutive({ failureThreshold: 5, kindThresholds }))).toEqual([5, 1, 7])
    expect(thresholds(Policy.rolling({ ...rule, kindThresholds }))).toEqual([4, 1, 7])
    expect(thresholds(Policy.anyOf({ consecutive: { failureThreshold: 5 }, rolling: rule, kindThresholds }))).toEqual([
      5, 1, 7
    ])
  })

  it("a constructor throws with every fault", () => {
    const wrong = () => Policy.consecutive({ failureThreshold: 0, cooldown: { base: -1 } })
    expect(wrong).toThrow(Policy.PolicyError)
    expect(wrong).toThrow(/trip\.failureThreshold must be .*; cooldown\.base must be /)
  })
})
