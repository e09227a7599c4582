import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import type { PlainPolicy } from "./state.js"

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const fields = (value: unknown): Fields => (isFields(value) ? value : {})

const numberOr = (value: unknown, otherwise: number): number => (typeof value === "number" ? value : otherwise)

const flagOr = (value: unknown, otherwise: boolean): boolean => (typeof value === "boolean" ? value : otherwise)

/** SEMANTICS, Policies: whole ms, or Effect's duration strings as Effect itself reads them. */
const msOr = (value: unknown, otherwise: number): number => {
  if (typeof value === "number") return value
  if (typeof value !== "string") return otherwise
  const duration = Duration.decodeUnknown(value)
  return Option.isSome(duration) ? Duration.toMillis(duration.value) : otherwise
}

const mapValues = <A>(value: unknown, f: (value: unknown) => A): Readonly<Record<string, A>> =>
  Object.fromEntries(Object.entries(fields(value)).map(([key, entry]) => [key, f(entry)]))

const consecutive = (input: Fields) => ({
  failureThreshold: numberOr(input["failureThreshold"], 0),
  onSuccess: isFields(input["onSuccess"]) ? { decayBy: numberOr(input["onSuccess"]["decayBy"], 0) } : ("reset" as const)
})

const rolling = (input: Fields) => ({
  window: msOr(input["window"], 0),
  bucketPeriod: msOr(input["bucketPeriod"], 0),
  minSamples: numberOr(input["minSamples"], 0),
  failureRateThreshold: numberOr(input["failureRateThreshold"], 0),
  ...(input["slowCallDuration"] === undefined
    ? {}
    : {
        slowCallDuration: msOr(input["slowCallDuration"], 0),
        slowCallRateThreshold: numberOr(input["slowCallRateThreshold"], 0)
      })
})

const trip = (input: Fields): PlainPolicy["trip"] =>
  input["_tag"] === "Rolling"
    ? { _tag: "Rolling", ...rolling(input) }
    : input["_tag"] === "AnyOf"
      ? {
          _tag: "AnyOf",
          consecutive: consecutive(fields(input["consecutive"])),
          rolling: rolling(fields(input["rolling"]))
        }
      : { _tag: "Consecutive", ...consecutive(input) }

const taken = (value: unknown): "failure" | "ignored" | "success" =>
  value === "ignored" || value === "success" ? value : "failure"

/** SEMANTICS, Policies: a valid policy with its defaults. What is not valid is not its business. */
export const fillDefaults = (input: unknown): PlainPolicy => {
  const given = fields(input)
  const rule = trip(fields(given["trip"]))
  const cooldown = fields(given["cooldown"])
  const halfOpen = fields(given["halfOpen"])
  const degradation = given["degradation"] === undefined ? undefined : fields(given["degradation"])
  const threshold = numberOr(degradation?.["threshold"], 0)
  return {
    trip: rule,
    // D1: the gap below the threshold is one, or half of a rate
    ...(degradation === undefined
      ? {}
      : {
          degradation: {
            threshold,
            recoverAt: numberOr(degradation["recoverAt"], rule._tag === "Consecutive" ? threshold - 1 : threshold / 2)
          }
        }),
    cooldown: {
      base: msOr(cooldown["base"], 30_000),
      multiplier: numberOr(cooldown["multiplier"], 1),
      maxMultiplier: numberOr(cooldown["maxMultiplier"], 16),
      graceOpenings: numberOr(cooldown["graceOpenings"], 0),
      jitter: numberOr(cooldown["jitter"], 0),
      honorRetryAfter: flagOr(cooldown["honorRetryAfter"], false),
      maxRetryAfter: msOr(cooldown["maxRetryAfter"], 3_600_000),
      resetAfter: msOr(cooldown["resetAfter"], 0)
    },
    cooldownByKind: mapValues(given["cooldownByKind"], (value) => msOr(value, 0)),
    // P3: the threshold defaults to 1 with `immediateOpen`, else to the policy's own
    kindThresholds: mapValues(given["kindThresholds"], (value) => {
      const own = fields(value)
      const immediateOpen = flagOr(own["immediateOpen"], false)
      const ofPolicy =
        rule._tag === "Rolling"
          ? rule.minSamples
          : rule._tag === "AnyOf"
            ? rule.consecutive.failureThreshold
            : rule.failureThreshold
      return {
        threshold: numberOr(own["threshold"], immediateOpen ? 1 : ofPolicy),
        ...(own["window"] === undefined ? {} : { window: msOr(own["window"], 0) }),
        immediateOpen
      }
    }),
    halfOpen: {
      maxProbes: numberOr(halfOpen["maxProbes"], 1),
      successThreshold: numberOr(halfOpen["successThreshold"], 1),
      probeTimeout: msOr(halfOpen["probeTimeout"], 120_000)
    },
    outcomes: mapValues(given["outcomes"], taken),
    ignoredAs: given["ignoredAs"] === "success" ? "success" : "none"
  }
}
