import * as CircuitBreaker from "@switchgear/breaker/CircuitBreaker"
import * as Breaker from "@switchgear/core/Breaker"
import type { Failure, Scope } from "@switchgear/failures/Failure"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"

/** Whose failures a breaker of a target counts (DESIGN 6). */
export type Level = "provider" | "model" | "host"

/** One of the breakers that guard a target. */
export interface Gate {
  readonly level: Level
  readonly breaker: CircuitBreaker.CircuitBreaker
}

export interface Held extends Gate {
  readonly permit: CircuitBreaker.Permit
}

const covered: Readonly<Record<Level, ReadonlyArray<Scope> | "all">> = {
  provider: "all",
  model: ["provider+model", "key+model", "model"],
  host: ["host"]
}

/**
 * DESIGN 6: a failure counts in the breakers whose key covers its scope. What is the provider's, or its key's, is no
 * news of one model or host; a provider's own breaker takes all.
 */
export const covers = (level: Level, scope: Scope): boolean => {
  const scopes = covered[level]
  return scopes === "all" || scopes.includes(scope)
}

export class Refusal {
  readonly _tag = "Refusal"
  constructor(
    readonly open: CircuitBreaker.CircuitOpen,
    /** The kind of failure that opened the circuit. */
    readonly openedBy: string | undefined,
    /** ms: how long the circuit opens as a whole; absent if only a command closes it. */
    readonly cooldown: number | undefined
  ) {}
}

const take = (gate: Gate, before: ReadonlyArray<Held>): Effect.Effect<ReadonlyArray<Held>, Refusal> =>
  Effect.matchEffect(CircuitBreaker.unsafeAcquire(gate.breaker), {
    onFailure: (open) =>
      Effect.flatMap(CircuitBreaker.view(gate.breaker), ({ cause, since, until }) => {
        const openedBy = cause !== undefined && "kind" in cause ? (cause.kind ?? undefined) : undefined
        const whole = until === undefined ? gate.breaker.policy.cooldown.base : until - since
        return Effect.fail(new Refusal(open, openedBy, open.retryAfterMillis === undefined ? undefined : whole))
      }),
    onSuccess: (permit) => Effect.succeed([...before, { level: gate.level, breaker: gate.breaker, permit }])
  })

/** Permits of all the gates, or of none. Run it where nothing interrupts. */
export const acquire = (gates: ReadonlyArray<Gate>): Effect.Effect<ReadonlyArray<Held>, Refusal> => {
  const [only] = gates
  if (only === undefined) return Effect.succeed([])
  if (gates.length === 1) return take(only, [])
  const from = (index: number, held: ReadonlyArray<Held>): Effect.Effect<ReadonlyArray<Held>, Refusal> => {
    const gate = gates[index]
    if (gate === undefined) return Effect.succeed(held)
    return Effect.matchEffect(take(gate, held), {
      onFailure: (refusal) => Effect.zipRight(report(held, Breaker.released), Effect.fail(refusal)),
      onSuccess: (all) => from(index + 1, all)
    })
  }
  return from(0, [])
}

/** One outcome for all the permits. A permit is reported once; on a stream's tail only a failure counts (SEMANTICS R7). */
export const report = (held: ReadonlyArray<Held>, outcome: Breaker.Outcome): Effect.Effect<unknown> => {
  const [only] = held
  return only !== undefined && held.length === 1
    ? CircuitBreaker.report(only.permit, outcome)
    : Effect.forEach(held, (one) => CircuitBreaker.report(one.permit, outcome), { discard: true })
}

/** A failure to those it concerns, no news to the others. A caller's leaving and a refusal of ours are no failures. */
export const fail = (held: ReadonlyArray<Held>, failure: Failure, latency: number): Effect.Effect<unknown> => {
  const { kind, retryAfter, scope, status } = failure
  if (kind === "cancelled" || kind === "circuit_open") return report(held, Breaker.released)
  const outcome = Breaker.failure(kind, { status, retryAfter, latency })
  const inside = held.filter((one) => covers(one.level, scope))
  if (inside.length === held.length) return report(held, outcome)
  const others = held.filter((one) => !covers(one.level, scope))
  return Effect.zipRight(report(inside, outcome), report(others, Breaker.ignored))
}

export const isProbe = (held: ReadonlyArray<Held>): boolean => held.some((one) => one.permit.isProbe)

/** ms: the shortest lease among the probes held; `undefined` where none is one (SEMANTICS A5). */
export const leaseOf = (held: ReadonlyArray<Held>): number | undefined => {
  let lease: number | undefined
  for (const { breaker, permit } of held) {
    const { probeTimeout } = breaker.policy.halfOpen
    if (permit.isProbe && (lease === undefined || probeTimeout < lease)) lease = probeTimeout
  }
  return lease
}

/**
 * SEMANTICS R7: at a stream's first output a probe has succeeded, and what follows runs on a permit for the tail. The
 * other permits are kept for their one report at the stream's end.
 */
export const atFirstOutput = (held: ReadonlyArray<Held>, latency: number): Effect.Effect<ReadonlyArray<Held>> => {
  if (!isProbe(held)) return Effect.succeed(held)
  const tails = Effect.forEach(held, (one): Effect.Effect<ReadonlyArray<Held>> => {
    if (!one.permit.isProbe) return Effect.succeed([one])
    return Effect.zipRight(
      CircuitBreaker.report(one.permit, Breaker.success(latency)),
      Effect.map(
        CircuitBreaker.tailPermit(one.breaker),
        Option.match({ onNone: () => [], onSome: (permit) => [{ level: one.level, breaker: one.breaker, permit }] })
      )
    )
  })
  return Effect.map(tails, (all) => all.flat())
}

const rank: Readonly<Record<Breaker.ObservedState, number>> = { Closed: 0, Degraded: 1, HalfOpen: 2, Open: 3 }

const worse = (a: Breaker.ObservedState, b: Breaker.ObservedState) => (rank[a] < rank[b] ? b : a)

/** The worst of what the gates read. */
export const stateOf = (gates: ReadonlyArray<Gate>): Effect.Effect<Breaker.ObservedState> => {
  const [only] = gates
  if (only !== undefined && gates.length === 1)
    return Effect.map(CircuitBreaker.view(only.breaker), (view) => view.state)
  const views = Effect.forEach(gates, (gate) => CircuitBreaker.view(gate.breaker))
  return Effect.map(views, (all) =>
    all.reduce<Breaker.ObservedState>((worst, view) => worse(worst, view.state), "Closed")
  )
}
