import { type Chance, purpose } from "./random.js"
import type { Arrivals } from "./scenarioSchema.js"

/** A call that begins; `at` in whole ms from the beginning of the run. */
export interface Arrival {
  readonly at: number
  /** As recorded; absent: as the traffic has it. */
  readonly model?: string | undefined
}

/** The calls of a run, in order, made one at a time. */
export const arrivals = (given: Arrivals, duration: number, chance: Chance): Iterator<Arrival, undefined> => {
  switch (given.kind) {
    case "constant":
      return constant(given.rate, duration)
    case "poisson":
      return poisson(given.rate, duration, chance)
    case "bursts":
      return merged(poisson(given.rate, duration, chance), bursts(given, duration, chance))
    case "log":
      return recorded("calls" in given ? given.calls : [], duration)
  }
}

function* constant(rate: number, duration: number): Generator<Arrival, undefined> {
  for (let k = 0; ; k++) {
    const at = Math.floor((k * 1_000) / rate)
    if (at >= duration) return undefined
    yield { at }
  }
}

function* poisson(rate: number, duration: number, chance: Chance): Generator<Arrival, undefined> {
  let time = 0
  for (let k = 0; ; k++) {
    time += (-Math.log(1 - chance(purpose.arrival, k)) * 1_000) / rate
    if (time >= duration) return undefined
    yield { at: Math.floor(time) }
  }
}

function* bursts(
  { every, size, within }: { readonly every: number; readonly size: number; readonly within: number },
  duration: number,
  chance: Chance
): Generator<Arrival, undefined> {
  for (let burst = 1; burst * every < duration; burst++) {
    const offsets = Array.from({ length: size }, (_, k) => Math.floor(chance(purpose.place, burst * size + k) * within))
    for (const offset of offsets.sort((a, b) => a - b)) {
      const at = burst * every + offset
      if (at < duration) yield { at }
    }
  }
  return undefined
}

function* recorded(
  calls: ReadonlyArray<number | { readonly at: number; readonly model?: string | undefined }>,
  duration: number
): Generator<Arrival, undefined> {
  const inOrder = calls.map((call) => (typeof call === "number" ? { at: call } : call)).sort((a, b) => a.at - b.at)
  for (const call of inOrder) if (call.at < duration) yield call
  return undefined
}

function* merged(
  one: Iterator<Arrival, undefined>,
  other: Iterator<Arrival, undefined>
): Generator<Arrival, undefined> {
  let a = one.next()
  let b = other.next()
  while (a.done !== true || b.done !== true) {
    if (b.done === true || (a.done !== true && a.value.at <= b.value.at)) {
      if (a.done !== true) yield a.value
      a = one.next()
    } else {
      yield b.value
      b = other.next()
    }
  }
  return undefined
}
