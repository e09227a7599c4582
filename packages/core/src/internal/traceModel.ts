import type { Fault } from "./decode.js"
import type { Admission, Command, ObservedState, Outcome, Permit, Reported, State } from "./model.js"

/** What a step of a trace must show. Keys not named are free; `null` says that the value is absent. */
export interface Expectation {
  /** Whether `acquire` or `tail` gave a permit. */
  readonly permit?: boolean
  /** Whether a report was applied (SEMANTICS R2). */
  readonly applied?: boolean
  /** The observed state after the step. */
  readonly state?: ObservedState
  /** ms; what a caller refused now would be told: 0 if it would be admitted, absent if only a command ends it. */
  readonly retryAfter?: number | null
  /** ms; the deadline while Open, absent if unlimited. */
  readonly until?: number | null
}

interface Timed {
  /** ms; any fixed origin, may go backwards. */
  readonly at: number
  readonly expect?: Expectation
}

interface Call {
  /** The call's name; used once in a trace. */
  readonly call: string
}

interface Luck {
  /** The jitter's luck in [0, 1); 0 unless given. */
  readonly rnd?: number
}

export interface AcquireStep extends Timed, Call {
  /** `tail` takes `tailPermit` (SEMANTICS R7). */
  readonly do: "acquire" | "tail"
}

export interface SuccessStep extends Timed, Call, Luck {
  readonly do: "success"
  /** ms; else the time since admission. */
  readonly latency?: number
}

export interface FailureStep extends Timed, Call, Luck {
  readonly do: "failure"
  /** `unknown` unless given. */
  readonly kind?: string
  readonly status?: number
  /** ms */
  readonly retryAfter?: number
  /** ms; else the time since admission. */
  readonly latency?: number
}

export interface NeutralStep extends Timed, Call, Luck {
  readonly do: "ignored" | "released"
}

export interface ForceOpenStep extends Timed {
  readonly do: "forceOpen"
  /** ms; without it until another command. */
  readonly for?: number
}

export interface PlainStep extends Timed {
  readonly do: "observe" | "forceClosed" | "auto" | "reset"
}

export interface RestartStep extends Timed {
  readonly do: "restart"
  /** ms of wall time between the snapshot and its restore; 0 unless given, and a wall clock may go back. */
  readonly elapsed?: number
  /** ms; what the monotonic clock reads at the restore; the time of the snapshot unless given. */
  readonly resumeAt?: number
}

export type Step = AcquireStep | SuccessStep | FailureStep | NeutralStep | ForceOpenStep | PlainStep | RestartStep

interface Named {
  readonly id: string
  /** Where the behaviour was reported. */
  readonly source?: string
  /** As a person writes it; `Policy.decode` says whether it is one. */
  readonly policy: unknown
}

/** Calls, reports and commands in order, each with what must be seen after it. */
export interface StepsTrace extends Named {
  readonly steps: ReadonlyArray<Step>
}

/** A policy that must be refused, each path named. */
export interface InvalidPolicyTrace extends Named {
  readonly invalidPolicy: ReadonlyArray<string>
}

export type Trace = StepsTrace | InvalidPolicyTrace

export type Decoded =
  | { readonly _tag: "Success"; readonly value: ReadonlyArray<Trace> }
  | { readonly _tag: "Failure"; readonly faults: ReadonlyArray<Fault> }

/** The part of a transition that every breaker can tell. */
export interface Transition {
  readonly from: State["_tag"]
  readonly to: State["_tag"]
  readonly at: number
  readonly era: number
  readonly reason: { readonly rule: string }
}

/** The part of a view that a trace asks for. */
export interface Observed {
  readonly state: ObservedState
  readonly retryAfter?: number
  readonly until?: number
}

/** Anything that takes a policy and steps a state as SEMANTICS S1 says. */
export interface Machine<Policy, State, View extends Observed = Observed> {
  readonly decode: (
    input: unknown
  ) =>
    | { readonly _tag: "Success"; readonly policy: Policy }
    | { readonly _tag: "Failure"; readonly faults: ReadonlyArray<Fault> }
  readonly initial: (policy: Policy, now: number) => State
  readonly acquire: (
    policy: Policy,
    state: State,
    now: number
  ) => readonly [Admission, State, ReadonlyArray<Transition>]
  readonly report: (
    policy: Policy,
    state: State,
    permit: Permit,
    outcome: Outcome,
    now: number,
    rnd: number
  ) => readonly [Reported, State, ReadonlyArray<Transition>]
  readonly command: (
    policy: Policy,
    state: State,
    command: Command,
    now: number
  ) => readonly [State, ReadonlyArray<Transition>]
  readonly observe: (policy: Policy, state: State, now: number) => View
  readonly tailPermit: (state: State, now: number) => Permit | undefined
  /** A snapshot at `now`, restored after `elapsed` ms of wall time on a clock that reads `resumeAt`. */
  readonly restart: (policy: Policy, state: State, now: number, elapsed: number, resumeAt: number) => State
  /** When something last happened to the state (SEMANTICS T2). */
  readonly at: (state: State) => number
}

/** What one step showed. Keys only where they apply. */
export interface Observation {
  readonly id: string
  /** From 0. */
  readonly step: number
  readonly at: number
  readonly do: Step["do"]
  readonly state: ObservedState
  readonly permit?: boolean
  readonly applied?: boolean
  readonly retryAfter?: number
  readonly until?: number
}

/** What decoding a policy that must be refused showed. */
export interface Refusal {
  readonly id: string
  /** The paths found. */
  readonly invalidPolicy: ReadonlyArray<string>
}

/** A key of an expectation that did not hold; `null` stands for an absent value. */
export interface Mismatch {
  readonly id: string
  /** From 0; absent where the policy itself was the matter. */
  readonly step?: number
  readonly at?: number
  readonly do?: Step["do"]
  readonly field: "permit" | "applied" | "state" | "retryAfter" | "until" | "policy" | "invalidPolicy"
  readonly expected: unknown
  readonly actual: unknown
}

export interface Replay {
  readonly id: string
  readonly observed: ReadonlyArray<Observation | Refusal>
  readonly mismatches: ReadonlyArray<Mismatch>
}
