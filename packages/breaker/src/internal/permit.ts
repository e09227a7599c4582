import * as Breaker from "@switchgear/core/Breaker"
import type { Clock } from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { CircuitOpen } from "../CircuitOpen.js"
import type { Cell } from "./cell.js"
import { refusal, settle } from "./guard.js"
import { type Permit, PermitTypeId } from "./model.js"
import { clockOf } from "./time.js"

const stale = Effect.succeed<Breaker.Reported>("Stale")

/** A permit and whether it was reported: a Closed permit has no identity, reporting it once is ours (SEMANTICS R2). */
export class HeldPermit implements Permit {
  declare readonly [PermitTypeId]: typeof PermitTypeId
  reported = false

  constructor(
    readonly cell: Cell,
    /** `undefined`: in shadow mode, a call that would have been refused. Nothing is reported for it. */
    readonly permit: Breaker.Permit | undefined,
    readonly clock: Clock,
    /** SEMANTICS R7: only a failure is reported on it. */
    readonly tail: boolean
  ) {}

  get breaker(): string {
    return this.cell.name
  }

  get isProbe(): boolean {
    return this.permit?.probe !== undefined
  }

  /** Synchronous, but for an opening with jitter, whose random number takes an effect. */
  settle(outcome: Breaker.Outcome): Breaker.Reported | Effect.Effect<Breaker.Reported> {
    if (this.reported || this.permit === undefined || (this.tail && outcome._tag !== "Failure")) return "Stale"
    this.reported = true
    return settle(this.cell, this.permit, outcome, this.clock)
  }

  report(outcome: Breaker.Outcome): Effect.Effect<Breaker.Reported> {
    return Effect.uninterruptible(
      Effect.suspend(() => {
        const settled = this.settle(outcome)
        return typeof settled === "string" ? (settled === "Stale" ? stale : Effect.succeed(settled)) : settled
      })
    )
  }
}

Object.assign(HeldPermit.prototype, { [PermitTypeId]: PermitTypeId })

const taken = (cell: Cell, admission: Breaker.Admission, clock: Clock): Exit.Exit<HeldPermit, CircuitOpen> => {
  if (admission._tag === "Admitted") return Exit.succeed(new HeldPermit(cell, admission.permit, clock, false))
  return cell.settings.enforce
    ? Exit.fail(refusal(cell, admission))
    : Exit.succeed(new HeldPermit(cell, undefined, clock, false))
}

export const acquire = (cell: Cell): Effect.Effect<HeldPermit, CircuitOpen> =>
  Effect.withFiberRuntime((fiber) => {
    const clock = clockOf(fiber)
    const { remote } = cell
    if (remote === undefined || cell.holdsNothing) return taken(cell, cell.acquire(cell.now(clock), clock), clock)
    const refused = cell.refuse(cell.now(clock))
    if (refused !== undefined) return taken(cell, refused, clock)
    return Effect.uninterruptibleMask((restore) =>
      Effect.flatMap(remote.acquire(clock, restore), (admission) => taken(cell, admission, clock))
    )
  })

/** SEMANTICS R7: a permit for what follows a probe's first output. */
export const tailOf = (cell: Cell, clock: Clock): HeldPermit | undefined => {
  const permit = Breaker.tailPermit(cell.state, cell.now(clock))
  return permit === undefined ? undefined : new HeldPermit(cell, permit, clock, true)
}
