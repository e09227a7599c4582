import type { Answer, Attempt, Failed, Refused, Target } from "./walkModel.js"

/** An attempt that had an error; skipped targets have none. */
export interface Errored {
  readonly index: number
  readonly attempt: Attempt
  readonly error: Failed | Refused
}

export const errored = (attempts: ReadonlyArray<Attempt>): ReadonlyArray<Errored> => {
  const found: Array<Errored> = []
  for (const [index, attempt] of attempts.entries()) {
    if (attempt.event._tag === "Failed" || attempt.event._tag === "Refused") {
      found.push({ index, attempt, error: attempt.event })
    }
  }
  return found
}

const failed = (one: Errored): Answer => ({ _tag: "Failed", index: one.index, error: one.error })

/** ms until a refused target may be tried: a saturated one at any moment, a circuit forced open at no known time. */
const waitOf = (refused: Refused): number | undefined => {
  const wait = refused.retryAfter
  if (wait === undefined || !Number.isFinite(wait)) return refused.kind === "saturated" ? 0 : undefined
  return Math.max(0, wait)
}

const byLimit = (refused: Refused): boolean =>
  refused.kind === "circuit_open" && (refused.openedBy === "rate_limit" || refused.openedBy === "quota_exhausted")

/** The refusals, if every target that was reached refused for now (ROUTING F10). */
export const allRefused = (errors: ReadonlyArray<Errored>): ReadonlyArray<Refused> | undefined => {
  const refusals: Array<Refused> = []
  for (const one of errors) {
    if (one.error._tag === "Failed") return undefined
    refusals.push(one.error)
  }
  return refusals.length > 0 ? refusals : undefined
}

const refusedAnswer = (refusals: ReadonlyArray<Refused>): Answer => {
  const status = refusals.every(byLimit) ? 429 : 503
  let earliest: number | undefined
  for (const refusal of refusals) {
    const wait = waitOf(refusal)
    if (wait !== undefined && (earliest === undefined || wait < earliest)) earliest = wait
  }
  return earliest === undefined ? { _tag: "Refused", status } : { _tag: "Refused", status, retryAfter: earliest }
}

/**
 * The target to call although every one refused: whose circuit may be tried soonest, the earlier one of equals. One
 * that is forced open or saturated is left alone: an operator's word and our own limit are no wrong trips.
 */
export const soonest = (
  errors: ReadonlyArray<Errored>
): { readonly target: Target; readonly hop: boolean } | undefined => {
  let found: Attempt | undefined
  let wait = Number.POSITIVE_INFINITY
  for (const { attempt, error } of errors) {
    if (error._tag !== "Refused" || error.kind !== "circuit_open") continue
    const its = waitOf(error)
    if (its !== undefined && its < wait) {
      found = attempt
      wait = its
    }
  }
  return found
}

/** The primary's error; of two (F10's last resort), the one its call had. */
export const primaryAnswer = (errors: ReadonlyArray<Errored>): Answer => {
  const own = errors.filter((one) => !one.attempt.hop).at(-1) ?? errors.at(-1)
  // a walk passes its primary only with an error, so there is one; a walk written by hand may have none
  return own === undefined ? { _tag: "Refused", status: 503 } : failed(own)
}

/** What a walk that failed answers (ROUTING F6). */
export const failedAnswer = (errors: ReadonlyArray<Errored>, surface: "primary" | "last" | "exhausted"): Answer => {
  const refusals = allRefused(errors)
  if (refusals !== undefined) return refusedAnswer(refusals)
  const last = errors.at(-1)
  if (surface === "primary" || last === undefined) return primaryAnswer(errors)
  if (surface === "last" || errors.length === 1) return failed(last)
  return { _tag: "Exhausted", indices: errors.map((one) => one.index) }
}
