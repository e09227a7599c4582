import type * as Breaker from "@switchgear/core/Breaker"
import type * as Policy from "@switchgear/core/Policy"
import type * as Trace from "@switchgear/core/Trace"

/** The machine that invariants look into. */
export type RealMachine = Trace.Machine<Policy.Policy, Breaker.State, Breaker.View>

/** One step of a run: what there was, what was asked, what came of it. */
export interface Moment {
  readonly step: Trace.Step
  readonly before: Breaker.State
  readonly after: Breaker.State
  /** ms; the time of the step, or of the state's last change if that is later (SEMANTICS T2). */
  readonly now: number
  readonly taken: Trace.Taken<Breaker.State, Breaker.View>
}

/** A run so far: a machine, its policy and every moment of it, oldest first. */
export interface Run {
  readonly machine: RealMachine
  readonly policy: Policy.Policy
  readonly moments: ReadonlyArray<Moment>
}

/** A rule that was broken, at which step (from 0), and how. */
export interface Violation {
  readonly invariant: string
  readonly rule: string
  readonly step: number
  readonly message: string
}

/** A claim about the last moment of every run. */
export interface Invariant {
  readonly name: string
  /** The rules it comes from. */
  readonly rule: string
  /** It judges nothing but the state, or the state and the time at which it is looked at. */
  readonly judges?: "state" | "state and time"
  /** What is wrong, or `null`. */
  readonly check: (run: Run, last: Moment) => string | null
}

export const shown = (value: unknown): string => JSON.stringify(value) ?? "absent"

const isFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

/** Equality of plain data, `but` for one field; numbers by `===`, so that the two zeros are one. */
export const same = (one: unknown, other: unknown, but?: string): boolean => {
  if (one === other) return true
  if (!isFields(one) || !isFields(other) || Array.isArray(one) !== Array.isArray(other)) return false
  const keys = Object.keys(one)
  if (keys.length !== Object.keys(other).length) return false
  for (const key of keys) {
    if (key !== but && !(Object.hasOwn(other, key) && same(one[key], other[key]))) return false
  }
  return true
}

/** SEMANTICS S1: a state that is written to throws from then on. */
export const freeze = <A>(value: A): A => {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const inner of Object.values(value)) freeze(inner)
  }
  return value
}

/** SEMANTICS A3, M1: Open or ForcedOpen before its deadline. */
export const isShut = (state: Breaker.State, now: number): boolean =>
  (state._tag === "Open" && now < state.until) ||
  (state._tag === "ForcedOpen" && (state.until === null || now < state.until))

export const isForced = (state: Breaker.State): boolean => state._tag === "ForcedOpen" || state._tag === "ForcedClosed"

export const isClosed = (state: Breaker.State): state is Breaker.Closed | Breaker.Degraded =>
  state._tag === "Closed" || state._tag === "Degraded"
