/**
 * Why a breaker did what it did: its counters at a moment of a run, the rule that is in force, and what would have
 * tipped it.
 *
 * @since 0.1.0
 */
import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
import * as Breaker from "@switchgear/core/Breaker"
import type { Policy } from "@switchgear/core/Policy"
import * as Snapshot from "@switchgear/core/Snapshot"
import type { PipelineConfigError } from "@switchgear/routing/Pipeline"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { describeReason, describeTime } from "./internal/describe.js"
import { owners } from "./internal/fleet.js"
import * as Run from "./internal/run.js"
import type { Transition } from "./RunReport.js"
import type { Scenario } from "./Scenario.js"
import { type NamedPolicy, ownPolicy } from "./Simulator.js"

/**
 * What would change the state: so many outcomes of one kind, one after the other. Found out by asking the machine.
 *
 * @since 0.1.0
 * @category models
 */
export interface Tip {
  readonly outcome: "failure" | "success"
  /** Of the failures. */
  readonly kind?: string
  readonly count: number
  readonly to: Breaker.State["_tag"]
  readonly reason: Breaker.Reason
}

/**
 * A breaker at a moment.
 *
 * @since 0.1.0
 * @category models
 */
export interface Explained {
  readonly provider: string
  readonly breaker: string
  /** From 0. */
  readonly replica: number
  /** Times are ms since the run began. */
  readonly view: Breaker.View
  /** The latest change of its state, which says why it is as it is. */
  readonly last: Transition | null
  readonly tips: ReadonlyArray<Tip>
}

/**
 * All breakers at a moment of a run.
 *
 * @since 0.1.0
 * @category models
 */
export interface Explanation {
  readonly scenario: string
  readonly policy: string
  readonly seed: number
  /** ms since the run began. */
  readonly at: number
  readonly breakers: ReadonlyArray<Explained>
}

/** Outcomes of one kind that are tried in a row. */
const most = 1_000

const outcomes = (view: Breaker.View): ReadonlyArray<readonly [outcome: Breaker.Outcome, kind: string | undefined]> => {
  const kinds = new Set([...Object.keys(view.kinds), "server_error", "rate_limit", "timeout"])
  kinds.delete("_other")
  return [
    [Breaker.success(1), undefined],
    ...Array.from(kinds, (kind) => [Breaker.failure(kind, { latency: 1 }), kind] as const)
  ]
}

/** SEMANTICS S1: the machine is pure, so that what would have been can be asked. */
const tipsOf = (policy: Policy, from: Breaker.State, view: Breaker.View, now: number): ReadonlyArray<Tip> => {
  if (view.state === "Open" || view.forced) return []
  const tips: Array<Tip> = []
  for (const [outcome, kind] of outcomes(view)) {
    let state = from
    for (let count = 1; count <= most; count++) {
      const [admission, admitted] = Breaker.acquire(policy, state, now)
      if (admission._tag === "Rejected") break
      const [, next, events] = Breaker.report(policy, admitted, admission.permit, outcome, now, 0)
      const event = events.find(({ to }) => to === "Open" || to === "Closed")
      if (event !== undefined) {
        // a snapshot forgets the probes that have succeeded (SEMANTICS S9)
        const done = kind === undefined && view.state === "HalfOpen" ? (view.successes ?? 0) : 0
        tips.push({
          outcome: kind === undefined ? "success" : "failure",
          ...(kind === undefined ? undefined : { kind }),
          count: Math.max(1, count - done),
          to: event.to,
          reason: event.reason
        })
        break
      }
      state = next
    }
  }
  return tips
}

/**
 * Plays the run of a seed up to a time, and looks at every breaker.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Explain from "@switchgear/simulator/Explain"
 * import * as Scenarios from "@switchgear/simulator/Scenarios"
 * import * as Effect from "effect/Effect"
 *
 * const program = Effect.gen(function*() {
 *   const scenario = yield* Scenarios.get("total-outage")
 *   return yield* Explain.at(scenario, 330_000)
 * })
 * const [openai] = (await Effect.runPromise(program)).breakers
 * assert.strictEqual(openai?.view.state, "Open")
 * assert.strictEqual(openai.view.cause?.rule, "P1")
 * ```
 *
 * @since 0.1.0
 * @category running
 */
export const at = (
  scenario: Scenario,
  time: number,
  options: { readonly policy?: NamedPolicy | undefined; readonly seed?: number | undefined } = {}
): Effect.Effect<Explanation, PipelineConfigError> =>
  Effect.gen(function* () {
    const { policy = ownPolicy(scenario), seed = 1 } = options
    const run = yield* Run.make(scenario, policy.policy, seed)
    const owner = owners(scenario)
    let found: ReadonlyArray<Explained> | undefined
    run.at(time, () => {
      found = run.fleet.registries.flatMap((registry, replica) =>
        run.look(registry.statuses).map(({ name, view }): Explained => {
          const last = run.tally.transitions.findLast((one) => one.breaker === name && one.replica === replica)
          const snapshot = run.look(
            Effect.flatMap(registry.find(name), (breaker) =>
              Effect.transposeOption(Option.map(breaker, CircuitBreaker.snapshot))
            )
          )
          const tips =
            policy.policy === undefined || Option.isNone(snapshot)
              ? []
              : tipsOf(
                  policy.policy,
                  Snapshot.restore(policy.policy, snapshot.value, time, snapshot.value.wall),
                  view,
                  time
                )
          return { provider: owner.get(name) ?? name, breaker: name, replica, view, last: last ?? null, tips }
        })
      )
    })
    while (found === undefined && run.step()) yield* Effect.yieldNow()
    return { scenario: scenario.name, policy: policy.name, seed, at: time, breakers: found ?? [] }
  }).pipe(Effect.scoped)

const counters = (view: Breaker.View): ReadonlyArray<string> => {
  const { failures, missingSamples, openings, samples, slow, streak, successes } = view
  const kinds = Object.entries(view.kinds).map(([kind, count]) => `${kind} ${count}`)
  return [
    ...(streak === undefined ? [] : [`${streak} failed in a row`]),
    ...(samples === undefined ? [] : [`${failures ?? 0} of the last ${samples} failed, ${slow ?? 0} were slow`]),
    ...(missingSamples === undefined || missingSamples === 0 ? [] : [`${missingSamples} samples short of the minimum`]),
    ...(successes === undefined ? [] : [`${successes} probes succeeded`]),
    ...(kinds.length === 0 ? [] : [`failures of this era: ${kinds.join(", ")}`]),
    ...(openings === 0 ? [] : [`opened ${openings === 1 ? "once" : `${openings} times`} since the last recovery`])
  ]
}

/** Kinds that would do the same are told together. */
const tipLines = (tips: ReadonlyArray<Tip>): ReadonlyArray<string> => {
  const groups = new Map<string, { readonly first: Tip; readonly kinds: Array<string> }>()
  for (const one of tips) {
    const key = JSON.stringify([one.outcome, one.count, one.to, one.reason.rule, one.reason.by])
    const group = groups.get(key) ?? { first: one, kinds: [] }
    if (one.kind !== undefined) group.kinds.push(one.kind)
    groups.set(key, group)
  }
  return Array.from(groups.values(), ({ first: { count, outcome, reason, to }, kinds }) => {
    const many =
      count === 1 ? `One more ${outcome}` : `${count} more ${outcome === "success" ? "successes" : "failures"} in a row`
    const of = kinds.length === 0 ? "" : ` (${kinds.join(", ")})`
    const why = kinds.length > 1 && reason.by !== "kind" ? describeReason(withoutKind(reason)) : describeReason(reason)
    return `${many}${of} would make it ${to}: ${why}`
  })
}

const withoutKind = (reason: Breaker.Reason): Breaker.Reason =>
  reason.by === "streak" || reason.by === "failureRate" || reason.by === "slowRate" ? { ...reason, kind: null } : reason

/**
 * An explanation in words, a line each.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Explain from "@switchgear/simulator/Explain"
 *
 * const calm = { scenario: "s", policy: "none", seed: 1, at: 61_000, breakers: [] }
 * assert.deepStrictEqual(Explain.render(calm), ["s at 1m 1s under none, seed 1", "There are no breakers."])
 * ```
 *
 * @since 0.1.0
 * @category rendering
 */
export const render = (explanation: Explanation): ReadonlyArray<string> => {
  const { at, breakers, policy, scenario, seed } = explanation
  const head = `${scenario} at ${describeTime(at)} under ${policy}, seed ${seed}`
  if (breakers.length === 0) return [head, "There are no breakers."]
  const several = breakers.some(({ replica }) => replica > 0)
  return [
    head,
    ...breakers.flatMap(({ breaker, last, replica, tips, view }) => [
      "",
      `${breaker}${several ? `, replica ${replica + 1}` : ""}: ${view.state} since ${describeTime(view.since)}`,
      last === null ? "  It has not changed yet." : `  ${last.from} to ${last.to}: ${describeReason(last.reason)}`,
      ...(view.until === undefined ? [] : [`  Probes from ${describeTime(view.until)} on (A3).`]),
      ...counters(view).map((line) => `  ${line}`),
      ...tipLines(tips).map((line) => `  ${line}`)
    ])
  ]
}
