import { config, PolicySchema } from "@switchgear/breaker/PolicySchema"
import * as Policy from "@switchgear/core/Policy"
import * as ConfigProvider from "effect/ConfigProvider"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as JSONSchema from "effect/JSONSchema"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { assert, describe, it } from "vitest"
import { PolicyInput } from "../src/internal/policyInput.js"

const decode = Schema.decodeUnknownEither(PolicySchema)
const describes = Schema.is(PolicyInput)

const inputs: ReadonlyArray<unknown> = [
  ...Object.values(Policy.presets),
  { trip: { _tag: "Consecutive", failureThreshold: 5, onSuccess: "reset" } },
  { trip: { _tag: "Consecutive", failureThreshold: 5, onSuccess: { decayBy: 2 } }, degradation: { threshold: 3 } },
  {
    trip: { _tag: "Consecutive", failureThreshold: 5 },
    cooldown: {
      base: "30 seconds",
      multiplier: 2,
      maxMultiplier: 16,
      graceOpenings: 0,
      jitter: 0.2,
      honorRetryAfter: true,
      maxRetryAfter: "1 hour",
      resetAfter: 0
    },
    cooldownByKind: { quota_exhausted: "1 hour" },
    kindThresholds: { quota_exhausted: { immediateOpen: true }, rate_limit: { threshold: 10, window: "1 minute" } },
    halfOpen: { maxProbes: 1, successThreshold: 1, probeTimeout: "2 minutes" },
    outcomes: { auth: "failure", "408": "ignored" },
    ignoredAs: "none"
  }
]

const bad: ReadonlyArray<unknown> = [
  null,
  {},
  { trip: { _tag: "Sometimes" } },
  { trip: { _tag: "Consecutive", failureThreshold: 0 } },
  { trip: { _tag: "Consecutive", failureThreshold: 1.5 } },
  { trip: { _tag: "Consecutive", failureThreshold: 1 }, cooldown: { base: "soon" } },
  { trip: { _tag: "Consecutive", failureThreshold: 1 }, cooldown: { jitter: 2 } },
  { trip: { _tag: "Consecutive", failureThreshold: 1 }, ignoredAs: "failure" },
  { trip: { _tag: "Rolling", window: 1_000, bucketPeriod: 100, minSamples: 1, failureRateThreshold: 0 } }
]

describe("PolicySchema", () => {
  it("decodes what Policy.decode does, and encoding gives plain JSON that decodes to the same (SEMANTICS V)", () => {
    for (const input of inputs) {
      const policy = Either.getOrThrow(decode(input))
      assert.deepStrictEqual(policy, Either.getOrThrow(decode(JSON.parse(JSON.stringify(policy)))))
      assert.deepStrictEqual(Schema.encodeSync(PolicySchema)(policy), policy)
    }
  })

  it("names every fault at its path", () => {
    const result = decode({
      trip: { _tag: "Rolling", window: 1_000, bucketPeriod: 300, minSamples: 0, failureRateThreshold: 2 },
      halfOpen: { maxProbes: 0 },
      colour: "red"
    })
    const issues = Either.isLeft(result) ? ParseResult.ArrayFormatter.formatErrorSync(result.left) : []
    const paths = issues.map(({ path }) => path.join("."))
    for (const path of ["trip.minSamples", "trip.failureRateThreshold", "halfOpen.maxProbes", "colour"]) {
      assert.include(paths, path)
    }
    assert.isTrue(issues.every(({ message }) => message.length > 5))
  })

  it("describes for editors what may be written: all that decodes, and not what has the wrong shape", () => {
    for (const input of inputs) {
      assert.isTrue(describes(input), JSON.stringify(input))
    }
    for (const input of bad) {
      assert.isFalse(describes(input), JSON.stringify(input))
      assert.isTrue(Either.isLeft(decode(input)), JSON.stringify(input))
    }
    const described = JSON.stringify(JSONSchema.make(PolicySchema))
    for (const key of [
      "failureThreshold",
      "failureRateThreshold",
      "decayBy",
      "kindThresholds",
      "probeTimeout",
      "30 seconds"
    ]) {
      assert.include(described, key)
    }
  })

  it("knows the presets by name in configuration", () => {
    for (const [name, policy] of Object.entries(Policy.presets)) {
      const provider = ConfigProvider.fromMap(new Map([["P", ` ${name} `]]))
      assert.strictEqual(Effect.runSync(Effect.withConfigProvider(config("P"), provider)), policy)
    }
  })
})
