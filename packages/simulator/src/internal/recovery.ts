import type { Transition } from "../RunReport.js"
import type { Interval } from "./sickness.js"

const admits = (state: Transition["to"]): boolean =>
  state === "Closed" || state === "Degraded" || state === "ForcedClosed"

/** `undefined` of nothing. */
export const meanOf = (values: ReadonlyArray<number>): number | undefined =>
  values.length === 0 ? undefined : values.reduce((sum, value) => sum + value, 0) / values.length

/** Openings of a breaker that admitted everything. */
const trips = (transitions: ReadonlyArray<Transition>) =>
  transitions.filter(({ from, to }) => admits(from) && to === "Open")

/** From each sickness's beginning to the first opening within it. */
export const timeToOpen = (
  transitions: ReadonlyArray<Transition>,
  spells: ReadonlyArray<Interval>
): ReadonlyArray<number> =>
  spells.flatMap(({ from, to }) => {
    const first = trips(transitions).find(({ at }) => at >= from && at < to)
    return first === undefined ? [] : [first.at - from]
  })

/**
 * From each sickness's end, if a breaker was open then, to the moment none was. One that is still open when the next
 * sickness begins, or the run ends, counts until there: no less than that it took.
 */
export const timeToRecover = (
  transitions: ReadonlyArray<Transition>,
  spells: ReadonlyArray<Interval>,
  duration: number
): ReadonlyArray<number> =>
  spells.flatMap(({ to: end }, index) => {
    const until = spells[index + 1]?.from ?? duration
    const shut = new Set<string>()
    for (const { at, breaker, replica, to } of transitions) {
      if (at >= end && shut.size === 0) break
      if (at >= until) break
      const key = `${replica} ${breaker}`
      if (admits(to)) shut.delete(key)
      else shut.add(key)
      if (at >= end && shut.size === 0) return [at - end]
    }
    return shut.size === 0 ? [] : [until - end]
  })

/** Openings outside of every sickness; one of a breaker that replicas share is one. */
export const falseTrips = (transitions: ReadonlyArray<Transition>, spells: ReadonlyArray<Interval>): number =>
  new Set(
    trips(transitions)
      .filter(({ at }) => !spells.some(({ from, to }) => at >= from && at < to))
      .map(({ at, breaker }) => `${at} ${breaker}`)
  ).size
