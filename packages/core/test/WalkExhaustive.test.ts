/**
 * The walk against a naive restatement of ROUTING F that knows no state: it reads the whole history each time. Every
 * history over a small alphabet is walked, for every combination of the settings.
 */
import * as Fallback from "@switchgear/core/Fallback"
import * as Walk from "@switchgear/core/Walk"
import { assert, it } from "vitest"

interface Entry {
  readonly target: Walk.Target
  readonly event: Walk.Event
}

/** F2 and F3 by the letter. */
const naiveChain = (plan: Walk.Plan): ReadonlyArray<Walk.Target> => {
  if (plan.byo) return []
  const trimmed = plan.chain.map((target) => ({ ...target, name: target.name.trim() }))
  const kept = trimmed.filter(
    (target, index) =>
      target.name !== "" &&
      target.name !== plan.primary.name &&
      trimmed.findIndex((other) => other.name === target.name) === index
  )
  return plan.settings.depthCounts === "listed" ? kept.slice(0, plan.settings.maxDepth) : kept
}

const moves = ({ never, on }: Fallback.Settings, kind: string, status: number | undefined): boolean => {
  const keys = [kind, `${status}`, `${Math.floor((status ?? 0) / 100)}xx`]
  return (on.some((key) => keys.includes(key)) || kind === "saturated") && !never.some((key) => keys.includes(key))
}

/** What is due, or answered, after a history; skipped targets are worked out, not recorded. */
const naive = (plan: Walk.Plan, history: ReadonlyArray<Entry>): string => {
  const { settings } = plan
  const last = history.at(-1)
  if (last === undefined) return `next ${plan.primary.name}`
  const isHop = (entry: Entry) => entry.target.name !== plan.primary.name
  const errors = history.filter(({ event }) => event._tag === "Failed" || event._tag === "Refused")
  const [primary] = errors.filter((entry) => !isHop(entry)).slice(-1)
  const error = (entry: Entry | undefined) => `error of ${entry?.target.name}: ${JSON.stringify(entry?.event)}`
  const refusedByAll = errors.length > 0 && errors.every(({ event }) => event._tag === "Refused")
  const resorted = history.some((entry, index) => history.findIndex((other) => other.target === entry.target) < index)

  switch (last.event._tag) {
    case "Cancelled":
      return "nothing"
    case "Served":
      return `served by ${last.target.name}${isHop(last) ? " as substitute" : ""}`
    case "PolicyError":
      return primary === undefined ? "policy unavailable" : error(primary)
    case "Denied":
    case "Unknown":
    case "Ineligible":
      if (history.length === 1) return `primary ${last.event._tag}`
      break
    case "Failed":
      if (last.event.outputSent) return `broken ${last.target.name}`
      break
    default:
  }

  const { event } = last
  const tooLong = event._tag === "Failed" && event.failure.kind === "context_length"
  const stopped =
    resorted ||
    event._tag === "OverBudget" ||
    (event._tag === "Failed" && !moves(settings, event.failure.kind, event.failure.status)) ||
    (event._tag === "Refused" && !moves(settings, event.kind, undefined)) ||
    (tooLong && last.target.contextWindow === undefined) ||
    history.filter((entry) => isHop(entry) && entry.event._tag === "Failed").length >= settings.maxDepth
  if (!stopped) {
    const chain = naiveChain(plan)
    const left = chain.slice(chain.findIndex((target) => target.name === last.target.name) + 1)
    const small = history.filter((one) => one.event._tag === "Failed" && one.event.failure.kind === "context_length")
    const next = left.find((target) =>
      small.every((one) => (target.contextWindow ?? 0) > (one.target.contextWindow ?? Number.POSITIVE_INFINITY))
    )
    if (next !== undefined) return `next ${next.name}`
  }

  if (refusedByAll) {
    const waits = errors.map(({ event, target }) => {
      assert(event._tag === "Refused")
      return { target, ms: event.retryAfter ?? (event.kind === "saturated" ? 0 : undefined), kind: event.kind }
    })
    const sorted = waits.filter((one) => one.ms !== undefined).sort((a, b) => (a.ms ?? 0) - (b.ms ?? 0))
    const resort = sorted.find((one) => one.kind === "circuit_open")
    if (settings.lastResort === "soonest" && !resorted && resort !== undefined) return `resort ${resort.target.name}`
    const limits = errors.every(
      ({ event }) => event._tag === "Refused" && ["rate_limit", "quota_exhausted"].includes(event.openedBy ?? "")
    )
    return `refused ${limits ? 429 : 503} ${sorted[0]?.ms}`
  }
  if (settings.surface === "exhausted" && errors.length > 1) return `all: ${errors.map(error).join()}`
  return error(settings.surface === "primary" ? primary : errors.at(-1))
}

/** The machine's step, in the same words. */
const told = (walk: Walk.Step): string => {
  if (walk._tag === "Next") return `${walk.lastResort ? "resort" : "next"} ${walk.target.name}`
  const { answer, attempts } = walk
  const error = (index: number) => `error of ${attempts[index]?.target.name}: ${JSON.stringify(attempts[index]?.event)}`
  switch (answer._tag) {
    case "Served":
      return `served by ${answer.target.name}${answer.substituted ? " as substitute" : ""}`
    case "Failed":
      return error(answer.index)
    case "Exhausted":
      return `all: ${answer.indices.map(error).join()}`
    case "Refused":
      return `refused ${answer.status} ${answer.retryAfter}`
    case "Broken":
      return `broken ${attempts[answer.index]?.target.name}`
    case "NotAllowed":
      return "primary Denied"
    case "UnknownModel":
      return "primary Unknown"
    case "Ineligible":
      return "primary Ineligible"
    case "PolicyUnavailable":
      return "policy unavailable"
    case "Cancelled":
      return "nothing"
  }
}

const alphabet: ReadonlyArray<Walk.Event> = [
  Walk.served,
  Walk.failed({ kind: "server_error", status: 502 }),
  Walk.failed({ kind: "timeout" }),
  Walk.failed({ kind: "timeout", status: 408 }),
  Walk.failed({ kind: "client_fault", status: 404 }),
  Walk.failed({ kind: "context_length", status: 400 }),
  Walk.failed({ kind: "server_error", status: 500 }, true),
  Walk.refused("circuit_open", { retryAfter: 5_000, openedBy: "rate_limit" }),
  Walk.refused("circuit_open", { retryAfter: 3_000, openedBy: "timeout" }),
  Walk.refused("circuit_open", { openedBy: "quota_exhausted" }),
  Walk.refused("saturated"),
  Walk.denied,
  Walk.unknown,
  Walk.policyError,
  Walk.ineligible("images"),
  Walk.overBudget,
  Walk.cancelled
]

const allSettings: ReadonlyArray<Fallback.Settings> = [
  { on: ["circuit_open", "server_error", "timeout", "context_length"], never: [] },
  { on: ["circuit_open", "5xx", "timeout"], never: ["4xx"] },
  { on: ["timeout", 404], never: ["saturated", 502] }
].flatMap((triggers) =>
  ([1, 2, 3] as const).flatMap((maxDepth) =>
    (["attempts", "listed"] as const).flatMap((depthCounts) =>
      (["primary", "last", "exhausted"] as const).flatMap((surface) =>
        (["none", "soonest"] as const).map((lastResort) =>
          Fallback.make({ ...triggers, maxDepth, depthCounts, surface, lastResort, preferHealthyState: false })
        )
      )
    )
  )
)

const primary: Walk.Target = { name: "p", contextWindow: 8_000 }
const entries: ReadonlyArray<Walk.Target> = [
  { name: "a", contextWindow: 8_000 },
  { name: "b", contextWindow: 32_000 },
  { name: "c" },
  { name: " b " },
  { name: "" },
  { name: "p", contextWindow: 64_000 }
]
const chains = (length: number): ReadonlyArray<ReadonlyArray<Walk.Target>> =>
  length === 0 ? [[]] : chains(length - 1).flatMap((chain) => [chain, ...entries.map((entry) => [...chain, entry])])

it("F2, F3: every chain of up to 3 entries is cleaned and cut as the rules say", () => {
  for (const settings of allSettings) {
    for (const chain of chains(3)) {
      for (const byo of [false, true]) {
        const plan = { primary, chain, settings, byo }
        const names = Walk.start(plan).rest.map((target) => target.name)
        assert.strictEqual(
          names.join(),
          naiveChain(plan)
            .map((target) => target.name)
            .join()
        )
      }
    }
  }
})

it("F: every history of every plan of up to 3 hops is what a naive reading of the rules says", () => {
  const [a, b, c] = entries as [Walk.Target, Walk.Target, Walk.Target]
  let histories = 0
  const visit = (plan: Walk.Plan, walk: Walk.Next, history: ReadonlyArray<Entry>): void => {
    for (const event of alphabet) {
      const after = Walk.step(walk, event)
      histories++
      if (event._tag === "OverBudget" && !walk.hop) {
        assert.strictEqual(after, walk)
        continue
      }
      const longer = [...history, { target: walk.target, event }]
      const expected = naive(plan, longer)
      if (told(after) !== expected) assert.strictEqual(told(after), expected, JSON.stringify({ plan, longer }))
      if (after._tag === "Next") visit(plan, after, longer)
      else for (const late of alphabet) if (Walk.step(after, late) !== after) assert.fail("a walk that is over moved")
    }
  }
  for (const settings of allSettings) {
    for (const chain of [[], [a], [b], [c], [a, b], [b, a], [c, b], [b, c, a]]) {
      const plan = { primary, chain, settings }
      visit(plan, Walk.start(plan), [])
    }
  }
  console.log(`walk: ${histories} histories`)
  assert(histories > 1_000_000)
}, 180_000)
