import type * as Fallback from "@switchgear/core/Fallback"
import type * as Walk from "@switchgear/core/Walk"
import * as fc from "fast-check"

/** A plan as a person writes it: the settings still to be decoded. */
export interface PlanInput {
  readonly primary: Walk.Target
  readonly chain: ReadonlyArray<Walk.Target>
  readonly settings: Fallback.SettingsInput
  readonly byo?: boolean
}

const maybe = <A>(arbitrary: fc.Arbitrary<A>): fc.Arbitrary<A | undefined> => fc.option(arbitrary, { nil: undefined })

/** The record without its undefined fields. */
const defined = <A extends object>(fields: A): { [K in keyof A]: Exclude<A[K], undefined> } => {
  const entries = Object.entries(fields).filter(([, value]) => value !== undefined)
  // dropping the undefined fields is just what the type says
  return Object.fromEntries(entries) as { [K in keyof A]: Exclude<A[K], undefined> }
}

/** Few names, so that repeats, blanks and the primary itself turn up in chains (ROUTING F2). */
const names = ["a", "b", "c", "d", " a", "b ", "", "  ", "primary"]

const target = (name: fc.Arbitrary<string>): fc.Arbitrary<Walk.Target> =>
  fc
    .record({
      name,
      contextWindow: maybe(fc.constantFrom(1000, 8000, 128_000)),
      score: maybe(fc.constantFrom(0, 0.5, 0.9, 1)),
      state: maybe(fc.constantFrom("Closed" as const, "Degraded" as const, "HalfOpen" as const, "Open" as const))
    })
    .map(defined)

const keys = [
  "circuit_open",
  "server_error",
  "timeout",
  "rate_limit",
  "auth",
  "saturated",
  "context_length",
  "503",
  "5xx",
  "4xx"
]

const settings: fc.Arbitrary<Fallback.SettingsInput> = fc
  .record({
    preset: maybe(fc.constantFrom("recommended" as const, "ibex" as const, "nrLlm" as const)),
    // a key is in one of the two lists, if in any
    triggers: maybe(
      fc
        .tuple(
          fc.uniqueArray(fc.constantFrom(...keys), { maxLength: 6 }),
          fc.uniqueArray(fc.constantFrom(...keys), { maxLength: 2 })
        )
        .map(([on, never]) => ({ on, never: never.filter((key) => !on.includes(key)) }))
    ),
    maxDepth: maybe(fc.integer({ min: 1, max: 4 })),
    depthCounts: maybe(fc.constantFrom("attempts" as const, "listed" as const)),
    surface: maybe(fc.constantFrom("primary" as const, "last" as const, "exhausted" as const)),
    reorderByHealth: maybe(fc.boolean()),
    preferHealthyState: maybe(fc.boolean()),
    lastResort: maybe(fc.constantFrom("none" as const, "soonest" as const))
  })
  .map(({ triggers, ...rest }) => defined({ ...rest, ...triggers }))

export const plan: fc.Arbitrary<PlanInput> = fc
  .record({
    primary: target(fc.constantFrom("primary", " primary ")),
    chain: fc.array(target(fc.constantFrom(...names)), { maxLength: 8 }),
    settings,
    byo: maybe(fc.constantFrom(false, false, false, true))
  })
  .map(defined)

const failures: ReadonlyArray<Walk.Failure> = [
  { kind: "server_error", status: 503 },
  { kind: "timeout" },
  { kind: "rate_limit", status: 429, retryAfter: 5000 },
  { kind: "auth", status: 401 },
  { kind: "context_length", status: 400 },
  { kind: "client_fault", status: 422 },
  { kind: "cancelled" }
]

/** What can happen to a target that is due; successes are rare, so that walks are long. */
export const event: fc.Arbitrary<Walk.Event> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc
      .record({ failure: fc.constantFrom(...failures), outputSent: fc.constantFrom(false, false, false, false, true) })
      .map((failed): Walk.Event => ({ _tag: "Failed", ...failed }))
  },
  {
    weight: 5,
    arbitrary: fc
      .record({
        kind: fc.constantFrom("circuit_open" as const, "saturated" as const),
        retryAfter: maybe(fc.constantFrom(0, 100, 2500)),
        openedBy: maybe(fc.constantFrom("rate_limit", "quota_exhausted", "timeout"))
      })
      .map((refused): Walk.Event => ({ _tag: "Refused", ...defined(refused) }))
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom<Walk.Event>(
      { _tag: "Denied" },
      { _tag: "Unknown" },
      { _tag: "PolicyError" },
      { _tag: "Ineligible", reason: "tools" },
      { _tag: "OverBudget" }
    )
  },
  { weight: 1, arbitrary: fc.constantFrom<Walk.Event>({ _tag: "Served" }, { _tag: "Cancelled" }) }
)
