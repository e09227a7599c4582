import type * as Breaker from "@switchgear/core/Breaker"
import * as Duration from "effect/Duration"

/** ms since the run began, as a person says it. */
export const describeTime = (ms: number): string => (ms === 0 ? "the beginning" : Duration.format(Math.round(ms)))

const percent = (share: number): string => `${Number((share * 100).toPrecision(3))} %`

/** A rule's number, and what decided. */
export const describeReason = (reason: Breaker.Reason): string => {
  switch (reason.by) {
    case "streak":
      return `${reason.failures} failures in a row${reason.kind === null ? "" : `, the last one ${reason.kind}`}; ${reason.threshold} open it (P1)`
    case "failureRate":
      return `${reason.failures} of ${reason.samples} failed, ${percent(reason.threshold)} open it (P1)`
    case "slowRate":
      return `${reason.slow} of ${reason.samples} were slow, ${percent(reason.threshold)} open it (P1)`
    case "kind": {
      const within = reason.window === null ? "" : ` within ${Duration.format(reason.window)}`
      return `${reason.failures} of kind ${reason.kind}${within}, ${reason.threshold} open it (P3)`
    }
    case "probe":
      return `a probe failed with ${reason.kind} (P5)`
    case "command":
      return `by command ${reason.command} (M1)`
    case "deadline":
      return "the cooldown is over, and the first call after it is a probe (A3)"
    case "recovery":
      return `${reason.successes} of ${reason.successThreshold} probes succeeded (P5)`
    case "degraded":
      return `the level ${Number(reason.level.toPrecision(3))} has reached ${reason.threshold} (D1)`
    case "recovered":
      return `the level ${Number(reason.level.toPrecision(3))} has come down to ${reason.threshold} (D1)`
    case "silence":
      return `${reason.samples} samples are left, fewer than ${reason.minSamples} (D2)`
  }
}
