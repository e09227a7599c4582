import * as Fallback from "@switchgear/core/Fallback"
import * as Walk from "@switchgear/core/Walk"
import * as fc from "fast-check"

/** Few names, so that repeats, blanks and the primary turn up in chains. */
export const name = fc.constantFrom("p", "a", "b", "c", "d", " a", "b\t", "", "  ")

export const target: fc.Arbitrary<Walk.Target> = fc.record(
  {
    name,
    contextWindow: fc.constantFrom(8_000, 32_000, 128_000),
    score: fc.constantFrom(0, 0.2, 0.5, 0.9, 1),
    state: fc.constantFrom("Closed" as const, "Degraded" as const, "HalfOpen" as const, "Open" as const)
  },
  { requiredKeys: ["name"] }
)

const trigger = fc.constantFrom(
  "circuit_open",
  "server_error",
  "timeout",
  "rate_limit",
  "context_length",
  "saturated",
  "auth",
  "4xx",
  "5xx",
  "503"
)

export const settings: fc.Arbitrary<Fallback.Settings> = fc
  .record({
    on: fc.uniqueArray(trigger, { maxLength: 10 }),
    never: fc.uniqueArray(trigger, { maxLength: 2 }),
    maxDepth: fc.integer({ min: 1, max: 4 }),
    depthCounts: fc.constantFrom("attempts" as const, "listed" as const),
    surface: fc.constantFrom("primary" as const, "last" as const, "exhausted" as const),
    reorderByHealth: fc.boolean(),
    preferHealthyState: fc.boolean(),
    lastResort: fc.constantFrom("none" as const, "soonest" as const),
    budget: fc.constant(0.5)
  })
  .map((input) => Fallback.make({ ...input, on: input.on.filter((key) => !input.never.includes(key)) }))

export const plan: fc.Arbitrary<Walk.Plan> = fc.record({
  primary: target.map((one) => ({ ...one, name: "p" })),
  chain: fc.array(target, { maxLength: 12 }),
  settings,
  byo: fc.oneof({ arbitrary: fc.constant(false), weight: 9 }, { arbitrary: fc.constant(true), weight: 1 })
})

const wait = fc.option(fc.oneof(fc.nat(100_000), fc.constantFrom(-1, 0, 0.5)), { nil: undefined })

export const failure: fc.Arbitrary<Walk.Failure> = fc.record(
  {
    kind: fc.constantFrom(
      "server_error",
      "timeout",
      "rate_limit",
      "context_length",
      "auth",
      "client_fault",
      "cancelled"
    ),
    status: fc.constantFrom(400, 401, 408, 429, 500, 503),
    retryAfter: fc.nat(100_000)
  },
  { requiredKeys: ["kind"] }
)

export const refusal: fc.Arbitrary<Walk.Event> = fc
  .tuple(
    fc.constantFrom("circuit_open" as const, "circuit_open" as const, "saturated" as const),
    wait,
    fc.constantFrom(undefined, "rate_limit", "quota_exhausted", "timeout")
  )
  .map(([kind, retryAfter, openedBy]) => Walk.refused(kind, { retryAfter, openedBy }))

/** Mostly events that let a walk go on. */
export const event: fc.Arbitrary<Walk.Event> = fc.oneof(
  { arbitrary: failure.map((one) => Walk.failed(one)), weight: 8 },
  { arbitrary: refusal, weight: 8 },
  { arbitrary: fc.constantFrom(Walk.denied, Walk.unknown, Walk.ineligible("images")), weight: 3 },
  { arbitrary: failure.map((one) => Walk.failed(one, true)), weight: 1 },
  { arbitrary: fc.constantFrom(Walk.served, Walk.policyError, Walk.overBudget, Walk.cancelled), weight: 2 }
)

export const events: fc.Arbitrary<ReadonlyArray<Walk.Event>> = fc.array(event, { maxLength: 14 })

/** The primary gets as far as an error, so that the chain is walked. */
export const goingOn: fc.Arbitrary<ReadonlyArray<Walk.Event>> = fc
  .tuple(
    fc.oneof(
      refusal,
      failure.map((one) => Walk.failed(one))
    ),
    events
  )
  .map(([first, rest]) => [first, ...rest])

export interface Run {
  /** Every state of the walk, the first one included. */
  readonly steps: ReadonlyArray<Walk.Step>
  /** The targets called upstream, in order. */
  readonly called: ReadonlyArray<string>
  readonly last: Walk.Step
}

export const run = (plan: Walk.Plan, events: ReadonlyArray<Walk.Event>): Run => {
  let last: Walk.Step = Walk.start(plan)
  const steps: Array<Walk.Step> = [last]
  const called: Array<string> = []
  for (const event of events) {
    if (last._tag === "Next" && (event._tag === "Served" || event._tag === "Failed")) called.push(last.target.name)
    last = Walk.step(last, event)
    steps.push(last)
  }
  return { steps, called, last }
}
