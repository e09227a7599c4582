/**
 * Traces: calls, reports and commands with the times at which they came and what must be seen after each. They are data
 * (JSON), so they are examples of SEMANTICS that any breaker can be held against, and the form in which a
 * counterexample is written down.
 *
 * @since 0.1.0
 */
import type { Admission, Command, Event, Outcome, Permit, Reported, State, View } from "./internal/model.js"
import type { Policy } from "./internal/policyModel.js"
import * as decoding from "./internal/traceDecode.js"
import type * as model from "./internal/traceModel.js"
import * as running from "./internal/traceRun.js"

export type { Fault } from "./internal/decode.js"

/**
 * One line of a trace (SEMANTICS, Trace format).
 *
 * @since 0.1.0
 * @category models
 */
export type Step = model.Step

/**
 * What must be seen after a step. Keys not named are free; `null` says that `retryAfter` or `until` must be absent.
 *
 * @since 0.1.0
 * @category models
 */
export type Expectation = model.Expectation

/**
 * A policy with steps, or with the paths that its refusal must name.
 *
 * @since 0.1.0
 * @category models
 */
export type Trace = model.Trace

/**
 * All traces of a file, or all its faults.
 *
 * @since 0.1.0
 * @category models
 */
export type Decoded = model.Decoded

/**
 * The part of a view that a trace asks for. Times in ms.
 *
 * @since 0.1.0
 * @category models
 */
export type Observed = model.Observed

/**
 * The part of an event that every breaker can tell (SEMANTICS S3).
 *
 * @since 0.1.0
 * @category models
 */
export type Transition = model.Transition

/**
 * A breaker that traces can be played on: the calls of SEMANTICS S1, with `restart` for snapshot and restore.
 *
 * @since 0.1.0
 * @category models
 */
export type Machine<P, S, V extends Observed = Observed> = model.Machine<P, S, V>

/**
 * What one step showed, with only the keys that apply: `permit` for `acquire` and `tail`, `applied` for reports.
 *
 * @since 0.1.0
 * @category models
 */
export type Observation = model.Observation

/**
 * The paths that were found in a policy that had to be refused.
 *
 * @since 0.1.0
 * @category models
 */
export type Refusal = model.Refusal

/**
 * A key of an expectation that did not hold; `null` stands for an absent value.
 *
 * @since 0.1.0
 * @category models
 */
export type Mismatch = model.Mismatch

/**
 * What a trace showed, step by step, and every expectation that did not hold.
 *
 * @since 0.1.0
 * @category models
 */
export type Replay = model.Replay

/**
 * A machine in the middle of a trace.
 *
 * @since 0.1.0
 * @category models
 */
export type Running<S> = running.Running<S>

/**
 * What one step did to a machine.
 *
 * @since 0.1.0
 * @category models
 */
export type Taken<S, V> = running.Taken<S, V>

/**
 * Reads a file's JSON: a list of traces, or one trace alone. Total; every fault is named with its path and its fix.
 * Policies are not looked at: that is the machine's business when the trace is run.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Trace from "@switchgear/core/Trace"
 *
 * const decoded = Trace.decode([{ id: "typo", policy: {}, steps: [{ at: 0, do: "aquire", call: "1" }] }])
 * assert.deepStrictEqual(decoded._tag === "Failure" ? decoded.faults.map((fault) => fault.path) : [], ["0.steps.0.do"])
 * ```
 *
 * @since 0.1.0
 * @category decoding
 */
export const decode: (input: unknown) => Decoded = decoding.decode

/**
 * Plays a trace on a machine. Every `observed` entry is one line of `switchgear replay --print`.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Breaker from "@switchgear/core/Breaker"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Snapshot from "@switchgear/core/Snapshot"
 * import * as Trace from "@switchgear/core/Trace"
 *
 * const machine = Trace.machine({ breaker: Breaker, policy: Policy, snapshot: Snapshot })
 * const replay = Trace.run(machine, {
 *   id: "admitted",
 *   policy: { trip: { _tag: "Consecutive", failureThreshold: 1 } },
 *   steps: [{ at: 0, do: "acquire", call: "1", expect: { permit: true } }]
 * })
 * assert.deepStrictEqual(replay, {
 *   id: "admitted",
 *   observed: [{ id: "admitted", step: 0, at: 0, do: "acquire", state: "Closed", permit: true, retryAfter: 0 }],
 *   mismatches: []
 * })
 * ```
 *
 * @since 0.1.0
 * @category running
 */
export const run: <P, S, V extends Observed>(machine: Machine<P, S, V>, trace: Trace) => Replay = running.run

/**
 * A machine at the first step's time, to be stepped by hand with `take`. `at` in ms.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Breaker from "@switchgear/core/Breaker"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Snapshot from "@switchgear/core/Snapshot"
 * import * as Trace from "@switchgear/core/Trace"
 *
 * const machine = Trace.machine({ breaker: Breaker, policy: Policy, snapshot: Snapshot })
 * const running = Trace.start(machine, Policy.hosted, 100)
 * assert.strictEqual(running.state.at, 100)
 * assert.strictEqual(running.permits.size, 0)
 * ```
 *
 * @since 0.1.0
 * @category running
 */
export const start: <P, S, V extends Observed>(machine: Machine<P, S, V>, policy: P, at: number) => Running<S> =
  running.start

/**
 * Takes one step. A call's name that is acquired again stands for its latest permit.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Breaker from "@switchgear/core/Breaker"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Snapshot from "@switchgear/core/Snapshot"
 * import * as Trace from "@switchgear/core/Trace"
 *
 * const machine = Trace.machine({ breaker: Breaker, policy: Policy, snapshot: Snapshot })
 * const running = Trace.start(machine, Policy.hosted, 0)
 * const taken = Trace.take(machine, Policy.hosted, running, { at: 5, do: "acquire", call: "1" })
 * assert.strictEqual(taken.permit?.at, 5)
 * assert.strictEqual(taken.next.permits.get("1"), taken.permit)
 * ```
 *
 * @since 0.1.0
 * @category running
 */
export const take: <P, S, V extends Observed>(
  machine: Machine<P, S, V>,
  policy: P,
  running: Running<S>,
  step: Step
) => Taken<S, V> = running.take

/**
 * The functions of `Breaker`, `Policy` and `Snapshot` that make up a machine.
 *
 * @since 0.1.0
 * @category models
 */
export interface Parts<Snapshot> {
  readonly breaker: {
    readonly initial: (policy: Policy, now: number) => State
    readonly acquire: (policy: Policy, state: State, now: number) => readonly [Admission, State, ReadonlyArray<Event>]
    readonly report: (
      policy: Policy,
      state: State,
      permit: Permit,
      outcome: Outcome,
      now: number,
      rnd: number
    ) => readonly [Reported, State, ReadonlyArray<Event>]
    readonly command: (
      policy: Policy,
      state: State,
      command: Command,
      now: number
    ) => readonly [State, ReadonlyArray<Event>]
    readonly observe: (policy: Policy, state: State, now: number) => View
    readonly tailPermit: (state: State, now: number) => Permit | undefined
  }
  readonly policy: Pick<Machine<Policy, State>, "decode">
  readonly snapshot: {
    readonly snapshot: (state: State, now: number, wall: number) => Snapshot
    readonly restore: (policy: Policy, snapshot: Snapshot, now: number, wall: number, replaced?: State) => State
  }
}

const noon = 1_767_268_800_000

/**
 * The real machine, from its modules.
 *
 * @example
 * ```ts
 * import * as assert from "node:assert"
 * import * as Breaker from "@switchgear/core/Breaker"
 * import * as Policy from "@switchgear/core/Policy"
 * import * as Snapshot from "@switchgear/core/Snapshot"
 * import * as Trace from "@switchgear/core/Trace"
 *
 * const machine = Trace.machine({ breaker: Breaker, policy: Policy, snapshot: Snapshot })
 * const replay = Trace.run(machine, {
 *   id: "one failure",
 *   policy: { trip: { _tag: "Consecutive", failureThreshold: 1 }, cooldown: { base: 100 } },
 *   steps: [
 *     { at: 0, do: "acquire", call: "1", expect: { permit: true } },
 *     { at: 5, do: "failure", call: "1", expect: { state: "Open", until: 105 } }
 *   ]
 * })
 * assert.deepStrictEqual(replay.mismatches, [])
 * ```
 *
 * @since 0.1.0
 * @category running
 */
export const machine = <Snapshot>({ breaker, policy, snapshot }: Parts<Snapshot>): Machine<Policy, State, View> => ({
  decode: policy.decode,
  initial: breaker.initial,
  acquire: breaker.acquire,
  report: breaker.report,
  command: breaker.command,
  observe: breaker.observe,
  tailPermit: breaker.tailPermit,
  // two readings of one wall clock, `elapsed` apart; which ones does not matter
  restart: (given, state, now, elapsed, resumeAt) =>
    snapshot.restore(given, snapshot.snapshot(state, now, noon), resumeAt, noon + elapsed),
  at: (state) => state.at
})
