import type { Fault } from "@switchgear/core/Fallback"
import * as Fallback from "@switchgear/core/Fallback"
import * as Either from "effect/Either"
import { type Handler, type Plan, priorities, type Stage, make as stage } from "../Stage.js"
import { walk } from "./journey.js"

/** The stages in the order they run, or why they have none. */
export const ordered = (
  stages: ReadonlyArray<Stage>,
  order: "priority" | "listed"
): Either.Either<ReadonlyArray<Stage>, ReadonlyArray<Fault>> => {
  const faults: Array<Fault> = []
  const names = new Set<string>()
  const byPriority = new Map<number, string>()
  for (const { name, priority } of stages) {
    if (names.has(name)) faults.push({ path: `stages.${name}`, message: "stands twice in the list: leave one out" })
    names.add(name)
    if (order === "listed") continue
    if (!Number.isFinite(priority)) {
      faults.push({ path: `stages.${name}.priority`, message: `must be a number, got ${priority}` })
    }
    const other = byPriority.get(priority)
    if (other !== undefined && other !== name) {
      const message = `is ${priority}, which is that of "${other}" too: give one of them another`
      faults.push({ path: `stages.${name}.priority`, message })
    }
    byPriority.set(priority, name)
  }
  if (faults.length > 0) return Either.left(faults)
  return Either.right(order === "listed" ? stages : [...stages].sort((a, b) => b.priority - a.priority))
}

/** Without Fallback the call goes to the requested model or nowhere: the same walk, with no chain. */
export const alone = stage("alone", priorities.fallback, (next, { routes }) => {
  const walked = walk({ routes, settings: Fallback.recommended, health: undefined, next })
  return (call) => walked(call.with({ fallback: false }))
})

export const withWalk = (stages: ReadonlyArray<Stage>, order: "priority" | "listed"): ReadonlyArray<Stage> => {
  if (stages.some(({ name }) => name === "fallback")) return stages
  const inner = stages.findIndex(({ name, priority }) =>
    order === "listed" ? name === "usage" || name === "breaker" : priority < priorities.fallback
  )
  return inner === -1 ? [...stages, alone] : [...stages.slice(0, inner), alone, ...stages.slice(inner)]
}

export const composed = (plan: Plan, stages: ReadonlyArray<Stage>, innermost: Handler): Handler =>
  stages.reduceRight((next, { wrap }) => wrap(next, plan), innermost)
