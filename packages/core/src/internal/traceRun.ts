import type { Admission, Command, Outcome, Permit, Reported } from "./model.js"
import type {
  Expectation,
  Machine,
  Mismatch,
  Observation,
  Observed,
  Refusal,
  Replay,
  Step,
  Trace,
  Transition
} from "./traceModel.js"

/** A machine's state in the middle of a trace, and the permits its calls hold. */
export interface Running<State> {
  readonly state: State
  readonly permits: ReadonlyMap<string, Permit>
}

/** What one step did. */
export interface Taken<State, View> {
  readonly next: Running<State>
  /** The time at which the state is looked at after the step. */
  readonly now: number
  readonly admission?: Admission
  /** What `acquire` or `tail` gave, or what a report was for. */
  readonly permit?: Permit
  readonly reported?: Reported
  readonly outcome?: Outcome
  readonly events: ReadonlyArray<Transition>
  readonly view: View
}

export const start = <Policy, State, View extends Observed>(
  machine: Machine<Policy, State, View>,
  policy: Policy,
  at: number
): Running<State> => ({ state: machine.initial(policy, at), permits: new Map() })

/** The outcome that a report's step stands for; `undefined` where the step reports nothing. */
export const outcomeOf = (step: Step): Outcome | undefined => {
  switch (step.do) {
    case "success":
      return step.latency === undefined ? { _tag: "Success" } : { _tag: "Success", latency: step.latency }
    case "failure":
      return {
        _tag: "Failure",
        kind: step.kind ?? "unknown",
        ...(step.status === undefined ? {} : { status: step.status }),
        ...(step.retryAfter === undefined ? {} : { retryAfter: step.retryAfter }),
        ...(step.latency === undefined ? {} : { latency: step.latency })
      }
    case "ignored":
      return { _tag: "Ignored" }
    case "released":
      return { _tag: "Released" }
    default:
      return undefined
  }
}

/** The command that a step stands for; `undefined` where it is none. */
export const commandOf = (step: Step): Command | undefined => {
  switch (step.do) {
    case "forceOpen":
      return step.for === undefined ? { _tag: "ForceOpen" } : { _tag: "ForceOpen", for: step.for }
    case "forceClosed":
      return { _tag: "ForceClosed" }
    case "auto":
      return { _tag: "Auto" }
    case "reset":
      return { _tag: "Reset" }
    default:
      return undefined
  }
}

export const take = <Policy, State, View extends Observed>(
  machine: Machine<Policy, State, View>,
  policy: Policy,
  running: Running<State>,
  step: Step
): Taken<State, View> => {
  const { permits, state } = running
  const seen = (next: State, now: number) => ({ now, view: machine.observe(policy, next, now) })
  switch (step.do) {
    case "observe":
      return { next: running, events: [], ...seen(state, step.at) }
    case "acquire": {
      const [admission, next, events] = machine.acquire(policy, state, step.at)
      if (admission._tag === "Rejected") {
        return { next: { state: next, permits }, admission, events, ...seen(next, step.at) }
      }
      const held = new Map(permits).set(step.call, admission.permit)
      const { permit } = admission
      return { next: { state: next, permits: held }, admission, permit, events, ...seen(next, step.at) }
    }
    case "tail": {
      const permit = machine.tailPermit(state, step.at)
      if (permit === undefined) return { next: running, events: [], ...seen(state, step.at) }
      const held = new Map(permits).set(step.call, permit)
      return { next: { state, permits: held }, permit, events: [], ...seen(state, step.at) }
    }
    case "restart": {
      const at = Math.max(step.at, machine.at(state))
      const resumeAt = step.resumeAt ?? at
      const next = machine.restart(policy, state, at, step.elapsed ?? 0, resumeAt)
      return { next: { state: next, permits }, events: [], ...seen(next, resumeAt) }
    }
    case "forceOpen":
    case "forceClosed":
    case "auto":
    case "reset": {
      const command = commandOf(step)
      if (command === undefined) return { next: running, events: [], ...seen(state, step.at) }
      const [next, events] = machine.command(policy, state, command, step.at)
      return { next: { state: next, permits }, events, ...seen(next, step.at) }
    }
    default: {
      const outcome = outcomeOf(step)
      const permit = permits.get(step.call)
      // a call that got no permit has nothing to report
      if (outcome === undefined || permit === undefined) {
        return { next: running, reported: "Stale", events: [], ...seen(state, step.at) }
      }
      const [reported, next, events] = machine.report(policy, state, permit, outcome, step.at, step.rnd ?? 0)
      return { next: { state: next, permits }, permit, reported, outcome, events, ...seen(next, step.at) }
    }
  }
}

const observation = <State, View extends Observed>(
  id: string,
  index: number,
  step: Step,
  taken: Taken<State, View>
): Observation => ({
  id,
  step: index,
  at: step.at,
  do: step.do,
  state: taken.view.state,
  ...(step.do === "acquire" || step.do === "tail" ? { permit: taken.permit !== undefined } : {}),
  ...(taken.reported === undefined ? {} : { applied: taken.reported === "Applied" }),
  ...(taken.view.retryAfter === undefined ? {} : { retryAfter: taken.view.retryAfter }),
  ...(taken.view.until === undefined ? {} : { until: taken.view.until })
})

const fields = ["permit", "applied", "state", "retryAfter", "until"] as const

const compare = (expect: Expectation, seen: Observation): ReadonlyArray<Mismatch> =>
  fields.flatMap((field) => {
    const expected = expect[field]
    const actual = seen[field] ?? null
    return expected === undefined || Object.is(expected, actual) || expected === actual
      ? []
      : [{ id: seen.id, step: seen.step, at: seen.at, do: seen.do, field, expected, actual }]
  })

/** Plays a trace on a machine: what each step showed, and every key of an expectation that did not hold. */
export const run = <Policy, State, View extends Observed>(
  machine: Machine<Policy, State, View>,
  trace: Trace
): Replay => {
  const { id } = trace
  const decoded = machine.decode(trace.policy)
  if ("invalidPolicy" in trace) {
    const found = decoded._tag === "Success" ? [] : decoded.faults.map((fault) => fault.path)
    const refusal: Refusal = { id, invalidPolicy: found }
    const missed = trace.invalidPolicy.some((path) => !found.includes(path)) || decoded._tag === "Success"
    const field = "invalidPolicy" as const
    return {
      id,
      observed: [refusal],
      mismatches: missed ? [{ id, field, expected: trace.invalidPolicy, actual: found }] : []
    }
  }
  if (decoded._tag === "Failure") {
    return { id, observed: [], mismatches: [{ id, field: "policy", expected: "valid", actual: decoded.faults }] }
  }
  const observed: Array<Observation> = []
  const mismatches: Array<Mismatch> = []
  let running = start(machine, decoded.policy, trace.steps[0]?.at ?? 0)
  trace.steps.forEach((step, index) => {
    const taken = take(machine, decoded.policy, running, step)
    running = taken.next
    const seen = observation(id, index, step, taken)
    observed.push(seen)
    if (step.expect !== undefined) mismatches.push(...compare(step.expect, seen))
  })
  return { id, observed, mismatches }
}
