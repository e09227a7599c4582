import type * as Walk from "@switchgear/core/Walk"
import { same, shown } from "./run.js"

/** One step of a walk. */
export interface WalkMoment {
  readonly plan: Walk.Plan
  readonly before: Walk.Step
  readonly event: Walk.Event
  readonly after: Walk.Step
}

/** A claim about every step of every walk. */
export interface WalkInvariant {
  readonly name: string
  /** The rules of ROUTING it comes from. */
  readonly rule: string
  readonly check: (moment: WalkMoment) => string | null
}

const wasCalled = ({ event }: Walk.Attempt): boolean => event._tag === "Served" || event._tag === "Failed"

const nameOf = ({ target }: { readonly target: Walk.Target }): string => target.name

const repeats = (names: ReadonlyArray<string>): boolean => new Set(names).size < names.length

/** What took part in the walk so far, the target that is due included. */
const offered = (
  walk: Walk.Step
): ReadonlyArray<{ readonly target: Walk.Target; readonly hop: boolean; readonly lastResort: boolean }> =>
  walk._tag === "Next" ? [...walk.attempts, walk] : walk.attempts

export const overIsOver: WalkInvariant = {
  name: "a walk that is over stays as it is",
  rule: "F1",
  check: ({ after, before }) => (before._tag === "Next" || after === before ? null : "it went on")
}

export const walksAreJson: WalkInvariant = {
  name: "a walk survives JSON",
  rule: "F1",
  check: ({ after }) => {
    const back: unknown = JSON.parse(JSON.stringify(after))
    return same(back, after) ? null : `${shown(after)} came back as ${shown(back)}`
  }
}

export const noTargetTwice: WalkInvariant = {
  name: "no target is called twice, and none is offered twice but as the last resort",
  rule: "F12 F10",
  check: ({ after }) => {
    if (repeats(after.attempts.filter(wasCalled).map(nameOf))) return "a target was called twice"
    const usual = offered(after).filter(({ lastResort }) => !lastResort)
    return repeats(usual.map(nameOf)) ? `offered ${usual.map(nameOf).join(", ")}` : null
  }
}

export const neverDeeperThanAllowed: WalkInvariant = {
  name: "no walk calls more than 1 + maxDepth targets, and with listed none beyond the first maxDepth",
  rule: "F3 F12",
  check: ({ after, plan }) => {
    const { depthCounts, maxDepth } = plan.settings
    const called = after.attempts.filter(wasCalled)
    const due = after._tag === "Next" ? 1 : 0
    if (called.length + due > 1 + maxDepth) return `${called.length + due} calls, ${maxDepth} hops are allowed`
    const hops = offered(after).filter(({ hop, lastResort }) => hop && !lastResort)
    return depthCounts === "listed" && hops.length > maxDepth ? `${hops.length} hops, ${maxDepth} are listed` : null
  }
}

export const hopsComeFromTheChain: WalkInvariant = {
  name: "hops come from the chain, trimmed, without blanks, repeats and the primary; and no hop with a caller's own key",
  rule: "F2 F8",
  check: ({ after, plan }) => {
    const primary = plan.primary.name.trim()
    const hops = offered(after).filter(({ hop, lastResort }) => hop && !lastResort)
    if (plan.byo === true && hops.length > 0) return "a hop, with a caller's own key"
    const names = hops.map(nameOf)
    const wrong = names.find((name) => name === "" || name !== name.trim() || name === primary)
    if (wrong !== undefined) return `the hop ${shown(wrong)}`
    const known = plan.chain.map(({ name }) => name.trim())
    return names.every((name) => known.includes(name)) ? null : `hops ${names.join(", ")}, chain ${known.join(", ")}`
  }
}

const states = ["Closed", "Degraded", "HalfOpen", "Open"]

/** The chain in the order in which it must be walked (ROUTING F2, H4, then H2), by the first entry of each name. */
const order = ({ chain, primary, settings }: Walk.Plan): ReadonlyArray<string> => {
  const entries = new Map<string, Walk.Target>()
  for (const target of chain) {
    const name = target.name.trim()
    if (name !== "" && name !== primary.name.trim() && !entries.has(name)) entries.set(name, target)
  }
  const targets = [...entries]
  if (settings.preferHealthyState) {
    targets.sort(
      ([, one], [, other]) => states.indexOf(one.state ?? "Closed") - states.indexOf(other.state ?? "Closed")
    )
  }
  if (settings.reorderByHealth) targets.sort(([, one], [, other]) => (other.score ?? 0.5) - (one.score ?? 0.5))
  const names = targets.map(([name]) => name)
  return settings.depthCounts === "listed" ? names.slice(0, settings.maxDepth) : names
}

export const hopsComeInOrder: WalkInvariant = {
  name: "hops come in the chain's order, sorted by state and then by health where the settings say so",
  rule: "F2 F3 H2 H4",
  check: ({ after, plan }) => {
    const due = order(plan)
    const hops = offered(after).filter(({ hop, lastResort }) => hop && !lastResort)
    const places = hops.map((hop) => due.indexOf(hop.target.name))
    const rising = places.every((place, index) => place >= 0 && (index === 0 || place > (places[index - 1] ?? 0)))
    return rising ? null : `hops ${hops.map(nameOf).join(", ")}, due ${due.join(", ")}`
  }
}

const named = (keys: ReadonlyArray<string>, kind: string, status: number | undefined): boolean =>
  keys.includes(kind) ||
  (status !== undefined && (keys.includes(`${status}`) || keys.includes(`${Math.floor(status / 100)}xx`)))

export const movesOnOnlyIfAllowed: WalkInvariant = {
  name: "a failure moves on only if its kind, status or class is in `on` and none in `never`",
  rule: "F4 F6 F14",
  check: ({ after, before, event, plan }) => {
    if (before._tag !== "Next" || after._tag !== "Next" || after === before || after.lastResort) return null
    if (event._tag !== "Failed" && event._tag !== "Refused") return null
    const kind = event._tag === "Failed" ? event.failure.kind : event.kind
    const status = event._tag === "Failed" ? event.failure.status : undefined
    if (kind === "cancelled") return "a cancelled call moved on"
    if (named(plan.settings.never, kind, status)) return `${kind} moved on, and must never`
    // a target without room is passed by whatever `on` says
    if (kind !== "saturated" && !named(plan.settings.on, kind, status)) return `${kind} moved on`
    if (kind !== "context_length") return null
    const { contextWindow: here } = before.target
    const { contextWindow: there } = after.target
    return here !== undefined && there !== undefined && there > here ? null : `from a window of ${here} to ${there}`
  }
}

export const nothingAfterOutputOrCancel: WalkInvariant = {
  name: "after output, after a success and after the caller left there is no next target",
  rule: "F7 F9",
  check: ({ after, before, event }) => {
    if (before._tag !== "Next") return null
    const expected =
      event._tag === "Served"
        ? "Served"
        : event._tag === "Cancelled"
          ? "Cancelled"
          : event._tag === "Failed" && event.outputSent
            ? "Broken"
            : undefined
    if (expected === undefined) return null
    return after._tag === "Done" && after.answer._tag === expected ? null : `${event._tag} gave ${shown(after)}`
  }
}

export const failsClosed: WalkInvariant = {
  name: "without the policy's word no further target is called, and the primary's error is answered",
  rule: "F5",
  check: ({ after, before, event }) => {
    if (before._tag !== "Next" || event._tag !== "PolicyError") return null
    if (after._tag !== "Done") return "the walk went on"
    if (before.attempts.length === 0)
      return after.answer._tag === "PolicyUnavailable" ? null : `answered ${after.answer._tag}`
    const { answer } = after
    return answer._tag === "Failed" && answer.index === 0 ? null : `answered ${shown(answer)}`
  }
}

export const answersAreErrorsThatWere: WalkInvariant = {
  name: "an answer is always an error that some attempt really had",
  rule: "F6",
  check: ({ after }) => {
    if (after._tag !== "Done") return null
    const { answer, attempts } = after
    const isError = (index: number): boolean => ["Failed", "Refused"].includes(attempts[index]?.event._tag ?? "")
    if (answer._tag === "Failed") return same(attempts[answer.index]?.event, answer.error) ? null : shown(answer)
    if (answer._tag === "Exhausted")
      return answer.indices.length > 1 && answer.indices.every(isError) ? null : shown(answer)
    return null
  }
}

export const refusedByAll: WalkInvariant = {
  name: "if every target refused, the answer is 503, or 429 if limits opened them all, with the earliest time of any",
  rule: "F10",
  check: ({ after, event }) => {
    if (after._tag !== "Done" || event._tag !== "Refused") return null
    const refusals = after.attempts.flatMap((attempt) => (attempt.event._tag === "Refused" ? [attempt.event] : []))
    if (refusals.length < after.attempts.length || after.attempts.some(({ lastResort }) => lastResort)) return null
    const { answer } = after
    if (answer._tag !== "Refused") return `answered ${shown(answer)}`
    const limited = refusals.every(
      ({ kind, openedBy }) => kind === "circuit_open" && (openedBy === "rate_limit" || openedBy === "quota_exhausted")
    )
    if ((answer.status === 429) !== limited) return `status ${answer.status}`
    // a target without room may be tried at once; an open circuit without a time waits for a command
    const waits = refusals.flatMap(({ kind, retryAfter }) => retryAfter ?? (kind === "saturated" ? [0] : []))
    const earliest = waits.length === 0 ? undefined : Math.min(...waits)
    return answer.retryAfter === earliest ? null : `retryAfter ${answer.retryAfter}, not ${earliest}`
  }
}
