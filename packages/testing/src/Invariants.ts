/**
 * What must hold at every step of every run of a breaker, each claim by the rules it comes from. They judge `core`'s
 * machine by its states, its events and its views; what has to be counted they count again from the reports.
 *
 * @since 0.1.0
 */
import type * as Breaker from "@switchgear/core/Breaker"
import type * as Policy from "@switchgear/core/Policy"
import * as Trace from "@switchgear/core/Trace"
import * as admission from "./internal/invariants/admission.js"
import * as counting from "./internal/invariants/counting.js"
import * as data from "./internal/invariants/data.js"
import {
  freeze,
  type Invariant,
  type Moment,
  type RealMachine,
  type Run,
  same,
  shown,
  type Violation
} from "./internal/invariants/run.js"
import * as states from "./internal/invariants/states.js"

export type {
  /**
   * A claim about the last moment of every run.
   *
   * @since 0.1.0
   * @category models
   */
  Invariant,
  /**
   * One step of a run: what there was, what was asked, what came of it.
   *
   * @since 0.1.0
   * @category models
   */
  Moment,
  /**
   * The machine that invariants look into.
   *
   * @since 0.1.0
   * @category models
   */
  RealMachine,
  /**
   * A machine, its policy and every moment so far.
   *
   * @since 0.1.0
   * @category models
   */
  Run,
  /**
   * A claim that did not hold.
   *
   * @since 0.1.0
   * @category models
   */
  Violation
}

/**
 * Every invariant of a run, by name.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Invariants from "@switchgear/testing/Invariants"
 *
 * assert.strictEqual(Invariants.invariants.eventsChain?.rule, "S3")
 * ```
 *
 * @since 0.1.0
 * @category invariants
 */
export const invariants: Readonly<Record<string, Invariant>> = { ...admission, ...states, ...counting, ...data }

const every: ReadonlyArray<Invariant> = Object.values(invariants)

/**
 * The first invariant that the last moment of a run breaks, or `null`. Whoever checks every prefix of a run checks the
 * run.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Invariants from "@switchgear/testing/Invariants"
 * import * as Machines from "@switchgear/testing/Machines"
 *
 * const run = Invariants.record(Machines.real, Policy.hosted, [{ at: 0, do: "forceOpen", for: 100 }])
 * assert.strictEqual(Invariants.firstViolation(run), null)
 * ```
 *
 * @since 0.1.0
 * @category checking
 */
export const firstViolation = (run: Run): Violation | null => {
  const last = run.moments.at(-1)
  if (last === undefined) return null
  // what the moment before has already been asked need not be asked again
  const sameState = last.after === last.before && run.moments.length > 1
  const sameTime = last.taken.now === run.moments.at(-2)?.taken.now
  for (const { check, judges, name, rule } of every) {
    if (sameState && (judges === "state" || (judges === "state and time" && sameTime))) continue
    const message = check(run, last)
    if (message !== null) return { invariant: name, rule, step: run.moments.length - 1, message }
  }
  return null
}

/**
 * One more moment.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Trace from "@switchgear/core/Trace"
 * import * as Invariants from "@switchgear/testing/Invariants"
 * import * as Machines from "@switchgear/testing/Machines"
 *
 * const running = Trace.start(Machines.real, Policy.hosted, 0)
 * const step: Trace.Step = { at: 5, do: "acquire", call: "1" }
 * const moment = Invariants.moment(step, running.state, Trace.take(Machines.real, Policy.hosted, running, step))
 * assert.strictEqual(moment.now, 5)
 * ```
 *
 * @since 0.1.0
 * @category running
 */
export const moment = (
  step: Trace.Step,
  before: Breaker.State,
  taken: Trace.Taken<Breaker.State, Breaker.View>
): Moment => ({
  step,
  before,
  after: taken.next.state,
  now: Math.max(step.at, before.at),
  taken
})

/**
 * Plays steps on a machine and keeps every moment. Every state is frozen, so that a machine that writes to one throws
 * (SEMANTICS S1).
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Invariants from "@switchgear/testing/Invariants"
 * import * as Machines from "@switchgear/testing/Machines"
 *
 * const run = Invariants.record(Machines.real, Policy.hosted, [
 *   { at: 0, do: "forceOpen", for: 100 },
 *   { at: 100, do: "acquire", call: "1" }
 * ])
 * assert.deepStrictEqual(run.moments.map((moment) => moment.after._tag), ["ForcedOpen", "HalfOpen"])
 * ```
 *
 * @since 0.1.0
 * @category running
 */
export const record = (machine: RealMachine, policy: Policy.Policy, steps: ReadonlyArray<Trace.Step>): Run => {
  const moments: Array<Moment> = []
  let running = Trace.start(machine, policy, steps[0]?.at ?? 0)
  freeze(running.state)
  for (const step of steps) {
    const taken = Trace.take(machine, policy, running, step)
    freeze(taken.next.state)
    moments.push(moment(step, running.state, taken))
    running = taken.next
  }
  return { machine, policy, moments }
}

/**
 * Every violation of a run, at most one a step.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Invariants from "@switchgear/testing/Invariants"
 * import * as Machines from "@switchgear/testing/Machines"
 *
 * const run = Invariants.record(Machines.real, Policy.hosted, [
 *   { at: 0, do: "acquire", call: "1" },
 *   { at: 20, do: "failure", call: "1", kind: "timeout" }
 * ])
 * assert.deepStrictEqual(Invariants.violations(run), [])
 * ```
 *
 * @since 0.1.0
 * @category checking
 */
export const violations = (run: Run): ReadonlyArray<Violation> =>
  run.moments.flatMap((_, index) => {
    const violation = firstViolation({ ...run, moments: run.moments.slice(0, index + 1) })
    return violation === null ? [] : [violation]
  })

/** ms by which a shift changes nothing: any, or a multiple of the bucket period (SEMANTICS T1). */
const unit = (policy: Policy.Policy): number =>
  policy.trip._tag === "Consecutive"
    ? 1
    : policy.trip._tag === "Rolling"
      ? policy.trip.bucketPeriod
      : policy.trip.rolling.bucketPeriod

const shifted = (step: Trace.Step, by: number): Trace.Step =>
  step.do === "restart" && step.resumeAt !== undefined
    ? { ...step, at: step.at + by, resumeAt: step.resumeAt + by }
    : { ...step, at: step.at + by }

/** The same times, told from where the trace was shifted to. */
const unshifted = (value: unknown, by: number): unknown => {
  if (Array.isArray(value)) return value.map((inner: unknown) => unshifted(inner, by))
  if (typeof value !== "object" || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]: [string, unknown]) => [
      key,
      ["at", "since", "until"].includes(key) && typeof inner === "number" ? inner - by : unshifted(inner, by)
    ])
  )
}

/** SEMANTICS T4: a time so large that a sum with it saturates, here or once it is shifted. */
const saturates = (value: unknown, by: number): boolean =>
  typeof value === "number"
    ? Math.abs(value) + Math.abs(by) >= Number.MAX_SAFE_INTEGER
    : typeof value === "object" && value !== null && Object.values(value).some((inner) => saturates(inner, by))

/**
 * SEMANTICS T1: shifting all times by a constant (under a rolling rule, by a multiple of `bucketPeriod`) changes
 * nothing but the times. What differs first, or `null`; a sum that saturates (T4) ends the comparison. `times` counts
 * in ms, or in bucket periods under a rolling rule.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Invariants from "@switchgear/testing/Invariants"
 * import * as Machines from "@switchgear/testing/Machines"
 *
 * const steps = [{ at: 0, do: "forceOpen", for: 100 }, { at: 100, do: "acquire", call: "1" }] as const
 * assert.strictEqual(Invariants.shiftInvariance(Machines.real, Policy.hosted, steps, -12), null)
 * ```
 *
 * @since 0.1.0
 * @category checking
 */
export const shiftInvariance = (
  machine: RealMachine,
  policy: Policy.Policy,
  steps: ReadonlyArray<Trace.Step>,
  times: number
): string | null => {
  const by = times * unit(policy)
  const here = record(machine, policy, steps).moments
  const there = record(
    machine,
    policy,
    steps.map((step) => shifted(step, by))
  ).moments
  for (const [index, { after, step, taken }] of here.entries()) {
    if (saturates([step, after, taken.view, there[index]?.after], by)) return null
    const other = there[index]?.taken
    const told = { admission: taken.admission, reported: taken.reported, events: taken.events, view: taken.view }
    const late = { admission: other?.admission, reported: other?.reported, events: other?.events, view: other?.view }
    const back = unshifted(late, by)
    if (!same(told, back)) return `step ${index}: ${shown(told)}, shifted by ${by}: ${shown(back)}`
  }
  return null
}
