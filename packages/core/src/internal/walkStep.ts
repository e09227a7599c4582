import { movesOn } from "../Fallback.js"
import { allRefused, errored, failedAnswer, primaryAnswer, soonest } from "./walkAnswer.js"
import type { Answer, Attempt, Done, Event, Failure, Settings, Step, Target } from "./walkModel.js"

export const takeStep = (walk: Step, event: Event): Step => {
  if (walk._tag === "Done" || (event._tag === "OverBudget" && !walk.hop)) return walk
  const { hop, lastResort, rest, settings, target } = walk
  const attempts = [...walk.attempts, { target, hop, lastResort, event }]
  const first = attempts.length === 1
  switch (event._tag) {
    case "Served":
      return done({ _tag: "Served", target, substituted: hop }, attempts)
    case "Cancelled":
      return done({ _tag: "Cancelled" }, attempts)
    case "Failed":
      if (event.outputSent) {
        return done({ _tag: "Broken", index: attempts.length - 1, failure: event.failure }, attempts)
      }
      return goesOn(settings, target, event.failure) ? advance(settings, rest, attempts) : fail(settings, attempts)
    case "Refused":
      return movesOn(settings, event) ? advance(settings, rest, attempts) : fail(settings, attempts)
    case "Denied":
      return first ? done({ _tag: "NotAllowed" }, attempts) : advance(settings, rest, attempts)
    case "Unknown":
      return first ? done({ _tag: "UnknownModel" }, attempts) : advance(settings, rest, attempts)
    case "Ineligible":
      return first ? done({ _tag: "Ineligible", reason: event.reason }, attempts) : advance(settings, rest, attempts)
    case "PolicyError":
      // fail closed: neither another target nor a last resort
      return done(first ? { _tag: "PolicyUnavailable" } : primaryAnswer(errored(attempts)), attempts)
    case "OverBudget":
      return fail(settings, attempts)
  }
}

const done = (answer: Answer, attempts: ReadonlyArray<Attempt>): Done => ({ _tag: "Done", answer, attempts })

const goesOn = (settings: Settings, target: Target, failure: Failure): boolean =>
  movesOn(settings, failure) && (failure.kind !== "context_length" || target.contextWindow !== undefined)

/** The window a next target must exceed: the largest that was too small so far (ROUTING F4). */
const floorOf = (attempts: ReadonlyArray<Attempt>): number => {
  let floor = Number.NEGATIVE_INFINITY
  for (const { event, target } of attempts) {
    if (event._tag === "Failed" && event.failure.kind === "context_length" && target.contextWindow !== undefined) {
      floor = Math.max(floor, target.contextWindow)
    }
  }
  return floor
}

/** ROUTING F3 and F12: hops really called, so far. */
const called = (attempts: ReadonlyArray<Attempt>): number => {
  let count = 0
  for (const { event, hop } of attempts) if (hop && event._tag === "Failed") count++
  return count
}

const tooSmall: Event = { _tag: "Ineligible", reason: "context_window" }

const advance = (settings: Settings, rest: ReadonlyArray<Target>, attempts: ReadonlyArray<Attempt>): Step => {
  if (called(attempts) >= settings.maxDepth) return fail(settings, attempts)
  const floor = floorOf(attempts)
  const passed = [...attempts]
  for (const [index, target] of rest.entries()) {
    if (floor === Number.NEGATIVE_INFINITY || (target.contextWindow !== undefined && target.contextWindow > floor)) {
      return {
        _tag: "Next",
        target,
        hop: true,
        lastResort: false,
        rest: rest.slice(index + 1),
        settings,
        attempts: passed
      }
    }
    passed.push({ target, hop: true, lastResort: false, event: tooSmall })
  }
  return fail(settings, passed)
}

/** No target is left: the last resort, if all refused and it was not tried (ROUTING F10), else what to answer (F6). */
const fail = (settings: Settings, attempts: ReadonlyArray<Attempt>): Step => {
  const errors = errored(attempts)
  if (
    settings.lastResort === "soonest" &&
    allRefused(errors) !== undefined &&
    !attempts.some((one) => one.lastResort)
  ) {
    const found = soonest(errors)
    if (found !== undefined) {
      return { _tag: "Next", target: found.target, hop: found.hop, lastResort: true, rest: [], settings, attempts }
    }
  }
  return done(failedAnswer(errors, settings.surface), attempts)
}
