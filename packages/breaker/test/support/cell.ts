import type * as Breaker from "@switchgear/core/Breaker"
import { Cell } from "../../src/internal/cell.js"

/** The machine's state behind a breaker. */
export const stateOf = (breaker: unknown): Breaker.State => {
  if (breaker instanceof Cell) return breaker.state
  throw new TypeError("not a breaker")
}

/** Probes whose leases have neither been given back nor run out. */
export const leasesOut = (breaker: unknown): number => {
  const state = stateOf(breaker)
  return state._tag === "HalfOpen" ? state.leases.length : 0
}
