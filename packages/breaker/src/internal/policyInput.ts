import * as Schema from "effect/Schema"

const count = (description: string) => Schema.Int.pipe(Schema.positive()).annotations({ description })

const rate = (description: string) =>
  Schema.Number.pipe(Schema.greaterThan(0), Schema.lessThanOrEqualTo(1)).annotations({ description })

const millis = Schema.Int.pipe(Schema.nonNegative())

const durationString = Schema.String.pipe(
  Schema.pattern(/^-?\d+(\.\d+)?\s+(nanos?|micros?|millis?|seconds?|minutes?|hours?|days?|weeks?)$/)
)

const duration = (description: string) =>
  Schema.Union(millis, durationString).annotations({
    description: `${description} Whole ms, or a duration such as "30 seconds".`
  })

const record = <A, I>(value: Schema.Schema<A, I>) => Schema.Record({ key: Schema.String, value })

const consecutive = {
  failureThreshold: count("Opens after so many failures in a row."),
  onSuccess: Schema.optional(
    Schema.Union(Schema.Literal("reset"), Schema.Struct({ decayBy: count("What a success takes from the streak.") }))
  ).annotations({ description: "What a success does to the streak. Default: reset." })
}

const rolling = {
  window: duration("How far back outcomes count. A whole multiple of bucketPeriod, at most 1 000 of them."),
  bucketPeriod: duration("The window's grain."),
  minSamples: count("Opens only with at least so many outcomes in the window."),
  failureRateThreshold: rate("Opens when failures / outcomes reaches this."),
  slowCallDuration: Schema.optional(duration("A call that takes this long is slow.")),
  slowCallRateThreshold: Schema.optional(rate("Opens when slow / outcomes reaches this."))
}

/**
 * A policy as one writes it, for JSON Schema only: editors complete and check by it. What a policy must satisfy beyond
 * shapes is `Policy.decode`'s to say.
 */
export const PolicyInput = Schema.Struct({
  trip: Schema.Union(
    Schema.Struct({ _tag: Schema.Literal("Consecutive"), ...consecutive }),
    Schema.Struct({ _tag: Schema.Literal("Rolling"), ...rolling }),
    Schema.Struct({
      _tag: Schema.Literal("AnyOf"),
      consecutive: Schema.Struct(consecutive),
      rolling: Schema.Struct(rolling)
    })
  ).annotations({ description: "When it opens." }),
  degradation: Schema.optional(
    Schema.Struct({
      threshold: Schema.Positive.annotations({ description: "Degraded from here: a count, or a rate with a window." }),
      recoverAt: Schema.optional(Schema.NonNegative.annotations({ description: "Closed again from here down." }))
    })
  ),
  cooldown: Schema.optional(
    Schema.Struct({
      base: Schema.optional(duration("How long it stays open. Default 30 seconds.")),
      multiplier: Schema.optional(
        Schema.Number.pipe(Schema.greaterThanOrEqualTo(1)).annotations({
          description: "By how much each opening without a recovery lengthens it. Default 1."
        })
      ),
      maxMultiplier: Schema.optional(
        Schema.Number.pipe(Schema.greaterThanOrEqualTo(1)).annotations({ description: "The most. Default 16." })
      ),
      graceOpenings: Schema.optional(millis.annotations({ description: "Openings before it lengthens. Default 0." })),
      jitter: Schema.optional(
        Schema.Number.pipe(Schema.between(0, 1)).annotations({
          description: "Lengthens by up to this share. Default 0."
        })
      ),
      honorRetryAfter: Schema.optional(
        Schema.Boolean.annotations({ description: "Stay open as long as the service asks. Default false." })
      ),
      maxRetryAfter: Schema.optional(duration("The longest wait a service may ask for. Default 1 hour.")),
      resetAfter: Schema.optional(duration("How long after a recovery openings are forgotten. Default 0."))
    })
  ),
  cooldownByKind: Schema.optional(record(duration("In place of base, after a failure of this kind."))),
  kindThresholds: Schema.optional(
    record(
      Schema.Struct({
        threshold: Schema.optional(count("Opens after so many failures of this kind.")),
        window: Schema.optional(duration("Within this time.")),
        immediateOpen: Schema.optional(Schema.Boolean.annotations({ description: "The first one opens." }))
      })
    )
  ),
  halfOpen: Schema.optional(
    Schema.Struct({
      maxProbes: Schema.optional(count("Probes at a time. Default 1.")),
      successThreshold: Schema.optional(count("Successes that close it. Default 1.")),
      probeTimeout: Schema.optional(duration("A probe's lease. Default 2 minutes."))
    })
  ),
  outcomes: Schema.optional(record(Schema.Literal("failure", "ignored", "success"))).annotations({
    description: "How failures are taken, by kind, status (408) or class (4xx)."
  }),
  ignoredAs: Schema.optional(Schema.Literal("none", "success"))
}).annotations({
  identifier: "BreakerPolicy",
  title: "Breaker policy",
  description: "When a breaker opens and recovers."
})
