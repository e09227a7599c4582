import * as Snapshot from "@switchgear/core/Snapshot"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { Transition } from "../Transition.js"

const { Literal, NullOr, Number: Num, String: Str, Struct, Union } = Schema

const StateTag = Literal("Closed", "Degraded", "Open", "HalfOpen", "ForcedOpen", "ForcedClosed")

const Reason = Union(
  Struct({ rule: Literal("P1"), by: Literal("streak"), kind: NullOr(Str), failures: Num, threshold: Num }),
  Struct({
    rule: Literal("P1"),
    by: Literal("failureRate"),
    kind: NullOr(Str),
    failures: Num,
    samples: Num,
    threshold: Num
  }),
  Struct({ rule: Literal("P1"), by: Literal("slowRate"), kind: NullOr(Str), slow: Num, samples: Num, threshold: Num }),
  Struct({
    rule: Literal("P3"),
    by: Literal("kind"),
    kind: Str,
    failures: Num,
    threshold: Num,
    window: NullOr(Num)
  }),
  Struct({ rule: Literal("P5"), by: Literal("probe"), kind: Str, successes: Num, successThreshold: Num }),
  Struct({
    rule: Literal("M1"),
    by: Literal("command"),
    command: Literal("ForceOpen", "ForceClosed", "Auto", "Reset")
  }),
  Struct({ rule: Literal("A3"), by: Literal("deadline") }),
  Struct({ rule: Literal("P5"), by: Literal("recovery"), successes: Num, successThreshold: Num }),
  Struct({ rule: Literal("D1"), by: Literal("degraded", "recovered"), level: Num, threshold: Num }),
  Struct({ rule: Literal("D2"), by: Literal("silence"), samples: Num, minSamples: Num })
)

const TransitionSchema: Schema.Schema<Transition> = Struct({
  breaker: Str,
  from: StateTag,
  to: StateTag,
  at: Num,
  era: Num,
  reason: Reason
})

const isTransition = Schema.is(TransitionSchema)

interface Stored {
  readonly snapshot: Snapshot.Snapshot
  readonly writer: string
  readonly transitions: ReadonlyArray<Transition>
}

export const encodeStored = ({ snapshot, transitions, writer }: Stored): string =>
  JSON.stringify({ snapshot, writer, transitions })

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export const decodeStored = (text: string): Stored | undefined => {
  const value = parse(text)
  if (!Predicate.hasProperty(value, "snapshot")) return undefined
  const snapshot = Snapshot.decode(value.snapshot)
  if (snapshot._tag === "Failure") return undefined
  const writer = Predicate.hasProperty(value, "writer") && typeof value.writer === "string" ? value.writer : ""
  const transitions =
    Predicate.hasProperty(value, "transitions") && Array.isArray(value.transitions)
      ? value.transitions.filter(isTransition)
      : []
  return { snapshot: snapshot.value, writer, transitions }
}
