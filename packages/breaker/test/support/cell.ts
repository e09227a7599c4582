import type { CircuitBreaker } from "@switchgear/breaker/CircuitBreaker"
import type * as Breaker from "@switchgear/core/Breaker"
import { cellOf } from "../../src/internal/cell.js"

/** The machine's state behind a breaker. */
export const stateOf = (breaker: CircuitBreaker): Breaker.State => cellOf(breaker).state

/** Probes whose leases have neither been given back nor run out. */
export const leasesOut = (breaker: CircuitBreaker): number => {
  const state = stateOf(breaker)
  return state._tag === "HalfOpen" ? state.leases.length : 0
}
