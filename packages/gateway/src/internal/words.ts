import type * as Breaker from "@switchgear/core/Breaker"

const of = (kind: string | null): string => (kind === null ? "" : ` (latest: ${kind})`)

const percent = (part: number, whole: number): string => `${Math.round((part / Math.max(1, whole)) * 100)} %`

/** Why a breaker changed its state, for a person. The rule's number says where to read on. */
export const reason = (why: Breaker.Reason): string => {
  switch (why.by) {
    case "streak":
      return `${why.failures} failures in a row${of(why.kind)} reached the threshold of ${why.threshold}`
    case "failureRate":
      return `${why.failures} of ${why.samples} calls failed${of(why.kind)}: ${percent(why.failures, why.samples)}, threshold ${percent(why.threshold, 1)}`
    case "slowRate":
      return `${why.slow} of ${why.samples} calls were slow: ${percent(why.slow, why.samples)}, threshold ${percent(why.threshold, 1)}`
    case "kind": {
      const window = why.window === null ? "" : ` within ${why.window / 1000} s`
      return `${why.failures} of kind ${why.kind}${window} reached the threshold of ${why.threshold}`
    }
    case "probe":
      return `a probe failed: ${why.kind}`
    case "command":
      return "by command"
    case "deadline":
      return "the cooldown is over; a probe goes through"
    case "recovery":
      return `${why.successes} successful of ${why.successThreshold} probes asked for`
    case "degraded":
      return `a level of ${why.level} reached ${why.threshold}`
    case "recovered":
      return `a level of ${why.level} is down to ${why.threshold}`
    case "silence":
      return `only ${why.samples} of ${why.minSamples} samples are left in the window`
  }
}
